//! Names of hidden files that are written so that nobody reads them, and lists of their parts.

use super::*;

#[test]
fn a_hidden_name_is_known_however_it_is_turned() {
    let judge = confined();
    let stopped = [
        "cat $(echo crten./ved/emoh/ | rev)",
        "rev <<< crten./ved/emoh/ | xargs cat",
        "cat $(echo 2f686f6d652f6465762f2e6e65747263 | xxd -r -p)",
        "cat $(xxd -r -p <<< 2f686f6d652f6465762f2e6e65747263)",
        "cat \"$(openssl base64 -d <<< L2hvbWUvZGV2Ly5uZXRyYw==)\"",
        "x=L2hvbWUvZGV2Ly5uZXRyYw==; cat $(base64 -d <<< $x)",
        "cat $(echo /ubzr/qri/.argep | tr a-z n-za-m)",
        "cat $(echo /home/dev/_netrc | tr _ .)",
        "cat $(echo /home/dev/.ne-trc | tr -d -- - | cat)",
        "cat $(echo /home/dev/.nXetrc | tr -d X)",
        "printf '/home\\n/dev/.netrc' | tr -d '\\n' | xargs cat",
        "cat $(echo /home/dev/_netrc | sed s/_/./)",
        "cat $(echo /home/dev/XnetrcX | sed -e 's,X,.,;s,X,,')",
        "touch $(echo _srv_x | sed 's,_,/,g')",
        "python3 -c \"print(open(bytes.fromhex('2f686f6d652f6465762f2e6e65747263').decode()).read())\"",
        "python3 -c \"print(open('crten./ved/emoh/'[::-1]).read())\"",
        "python3 -c \"import base64; open(base64.b64decode('L2hvbWUvZGV2Ly5uZXRyYw=='))\"",
        "node -e \"fs.readFileSync(atob('L2hvbWUvZGV2Ly5uZXRyYw=='))\"",
        "node -e \"fs.readFileSync(['','home','dev','.netrc'].join('/'))\"",
        "perl -e 'open F,\"<\",pack(\"H*\",\"2f686f6d652f6465762f2e6e65747263\"); print <F>'",
        "perl -e 'open F,\"<\",scalar reverse \"crten./ved/emoh/\"; print <F>'",
        "ruby -e 'puts File.read(\"crten./ved/emoh/\".reverse)'",
        "php -r 'echo file_get_contents(strrev(\"crten./ved/emoh/\"));'",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "echo src/ | rev",
        "echo L2hvbWUvZGV2L25vdGVz | base64 -d",
        "cat $(echo a.py | tr a b)",
        "echo 'Lorem ipsum' | tr a-z A-Z",
        "x=$(echo Release | tr A-Z a-z); mkdir -p build/$x",
        "touch $(echo src/x | tr x y)",
        "touch $(echo src/x | sed 's/x/y/')",
        "mkdir -p $(echo a.b | sed 's/b/c/g')",
        "python3 -c \"print('src/'[::-1])\"",
        "node -e \"fs.writeFileSync(['src','x'].join('/'), '')\"",
        "echo 2f6166 | xxd -r -p",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn an_array_is_its_elements() {
    let judge = confined();
    let stopped = [
        "a=(/home/dev .ssh id_rsa); cat \"${a[0]}/${a[1]}/${a[2]}\"",
        "a=(); a+=(/home/dev); a+=(/.ssh/id_rsa); cat ${a[0]}${a[1]}",
        "a=(/home/dev); cat $a/.ssh/id_rsa",
        "a=(-rf /srv); rm \"${a[@]}\"",
        "a=(touch /srv/x); \"${a[@]}\"",
        "a=(a /srv/x); for f in \"${a[@]}\"; do touch \"$f\"; done",
        "a=(/srv); touch ${a[0]}/x",
        "a=(src); a[0]=/srv; touch \"${a[0]}/x\"",
        "a=(src); read -ra a; touch \"${a[0]}/x\"",
        "a=(src); a=/srv; touch \"$a/x\"",
        "a=(src $x); touch \"${a[1]}/x\"",
        "a=($x src); touch \"${a[1]}/x\"",
        "a=(*); touch \"${a[0]}\"",
        "a=([1]=src); touch \"${a[0]}/x\"",
        "a=([0]=/home/dev [1]=.ssh); cat \"${a[0]}/${a[1]}/id_rsa\"",
        "a[0]=/home/dev; a[1]=.ssh; cat \"${a[0]}/${a[1]}/id_rsa\"",
        "a=(/home/dev .ssh); i=1; cat \"${a[0]}/${a[i]}/id_rsa\"",
        "a=(/home/dev .ssh); i=1; cat \"${a[0]}/${a[$i]}/id_rsa\"",
        "a=(/home /dev /.ssh/id_rsa); p=; for x in \"${a[@]}\"; do p+=$x; done; cat $p",
        "a=(src doc); a[1]=/srv; touch \"${a[1]}/x\"",
        "a=(src); a[i]=/srv; touch \"${a[0]}/x\"",
        "zsh -c 'a=(src /srv); touch \"${a[2]}/x\"'",
        "if test -d x; then a=(src); else a=(/srv); fi; touch \"${a[0]}/x\"",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "a=(src/x src/y); touch \"${a[@]}\"",
        "a=(src doc); for d in \"${a[@]}\"; do mkdir -p \"$d/out\"; done",
        "a=(src doc); touch \"${a[1]}/x\"",
        "a=(-n 5); head \"${a[@]}\" README.md",
        "a=(cargo test); \"${a[@]}\"",
        "a=(one two); echo \"${#a[@]}\"",
        "a=(); a+=(src); ls \"${a[@]}\"",
        "a[0]=src; a[1]=doc; touch \"${a[1]}/x\"",
        "a=(src doc); i=1; touch \"${a[i]}/x\"",
    ];
    assert_allowed(&judge, &allowed);
}

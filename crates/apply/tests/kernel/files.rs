//! What can be read, written and seen.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;

use palisade_apply::End;
use palisade_plan::{Layer, Strength};
use palisade_testkit::{Fact, Need, Project, need};
use tempfile::TempDir;

use crate::{Place, all, as_both, out, outside, pattern};

#[test]
fn a047_readonly_lets_nothing_be_written_but_the_private_temp_folder() {
    as_both("files::a047_readonly_lets_nothing_be_written_but_the_private_temp_folder", || {
        let mut place = Place::new();
        place.order.write.clear();
        let outcome = place
            .sh("cat inside; echo x > inside; echo x > new; echo x > /etc/x; rm -f inside; \
             touch /usr/x \"$HOME/x\" /var/x; echo y > /tmp/y && cat /tmp/y; cat inside");
        assert_eq!(out(&outcome), "inside\ny\ninside\n", "{}", all(&outcome));
        assert!(!place.project.path("new").exists());
        assert_eq!(fs::read(place.project.path("inside")).unwrap(), b"inside\n");
        assert_eq!(all(&outcome).matches("Read-only file system").count(), 7, "{}", all(&outcome));
    });
}

#[test]
fn a048_writes_in_the_workspace_work_and_outside_fail() {
    as_both("files::a048_writes_in_the_workspace_work_and_outside_fail", || {
        let place = Place::new();
        let (_kept, outside) = outside();
        let outcome = place.sh(&format!(
            "echo new > made && mkdir -p deep/er && mv made deep/er/ && cat deep/er/made; \
             echo x > /etc/x; echo x > /usr/x; echo x > {0}/x; ls {0}",
            outside.display()
        ));
        assert!(out(&outcome).starts_with("new\n"), "{}", all(&outcome));
        assert_eq!(fs::read(place.project.path("deep/er/made")).unwrap(), b"new\n");
        assert!(!outside.join("x").exists());
        assert_eq!(all(&outcome).matches("Read-only file system").count(), 2, "{}", all(&outcome));
    });
}

#[test]
fn what_is_made_inside_belongs_to_the_caller_outside() {
    use std::os::unix::fs::MetadataExt as _;
    as_both("files::what_is_made_inside_belongs_to_the_caller_outside", || {
        let place = Place::new();
        let outcome = place.sh("echo x > made; mkdir folder; chmod 700 folder; stat -c %u made");
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(out(&outcome), format!("{own}\n"), "{}", all(&outcome));
        for name in ["made", "folder"] {
            assert_eq!(fs::metadata(place.project.path(name)).unwrap().uid(), own, "{name}");
        }
    });
}

#[test]
fn a_workspace_of_another_user_is_writable_for_root_and_stays_theirs() {
    use std::os::unix::fs::MetadataExt as _;
    if need(Fact::Root) == Need::Skip {
        return;
    }
    let place = Place::with(Project::new().file("a", "a").owner("", 1234).owner("a", 1234));
    let outcome = place.sh("echo b >> a; echo c > c; cat /etc/shadow");
    assert_eq!(fs::read(place.project.path("a")).unwrap(), b"ab\n", "{}", all(&outcome));
    assert_eq!(fs::metadata(place.project.path("c")).unwrap().uid(), 1234);
    assert!(all(&outcome).contains("/etc/shadow: Permission denied"), "{}", all(&outcome));
}

#[test]
fn a103_a_hidden_path_does_not_exist_for_anybody_by_any_name() {
    as_both("files::a103_a_hidden_path_does_not_exist_for_anybody_by_any_name", || {
        let place = Place::with(Project::new().symlink("link", "placeholder"));
        let home = place.home.root().display();
        fs::remove_file(place.project.path("link")).unwrap();
        std::os::unix::fs::symlink(place.home.path(".ssh"), place.project.path("link")).unwrap();
        let outcome = place.sh(&format!(
            "ls -a {home} | tr '\\n' ' '; echo; cat {home}/notes {home}/.config/other; \
             for p in {home}/.ssh {home}/.ssh/id link/id {home}/.config/gh/token \
                 /proc/self/root{home}/.ssh/id {home}/../*/.ssh/id; do \
                 cat $p; done; echo x > {home}/.ssh/new; (sh -c 'cat ~/.ssh/id')"
        ));
        assert_eq!(out(&outcome), ". .. .config notes \nplain\nplain\n", "{}", all(&outcome));
        assert!(!all(&outcome).contains("secret"));
        assert_eq!(
            all(&outcome).matches("No such file or directory").count()
                + all(&outcome).matches("nonexistent").count(),
            8,
            "{}",
            all(&outcome)
        );
        let hide = outcome.enforced.iter().find(|one| one.layer == Layer::Hide).unwrap();
        assert_eq!(hide.strength, Strength::Kernel);
    });
}

#[test]
fn a104_a_hidden_file_is_gone_as_well_as_a_hidden_folder() {
    as_both("files::a104_a_hidden_file_is_gone_as_well_as_a_hidden_folder", || {
        let mut place = Place::new();
        fs::write(place.home.path(".netrc"), "secret").unwrap();
        place.order.hide.push(pattern(place.home.root(), ".netrc"));
        let outcome = place.sh("ls -a ~; cat ~/.netrc ~/.config/gh/token; cat ~/notes");
        assert!(!all(&outcome).contains("secret"), "{}", all(&outcome));
        assert!(!out(&outcome).contains(".netrc"), "{}", all(&outcome));
        assert!(out(&outcome).ends_with("plain\n"), "{}", all(&outcome));
    });
}

#[test]
fn what_stays_readable_in_a_hidden_folder_is_all_that_is_there() {
    as_both("files::what_stays_readable_in_a_hidden_folder_is_all_that_is_there", || {
        let mut place = Place::new();
        fs::write(place.home.path(".ssh/known_hosts"), "hosts\n").unwrap();
        place.order.readable.push(pattern(place.home.root(), ".ssh/known_hosts"));
        let outcome = place.sh("ls -A ~/.ssh; cat ~/.ssh/known_hosts ~/.ssh/id; echo x > ~/.ssh/x");
        assert_eq!(out(&outcome), "known_hosts\nhosts\n", "{}", all(&outcome));
        assert!(!place.home.path(".ssh/x").exists());
    });
}

#[test]
fn a_home_behind_a_link_hides_the_same_and_a_hidden_tree_is_not_writable() {
    as_both("files::a_home_behind_a_link_hides_the_same_and_a_hidden_tree_is_not_writable", || {
        let (mut place, links) = (Place::new(), Project::new());
        let link = links.path("home");
        std::os::unix::fs::symlink(place.home.root(), &link).unwrap();
        place.order.home = Some(link.clone());
        place.order.hide = vec![pattern(&link, ".ssh")];
        place.order.write.push(place.home.path(".ssh"));
        let outcome = place.sh("ls -A ~; cat ~/.ssh/id; echo x > ~/.ssh/x; echo fine > made");
        assert_eq!(out(&outcome), ".config\nnotes\n", "{}", all(&outcome));
        assert!(!place.home.path(".ssh/x").exists());
        assert!(place.project.path("made").exists());
        assert!(outcome.notes.iter().any(|note| note.code == "write-hidden"));
    });
}

#[test]
fn a_hidden_path_in_a_writable_tree_is_masked_and_said_to_be() {
    as_both("files::a_hidden_path_in_a_writable_tree_is_masked_and_said_to_be", || {
        let mut place = Place::with(Project::new().file("keys/a", "secret").file(".env", "secret"));
        place.order.hide.push(pattern(place.project.root(), "keys"));
        place.order.hide.push(pattern(place.project.root(), ".env"));
        let outcome = place
            .sh("ls keys; cat keys/a .env; echo x > keys/b; echo x > .env; rm .env; mv keys k; \
             chmod 777 keys; true");
        assert!(!all(&outcome).contains("secret"), "{}", all(&outcome));
        let text = all(&outcome);
        assert!(text.contains("Permission denied") && text.contains("busy"), "{text}");
        assert_eq!(fs::read(place.project.path(".env")).unwrap(), b"secret");
        assert!(place.project.path("keys/a").exists() && !place.project.path("keys/b").exists());
        assert_eq!(outcome.notes.iter().filter(|note| note.code == "masked").count(), 2);
    });
}

#[test]
fn a177_a_root_that_is_read_only_may_hold_a_folder_that_is_not() {
    as_both("files::a177_a_root_that_is_read_only_may_hold_a_folder_that_is_not", || {
        let mut place = Place::with(Project::new().file("source", "source").dir("scratch"));
        place.order.write = vec![place.project.path("scratch")];
        let outcome = place.sh("cat source; echo kept > scratch/a; echo x > source; mv scratch s");
        assert_eq!(out(&outcome), "source", "{}", all(&outcome));
        assert_eq!(fs::read(place.project.path("scratch/a")).unwrap(), b"kept\n");
        assert_eq!(fs::read(place.project.path("source")).unwrap(), b"source");
    });
}

#[test]
fn a068_the_policy_of_a_project_cannot_be_changed_from_inside() {
    as_both("files::a068_the_policy_of_a_project_cannot_be_changed_from_inside", || {
        let mut place = Place::with(Project::new().file(".palisade/policy.yaml", "version: 1\n"));
        place.order.protect.push(pattern(place.project.root(), "**/.palisade"));
        let outcome = place.sh(
            "cat .palisade/policy.yaml; echo evil >> .palisade/policy.yaml; rm -rf .palisade; \
             mv .palisade p; echo x > .palisade/other; echo fine > beside",
        );
        assert_eq!(out(&outcome), "version: 1\n", "{}", all(&outcome));
        assert_eq!(fs::read(place.project.path(".palisade/policy.yaml")).unwrap(), b"version: 1\n");
        assert!(!place.project.path(".palisade/other").exists());
        assert!(place.project.path("beside").exists());
    });
}

fn repository() -> Project {
    Project::new()
        .file(".git/hooks/pre-commit", "#!/bin/sh\n")
        .file(".git/config", "[core]\n")
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .dir(".git/refs/heads")
        .dir(".git/objects")
}

#[test]
fn e032_hooks_and_config_of_git_stay_while_the_rest_of_it_can_be_written() {
    as_both("files::e032_hooks_and_config_of_git_stay_while_the_rest_of_it_can_be_written", || {
        let place = Place::with(repository());
        let outcome =
            place.sh("echo x > .git/objects/x && echo y > .git/refs/heads/main && echo ok; \
             echo evil > .git/hooks/pre-commit; echo evil > .git/hooks/post-commit; \
             echo evil >> .git/config; rm .git/config; chmod 755 .git/config; \
             truncate -s 0 .git/config; true");
        assert_eq!(out(&outcome), "ok\n", "{}", all(&outcome));
        assert_eq!(fs::read(place.project.path(".git/config")).unwrap(), b"[core]\n");
        assert_eq!(fs::read_dir(place.project.path(".git/hooks")).unwrap().count(), 1);
        assert!(place.project.path(".git/objects/x").exists());
        assert_eq!(all(&outcome).matches("Read-only file system").count(), 5, "{}", all(&outcome));
    });
}

#[test]
fn e033_neither_a_parent_nor_the_protected_thing_can_be_renamed_linked_or_exchanged() {
    let name =
        "files::e033_neither_a_parent_nor_the_protected_thing_can_be_renamed_linked_or_exchanged";
    as_both(name, || {
        let place = Place::with(repository().file("other", "evil").file(".git/other", "evil"));
        let outcome = place.python(
            "import os, ctypes\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             def tried(what, f):\n\
             \x20   try: f(); print(what, 'done')\n\
             \x20   except OSError as e: print(what, e.errno)\n\
             def exchange(a, b):\n\
             \x20   if c.renameat2(-100, a, -100, b, 2): raise OSError(ctypes.get_errno(), '')\n\
             tried('parent', lambda: os.rename('.git', 'g'))\n\
             tried('replace', lambda: os.rename('.git/other', '.git/config'))\n\
             tried('away', lambda: os.rename('.git/hooks', '.git/h'))\n\
             tried('link', lambda: os.link('.git/config', '.git/l'))\n\
             tried('exchange', lambda: exchange(b'.git/other', b'.git/config'))\n\
             tried('exchange parent', lambda: exchange(b'other', b'.git'))\n\
             tried('unlink', lambda: os.unlink('.git/config'))\n\
             tried('plain', lambda: os.rename('other', 'moved'))\n",
        );
        assert_eq!(
            out(&outcome),
            "parent 16\nreplace 16\naway 16\nlink 18\nexchange 16\nexchange parent 16\n\
             unlink 16\nplain done\n",
            "{}",
            all(&outcome)
        );
        assert_eq!(fs::read(place.project.path(".git/config")).unwrap(), b"[core]\n");
    });
}

#[test]
fn a_protected_link_and_what_it_leads_to_stay() {
    as_both("files::a_protected_link_and_what_it_leads_to_stay", || {
        let project = Project::new().file("real/pre-commit", "#!/bin/sh\n").dir(".git");
        let place = Place::with(project.symlink(".git/hooks", "../real"));
        let outcome = place.sh(
            "rm .git/hooks; mv .git/hooks h; echo x > .git/hooks/x; echo x > real/x; mv real r; \
             ls .git/hooks; echo fine > plain",
        );
        assert_eq!(out(&outcome), "pre-commit\n", "{}", all(&outcome));
        assert!(place.project.path(".git/hooks").is_symlink());
        assert!(!place.project.path("real/x").exists());
        assert!(place.project.path("plain").exists());
    });
}

#[test]
fn e036_other_spellings_of_a_path_lead_to_the_same_wall() {
    as_both("files::e036_other_spellings_of_a_path_lead_to_the_same_wall", || {
        let place = Place::with(repository());
        let home = place.home.root().display();
        let outcome = place.sh(&format!(
            "for p in .git//config ./.git/../.git/config /proc/self/cwd/.git/config \
                 \"/proc/self/root$PWD/.git/config\" \"/proc/1/root$PWD/.git/config\" \
                 /proc/self/cwd/.git/config/; do echo evil > $p; done; \
             for p in {home}//.ssh/id {home}/x/../.ssh/id /proc/self/root{home}/.ssh/id \
                 /proc/1/root{home}/.ssh/id; do cat $p; done; \
             echo fine > /proc/self/cwd/plain; echo out > /dev/fd/1"
        ));
        assert_eq!(out(&outcome), "out\n", "{}", all(&outcome));
        assert!(!all(&outcome).contains("secret"));
        assert_eq!(fs::read(place.project.path(".git/config")).unwrap(), b"[core]\n");
        assert_eq!(fs::read(place.project.path("plain")).unwrap(), b"fine\n");
    });
}

#[test]
fn e051_sockets_of_the_host_cannot_be_reached() {
    as_both("files::e051_sockets_of_the_host_cannot_be_reached", || {
        let place = Place::new();
        let (_kept, outside) = outside();
        let paths =
            [place.home.path("agent"), place.project.path("daemon"), outside.join("docker.sock")];
        let _listening: Vec<_> =
            paths.iter().map(|path| UnixListener::bind(path).unwrap()).collect();
        let list: Vec<_> =
            paths.iter().map(|path| format!("{:?}", path.display().to_string())).collect();
        let outcome = place.python(&format!(
            "import socket, os\n\
             for p in [{}]:\n\
             \x20   s = socket.socket(socket.AF_UNIX)\n\
             \x20   try: s.connect(p); print('reached', p)\n\
             \x20   except OSError as e: print('no')\n\
             s = socket.socket(socket.AF_UNIX); s.bind('/tmp/own'); s.listen()\n\
             socket.socket(socket.AF_UNIX).connect('/tmp/own'); print('own')\n",
            list.join(",")
        ));
        assert_eq!(out(&outcome), "no\nno\nno\nown\n", "{}", all(&outcome));
    });
}

#[test]
fn e051_sockets_that_lie_where_nothing_is_replaced_are_covered() {
    // In a folder that is as it is outside; only root can make one.
    let shared = Path::new("/var/lib/palisade-test-doors");
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        fs::create_dir_all(shared).unwrap();
        fs::set_permissions(shared, Permissions::from_mode(0o777)).unwrap();
    } else if !shared.exists() && need(Fact::Root) == Need::Skip {
        return;
    }
    as_both("files::e051_sockets_that_lie_where_nothing_is_replaced_are_covered", || {
        let place = Place::new();
        let folder = TempDir::new_in(shared).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let [door, letters, plain] =
            ["door", "letters", "plain"].map(|name| folder.path().join(name));
        let _listening = UnixListener::bind(&door).unwrap();
        let packets = UnixDatagram::bind(&letters).unwrap();
        packets.set_nonblocking(true).unwrap();
        for anybodys in [&door, &letters] {
            fs::set_permissions(anybodys, Permissions::from_mode(0o777)).unwrap();
        }
        fs::write(&plain, "plain").unwrap();
        let outcome = place.python(&format!(
            "import socket, os\n\
             def tried(name, does):\n\
             \x20   try: does(); print('reached', name)\n\
             \x20   except OSError as e: print('no')\n\
             tried('stream', lambda: socket.socket(socket.AF_UNIX).connect({door:?}))\n\
             s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n\
             tried('to', lambda: s.sendto(b'x', {letters:?}))\n\
             tried('message', lambda: s.sendmsg([b'x'], [], 0, {letters:?}))\n\
             print(open({plain:?}).read())\n",
        ));
        assert_eq!(out(&outcome), "no\nno\nno\nplain\n", "{}", all(&outcome));
        assert!(packets.recv(&mut [0; 8]).is_err(), "nothing arrived");
        assert!(door.exists() && letters.exists(), "outside they are as they were");
    });
    if is_root {
        fs::remove_dir(shared).ok();
    }
}

#[test]
fn devices_are_the_harmless_ones_and_terminals_are_private() {
    as_both("files::devices_are_the_harmless_ones_and_terminals_are_private", || {
        let place = Place::new();
        let outcome =
            place.sh("ls /dev | tr '\\n' ' '; echo; ls /dev/pts; head -c 3 /dev/zero | wc -c; \
             echo x > /dev/null && head -c 2 /dev/urandom | wc -c; echo x > /dev/full; \
             echo y > /dev/shm/y && cat /dev/shm/y; ls /run; \
             mknod /tmp/vda b 254 0; cat /tmp/vda");
        let expected = "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero \n\
            ptmx\n3\n2\ny\n";
        assert_eq!(out(&outcome), expected, "{}", all(&outcome));
        let text = all(&outcome);
        assert!(text.contains("I/O error") && text.contains("Operation not permitted"), "{text}");
    });
}

#[test]
fn nothing_is_left_behind_and_tmp_is_private() {
    as_both("files::nothing_is_left_behind_and_tmp_is_private", || {
        let place = Place::with(repository());
        let name = format!("palisade-private-{}", std::process::id());
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let outcome = place.sh(&format!("echo x > /tmp/{name}; ls /tmp | wc -l; ls /var/tmp"));
        assert_eq!(outcome.end, End::Exited(0), "{}", all(&outcome));
        assert!(!Path::new("/tmp").join(name).exists());
        assert_eq!(fs::read_to_string("/proc/self/mountinfo").unwrap(), mounts);
        let left: Vec<_> = fs::read_dir(place.project.root()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    });
}

//! What an outcome of `palisade run` tells beside the command's own words.

use serde_json::{Value as Json, json};

use crate::kit::as_both;
use crate::schema::assert_fits;

#[test]
fn refused_writes_are_told_with_rule_and_remedy_on_demand() {
    as_both(|world| {
        world.write("try.sh", "touch /etc/palisade-x; echo fine > made\n");
        let run = ["run", "--json", "--trace-writes", "--", "sh", "try.sh"];
        let told = world.json(&run);
        assert_fits(&told, "outcome.json");
        let first = &told["violations"][0];
        let expected = json!({
            "predicted": true,
            "operation": "open",
            "path": "/etc/palisade-x",
            "rule": "files.write",
            "remedy": "write below the project, or add `/etc` to files.write",
            "times": 1,
        });
        assert_eq!(*first, expected, "{told}");
        let told = world.json(&["run", "--json", "--", "sh", "try.sh"]);
        assert_eq!(told["violations"], "unavailable");
    });
}

#[test]
fn what_was_touched_and_left_and_met_is_told() {
    as_both(|world| {
        world.write("try.sh", "echo x > .envrc; echo x > /tmp/left; head -c 200000 /dev/zero\n");
        let told = world.json(&["run", "--json", "--", "sh", "try.sh"]);
        assert_fits(&told, "outcome.json");
        let why = told["touched"][0]["why"].clone();
        assert_eq!(why, "shell start-up", "{}", told["touched"]);
        assert_eq!(told["left_in_tmp"], json!(["/tmp/left"]));
        assert_eq!(told["limits_reached"], json!(["output"]));
        assert_eq!((&told["limit"], &told["survivors"]), (&Json::Null, &json!("none")));
        let late = world.json(&["run", "--json", "--timeout", "1s", "--", "sleep", "100"]);
        assert_fits(&late, "outcome.json");
        assert_eq!(late["limit"], "timeout", "{late}");
        let denied = world.json(&["run", "--json", "--", "rm", "-rf", "/etc"]);
        assert_fits(&denied, "outcome.json");
    });
}

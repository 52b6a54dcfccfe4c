//! Any bytes as what an agent tells its hook: there is an answer, it is one of two endings, and what
//! is no call that can be read is refused.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use palisade::Request;
use palisade::hook::{Agent, Hook};

fuzz_target!(|told: &[u8]| {
    for agent in Agent::ALL {
        for (auto_allow, wrap) in [(false, None), (true, Some("/opt/palisade".into()))] {
            let wrap = wrap.filter(|_| agent.wraps());
            let request = Request::new("/usr", BTreeMap::new());
            let reply = Hook { agent, auto_allow, wrap }.answer(told, request);
            assert!(matches!(reply.code, 0 | 2), "{reply:?}");
            assert!(reply.code == 0 || !reply.stderr.trim().is_empty(), "{reply:?}");
            let printed = serde_json::from_str::<serde_json::Value>(&reply.stdout);
            assert!(reply.stdout.is_empty() || printed.is_ok(), "{reply:?}");
            if serde_json::from_slice::<serde_json::Value>(told).is_err() {
                assert_eq!(reply.code, 2, "{reply:?}");
            }
        }
    }
});

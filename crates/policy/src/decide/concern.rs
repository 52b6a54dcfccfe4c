//! What is said about each concern, and how much it weighs.

use super::verdict::{Answer, Axis};
use crate::command::Concern;

/// What a concern amounts to.
pub(super) struct Weight {
    pub(super) answer: Answer,
    pub(super) code: &'static str,
    pub(super) axis: Axis,
    pub(super) message: &'static str,
    pub(super) hint: Option<&'static str>,
}

/// Returns what a concern amounts to where people can be asked.
#[rustfmt::skip]
pub(super) fn weigh(concern: Concern) -> Weight {
    use Answer::{Ask, Deny};
    use Axis::{Argv, Name, Structure};
    let (answer, axis, code, message, hint) = match concern {
        Concern::LosesWork => (Ask, Argv, "loses-work", "discards work that cannot be brought back", Some("commit or stash the work first")),
        Concern::ChangesShared => (Ask, Argv, "changes-shared", "replaces or removes what others share", None),
        Concern::Privilege => (Ask, Name, "privilege", "acts as another user or asks for more rights", Some("run it without; inside the sandbox no program gains rights")),
        Concern::Container => (Ask, Name, "container", "starts a container or enters another namespace", None),
        Concern::Persists => (Ask, Name, "persists", "starts something that outlives the command", None),
        Concern::System => (Ask, Name, "system", "changes accounts, services, packages or settings of the machine", None),
        Concern::Processes => (Ask, Argv, "processes", "ends processes that it did not start", Some("name the process's number")),
        Concern::Device => (Deny, Argv, "device", "writes to a disk or a device, or makes a file system", None),
        Concern::Kernel => (Deny, Name, "kernel", "changes the running kernel", None),
        Concern::Power => (Deny, Name, "power", "stops or restarts the machine", None),
        Concern::Exhausts => (Deny, Structure, "exhausts", "starts copies of itself without end", None),
        Concern::Exfiltrates => (Ask, Argv, "exfiltrates", "sends files to another machine", None),
        Concern::Backdoor => (Deny, Argv, "backdoor", "connects a shell to the network", None),
        Concern::Listens => (Ask, Argv, "listens", "waits for others to connect", None),
        Concern::Floods => (Ask, Argv, "floods", "sends many requests to another machine", None),
        Concern::Evaluates => (Ask, Structure, "evaluates", "evaluates text that is built at run time", Some("write the command out")),
        Concern::Obfuscates => (Ask, Structure, "obfuscates", "hides what it does", Some("write it plainly")),
        Concern::Spawns => (Ask, Argv, "spawns", "starts a program, and which one cannot be told", None),
        Concern::Interactive => (Ask, Argv, "interactive", "opens a prompt from which anything can be started", Some("use the program's batch mode")),
        Concern::Environment => (Ask, Argv, "environment", "sets a variable that makes other programs run or load something", None),
        Concern::Guard => (Deny, Name, "guard", "runs a guard with settings of its own", Some("leave the guard out: what is run here is confined already")),
        Concern::Unclear => (Ask, Argv, "unclear", "cannot be understood", None),
    };
    Weight { answer, code, axis, message, hint }
}

//! The command line from outside: the built binary, real files, a home of its own.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up must stop at once"
)]

mod acp;
mod acp_agents;
mod advice;
mod agents;
mod audit;
mod bad_input;
mod bloom;
mod check;
mod confirming;
mod doctor;
mod documents;
mod engine_lines;
mod engines;
mod entered;
mod eval;
mod guide;
mod hook;
mod hook_agents;
mod hook_install;
mod host_ports;
mod idle;
mod init;
mod kit;
mod learn;
mod learn_hosts;
mod levels;
mod linking;
mod mcp;
mod mcp_gate;
mod mcp_http;
mod needed_hosts;
mod network;
mod network_clients;
mod network_faults;
mod network_hosts;
mod network_names;
mod network_soak;
mod network_wire;
mod own_state;
mod picked;
mod places;
mod planted;
mod policy_check;
mod policy_convert;
mod policy_show;
mod profiles;
mod project;
mod proxy;
mod published;
mod reached;
mod recording;
mod replay;
mod round_trip;
mod run;
mod running;
mod schema;
mod seen;
mod serve;
mod sockets;
mod still;
mod surface;
mod tasks;
mod telemetry;
mod tool_calls;
mod town;
mod trust;
mod unconfined;
mod why;
mod work;
mod worktree;

//! The doors of a running box: network, LLM and MCP traffic.
//!
//! This room holds the name server that answers for allowed names only, the relay that carries
//! their connections, the HTTP CONNECT and SOCKS5 proxies, and the proxy that holds back refused
//! tool calls of a model. Most of it reads bytes into values and writes
//! small answers (docs/adr/0032), and opens no socket; `net`, `proxy` and
//! `mcp` do:
//!
//! | Module | Question it answers |
//! | --- | --- |
//! | `dns` | What was asked, what is the answer, and which address stands for which name? |
//! | `hello` | Which server does a TLS client name? |
//! | `http` | For whom is an HTTP request, where does it end, and how is it passed on? |
//! | `socks` | Whom does a client of SOCKS want to reach? |
//! | `packet` | Who wants to reach whom, by the first bytes of a packet? |
//! | `llm` | Which tool calls are in a model's answer, and what stands in place of a refused one? |
//! | `proxy` | Who asks which model, and what of its answer is passed on? |
//! | `mcp` | How do messages of MCP travel by HTTP, to a server of ours and to one of others? |
//! | `address` | May the address that a name leads to be dialled? |
//!
//! Rules that hold here:
//!
//! - The only async room. Nothing else in the workspace may name a runtime.
//! - It owns the sockets it is handed and the upstreams it dials. File access comes as closures;
//!   it starts no program and has no terminal.
//! - It asks `palisade-policy` and never decides by itself; it tells `palisade-audit` and never
//!   waits for it.
//! - Every byte from either side is hostile: lengths are bounded, names are parsed before they
//!   are compared, and a door that fails is closed.
#![forbid(unsafe_code)]

pub mod address;
mod bytes;
pub mod dns;
pub mod hello;
pub mod http;
pub mod llm;
pub mod mcp;
#[cfg(target_os = "linux")]
pub mod net;
pub mod packet;
pub mod proxy;
pub mod socks;
pub mod traffic;

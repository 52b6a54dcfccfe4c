//! Servers inside that are reached from the host.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use palisade_apply::Running;
use palisade_gate::net;
use palisade_plan::{Plan, Step};
use palisade_policy::policy::Network;

use super::error::CannotRun;

/// The most connections at the same time.
const FLOWS: usize = 1024;

/// Ports of the host's loopback that lead inside, once the sandbox can make sockets for it.
#[derive(Debug, Default)]
pub(super) struct Published {
    doors: Vec<(TcpListener, u16)>,
    opened: Arc<Mutex<Option<net::Published>>>,
}

impl Published {
    /// Takes the ports that a plan publishes, before anything runs.
    pub(super) fn take(plan: &Plan, network: &Network) -> Result<Self, CannotRun> {
        let mut doors = Vec::new();
        let ports = plan
            .steps()
            .iter()
            .filter_map(|step| if let Step::Publish(ports) = step { Some(ports) } else { None });
        for port in ports.flatten().copied() {
            let door = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
                let entries = network.publish.entries().iter();
                let said = entries.rev().find(|entry| entry.value.number() == port);
                let origin = said.map(|entry| Box::new(entry.origin.clone()));
                CannotRun::Port { port, error, origin }
            })?;
            doors.push((door, port));
        }
        Ok(Self { doors, opened: Arc::default() })
    }

    /// Leads them inside once that can be done. Until then connections wait.
    pub(super) fn attend(&mut self, running: Running) -> Running {
        if self.doors.is_empty() {
            return running;
        }
        let (doors, slot) = (std::mem::take(&mut self.doors), Arc::clone(&self.opened));
        running.with_maker(move |maker| {
            let make = Box::new(move |by_v6| maker.make(by_v6));
            // Where there is no thread for it they are closed again.
            let opened = net::Published::open(doors, make, FLOWS).ok();
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = opened;
        })
    }

    /// Gives them back, and ends every connection.
    pub(super) fn close(self) {
        drop(self.opened.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

//! Which address inside stands for which name.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use palisade_policy::name::HostName;

/// How many names get an address in one run.
pub const MOST_NAMES: u32 = 4096;

/// The box's own addresses: connections come from there, and none of them stands for a name.
pub const GATEWAY: Local =
    Local { v4: Ipv4Addr::new(10, 255, 0, 1), v6: Ipv6Addr::new(0xFD00, 0xAAAA, 0, 0, 0, 0, 0, 1) };

/// 198.18.0.0/15, set aside for benchmarks: no host of the Internet is there.
const START_4: u32 = Ipv4Addr::new(198, 18, 0, 0).to_bits();
const BITS_4: u32 = 17;
/// fd00:5a4b::/96, of which the last 32 bits count.
const START_6: u128 = Ipv6Addr::new(0xFD00, 0x5A4B, 0, 0, 0, 0, 0, 0).to_bits();
const BITS_6: u32 = 32;

/// The two addresses that stand for one name inside a box.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Local {
    /// In 198.18.0.0/15.
    pub v4: Ipv4Addr,
    /// In fd00:5a4b::/96.
    pub v6: Ipv6Addr,
}

/// The names that were asked for and may be reached, each with its addresses.
///
/// An address is given out once. A program that kept an old answer can therefore never reach
/// another host than it asked for.
#[derive(Clone, Debug, Default)]
pub struct Names {
    numbers: BTreeMap<HostName, u32>,
    names: Vec<HostName>,
}

/// There are as many names as there may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("more than {MOST_NAMES} names were asked for in this run")]
pub struct Full;

impl Names {
    /// Returns the addresses of `name`, and gives it some if it has none yet.
    ///
    /// # Errors
    ///
    /// [`Full`]. Names that have addresses keep them.
    pub fn give(&mut self, name: &HostName) -> Result<Local, Full> {
        if let Some(local) = self.find(name) {
            return Ok(local);
        }
        let number = u32::try_from(self.names.len()).map_err(|_| Full)?;
        if number >= MOST_NAMES {
            return Err(Full);
        }
        self.names.push(name.clone());
        self.numbers.insert(name.clone(), number);
        Ok(Local::numbered(number))
    }

    /// Returns the addresses of `name`, if it has any.
    pub fn find(&self, name: &HostName) -> Option<Local> {
        self.numbers.get(name).map(|number| Local::numbered(*number))
    }

    /// Returns the name that `address` stands for.
    pub fn name(&self, address: IpAddr) -> Option<&HostName> {
        let number = match address.to_canonical() {
            IpAddr::V4(address) => address.to_bits().checked_sub(START_4)?,
            IpAddr::V6(address) => address.to_bits().checked_sub(START_6)?.try_into().ok()?,
        };
        self.names.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    /// Returns whether `address` could stand for a name. No other host is there: if it stands for
    /// none, it leads nowhere.
    pub fn is_local(address: IpAddr) -> bool {
        match address.to_canonical() {
            IpAddr::V4(address) => (address.to_bits() ^ START_4) >> BITS_4 == 0,
            IpAddr::V6(address) => (address.to_bits() ^ START_6) >> BITS_6 == 0,
        }
    }
}

impl Full {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(self) -> &'static str {
        "dns-names-full"
    }
}

impl Local {
    /// Numbers count from zero, addresses from one. With 4,096 names neither sum leaves its network.
    fn numbered(number: u32) -> Self {
        let number = number.saturating_add(1);
        Self {
            v4: START_4.saturating_add(number).into(),
            v6: START_6.saturating_add(number.into()).into(),
        }
    }
}

//! Any bytes from a client of SOCKS: what was said of the first of them stands when more come, and
//! a request that was read can be written again.
#![no_main]

use std::net::IpAddr;

use libfuzzer_sys::fuzz_target;
use palisade_gate::socks::{Reading, Request, read_greeting, read_request};
use palisade_policy::name::Host;

fuzz_target!(|bytes: &[u8]| {
    let greeting = read_greeting(bytes);
    let request = read_request(bytes);
    for end in 0..bytes.len() {
        let part = read_greeting(&bytes[..end]);
        assert!(part == Ok(Reading::NeedMore) || part == greeting);
        let part = read_request(&bytes[..end]);
        assert!(part == Ok(Reading::NeedMore) || part == request);
    }
    for fault in [greeting.as_ref().err(), request.as_ref().err()].into_iter().flatten() {
        assert!(fault.answer().len() <= 10);
    }
    if let Ok(Reading::Done((), length)) = greeting {
        // What follows at once is a request of its own.
        let _request = read_request(&bytes[length..]);
    }
    if let Ok(Reading::Done(request, length)) = request {
        assert!(length <= bytes.len() && request.port != 0);
        let written = write(&request);
        let done = Reading::Done(request, written.len());
        assert_eq!(read_request(&written), Ok(done));
    }
});

fn write(request: &Request) -> Vec<u8> {
    let address = match &request.host {
        Host::Name(name) => {
            assert!(!name.as_str().contains(|c: char| c.is_control() || c == ' '));
            let length = u8::try_from(name.as_str().len()).expect("names are short");
            [&[3, length], name.as_str().as_bytes()].concat()
        }
        Host::Ip(IpAddr::V4(address)) => [&[1][..], &address.octets()].concat(),
        Host::Ip(IpAddr::V6(address)) => [&[4][..], &address.octets()].concat(),
    };
    [&[5, 1, 0][..], &address, &request.port.to_be_bytes()].concat()
}

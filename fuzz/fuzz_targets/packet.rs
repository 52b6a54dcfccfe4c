//! Any bytes as a packet: it is read or refused, nothing behind its headers matters, and the plain
//! packet that says the same is read as the same.
#![no_main]

use std::net::SocketAddr;

use libfuzzer_sys::fuzz_target;
use palisade_gate::packet::Packet;

fuzz_target!(|bytes: &[u8]| {
    let Ok(packet) = Packet::read(bytes) else { return };
    let longer = [bytes, b"more"].concat();
    assert_eq!(Packet::read(&longer), Ok(packet));
    assert_eq!(packet.source.is_ipv4(), packet.destination.is_ipv4());
    assert_eq!(Packet::read(&write(&packet)), Ok(packet));
});

fn write(packet: &Packet) -> Vec<u8> {
    let mut bytes = match (packet.source, packet.destination) {
        (SocketAddr::V4(source), SocketAddr::V4(destination)) => {
            let start = [0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0];
            [&start[..], &source.ip().octets(), &destination.ip().octets()].concat()
        }
        (SocketAddr::V6(source), SocketAddr::V6(destination)) => {
            let start = [0x60, 0, 0, 0, 0, 20, 6, 64];
            [&start[..], &source.ip().octets(), &destination.ip().octets()].concat()
        }
        mixed => panic!("{mixed:?}"),
    };
    bytes.extend(packet.source.port().to_be_bytes());
    bytes.extend(packet.destination.port().to_be_bytes());
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 0x50, if packet.is_syn { 2 } else { 16 }]);
    bytes.extend([0; 6]);
    bytes
}

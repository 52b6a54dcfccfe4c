//! Any bytes as a DNS message: it is a question or it is rejected, whatever is answered is short and
//! read by another parser as it is meant, and a name keeps its addresses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_gate::dns::{Answer, Asked, Carrier, Fault, Names, Query, Remember};
use simple_dns::{Packet, PacketFlag, QTYPE, TYPE};

fuzz_target!(|message: &[u8]| {
    let query = match Query::read(message) {
        Ok(query) => query,
        Err(rejected) => {
            let silent = matches!(rejected.fault, Fault::Short | Fault::Answer);
            assert_eq!(rejected.answer().is_none(), silent);
            if let Some(answer) = rejected.answer() {
                let packet = Packet::parse(answer).expect("a rejection can be read");
                assert!(packet.has_flags(PacketFlag::RESPONSE) && packet.questions.is_empty());
            }
            return;
        }
    };
    // It knows fewer kinds of records than one can ask for, and reads options that we only skip.
    let other = Packet::parse(message).ok();
    if let (Some(other), Asked::Host(name)) = (&other, &query.asked) {
        let theirs = other.questions.first().map(|question| question.qname.to_string());
        assert!(theirs.is_some_and(|theirs| theirs.eq_ignore_ascii_case(name.as_str())));
    }
    let mut names = Names::default();
    let name = match &query.asked {
        Asked::Host(name) => name.clone(),
        Asked::Address(_) | Asked::Other => "a.test".parse().expect("it is a name"),
    };
    let local = names.give(&name).expect("there is room");
    assert_eq!(names.give(&name), Ok(local));
    assert_eq!(names.name(local.v4.into()), Some(&name));
    assert_eq!(names.name(local.v6.into()), Some(&name));
    let answers = [
        (Answer::A(local.v4), Some(TYPE::A)),
        (Answer::Aaaa(local.v6), Some(TYPE::AAAA)),
        (Answer::Ptr(name), Some(TYPE::PTR)),
        (Answer::Nothing(Remember::Seconds(1)), None),
        (Answer::NoSuchName(Remember::No), None),
        (Answer::Failure, None),
    ];
    for (answer, kind) in answers {
        for (carrier, longest) in [(Carrier::Udp, 1232), (Carrier::Tcp, 1024)] {
            let written = answer.write(&query, carrier);
            assert!(written.len() <= longest, "{answer:?}");
            assert_eq!(
                Query::read(&written).map_err(|rejected| rejected.fault),
                Err(Fault::Answer)
            );
            let Some(other) = &other else { continue };
            let packet = Packet::parse(&written).expect("an answer can be read");
            assert_eq!(packet.questions.len(), 1, "{answer:?}");
            if packet.has_flags(PacketFlag::TRUNCATION) {
                assert!(carrier == Carrier::Udp && packet.answers.is_empty(), "{answer:?}");
                continue;
            }
            let records: Vec<TYPE> = packet.answers.iter().map(|r| r.rdata.type_code()).collect();
            assert_eq!(records, Vec::from_iter(kind), "{answer:?}");
            if let Some(record) = packet.answers.first() {
                assert_eq!(record.name, packet.questions[0].qname, "{answer:?}");
            }
            let asked = |packet: &Packet<'_>| -> Option<(Vec<u8>, QTYPE)> {
                let question = packet.questions.first()?;
                Some((question.qname.to_string().into_bytes(), question.qtype))
            };
            assert_eq!(asked(&packet), asked(other), "the question comes back, with its case");
        }
    }
});

//! Many decisions in one process: one JSON object a line in, one out.

use std::io::{self, BufRead as _, BufWriter, Read as _, Write as _};

use palisade::Judges;
use serde_json::Value as Json;

use super::kind::{Refused, answer};
use super::request::Request;
use crate::asking::Asking;
use crate::exit::Exit;
use crate::failure::Failure;

/// Longest line that is read; a longer one is answered with a denial.
const LONGEST: u64 = 8 << 20;

pub(super) fn run(asking: &Asking, without_tools: bool) -> Result<Exit, Failure> {
    let mut judges = Judges::new(asking.request()?);
    if without_tools {
        judges = judges.without_tools();
    }
    let mut input = io::stdin().lock();
    let mut output = BufWriter::new(io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = input.by_ref().take(LONGEST);
        let read = bounded.read_until(b'\n', &mut line);
        let read = read.map_err(|error| Failure::io("stdin", "cannot read requests", &error))?;
        if read == 0 {
            break;
        }
        let cut = line.last() != Some(&b'\n') && bounded.limit() == 0;
        if cut {
            input.skip_until(b'\n').ok();
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = match Request::read(&line) {
            Some(request) if !cut => answer(&mut judges, &request),
            Some(_) => Refused::request("the line is longer than 8 MiB").told(&Json::Null),
            None => {
                let message = "the line is no JSON object, or names a key twice";
                Refused::request(message).told(&Json::Null)
            }
        };
        let written = writeln!(output, "{answer}");
        // A reader that waits for its answer gets it before the next request is waited for.
        let flushed = written.and_then(|()| output.flush());
        match flushed {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            Err(error) => return Err(Failure::io("stdout", "cannot write answers", &error)),
            Ok(()) => {}
        }
    }
    Ok(Exit::Success)
}

//! Answers of paths that no API here knows.
//!
//! They pass as they came. What looks like a call in them never gets here.

use serde_json::Value;

use super::Ruling;
use super::frame::Frame;
use super::reader::{Assembler, Group, Piece, Tally};

#[derive(Debug)]
pub(super) struct Other;

impl Assembler for Other {
    fn take(&mut self, frame: Frame, out: &mut Vec<Piece>) {
        out.push(Piece::Pass(frame));
    }

    fn end(&mut self, _: &mut Vec<Piece>) {}

    fn refuse(&self, _: Group, _: &[Ruling]) -> Vec<Frame> {
        Vec::new()
    }

    fn close(&self, frame: Frame, _: Tally) -> Frame {
        frame
    }

    fn held(&self) -> usize {
        0
    }

    fn turn(&mut self) -> Value {
        Value::Null
    }

    fn resume(&mut self) {}
}

//! Which memory the first process of a sandbox needs, so that it can let go of other threads' heaps.
//!
//! That process is a copy of ours. For as long as it has the copy of a page that one of our threads
//! writes, the kernel has to copy the page, and to interrupt every processor that another thread of
//! ours runs on; with two threads that start sandboxes that was a third of all their time. So where
//! there is more than one such thread, the new process first gives back the heaps of all of them, but
//! for the pages that hold its steps. A step whose memory is missing here would be a fault of the new
//! process, and no start.

use std::ffi::CString;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use super::act::Act;
use super::prepare::Prepared;
use crate::sys::heap;
use crate::sys::process::Strings;

/// The most threads of a host whose memory is known.
const THREADS: usize = 8;

/// Where the threads that start sandboxes have their memory: an address in the heap of each.
#[derive(Debug, Default)]
pub(super) struct Heaps(Mutex<Vec<(ThreadId, usize)>>);

/// What a new process keeps of those heaps.
#[derive(Debug)]
pub(super) struct Needed {
    heaps: [usize; THREADS],
    /// In order. Some may overlap.
    kept: Vec<Range<usize>>,
}

impl Heaps {
    /// Notes where this thread has its memory.
    pub(super) fn note(&self, prepared: &Prepared) {
        let own = (thread::current().id(), prepared.acts.as_ptr().addr());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The last one to start comes first.
        known.retain(|(thread, _)| *thread != own.0);
        known.insert(0, own);
        known.truncate(THREADS);
    }

    /// Returns whether threads other than this one have started sandboxes here.
    pub(super) fn are_of_others(&self) -> bool {
        let own = thread::current().id();
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().any(|(thread, _)| *thread != own)
    }

    /// Returns what the process that does these steps needs; `None` if it may have it all: then no
    /// other thread has started a sandbox here.
    pub(super) fn needed(&self, prepared: &Prepared) -> Option<Needed> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < 2 {
            return None;
        }
        let mut heaps = [0; THREADS];
        heaps.iter_mut().zip(&*known).for_each(|(heap, (_, address))| *heap = *address);
        drop(known);
        Some(Needed { heaps, kept: Memory::of(prepared) })
    }
}

impl Needed {
    /// In the new process: lets go of the rest. It allocates nothing.
    pub(super) fn keep(&self) {
        // One that cannot be given back only costs time.
        heap::let_go(&self.heaps, &self.kept).ok();
    }
}

/// Collects where memory lies.
struct Memory(Vec<Range<usize>>);

impl Memory {
    fn of(prepared: &Prepared) -> Vec<Range<usize>> {
        let Prepared { acts, slots, outside, stack, .. } = prepared;
        let mut all = Self(Vec::with_capacity(2 * acts.len()));
        all.slice(std::slice::from_ref(prepared));
        all.slice(slots);
        all.slice(outside);
        all.slice(acts);
        all.0.push(stack.range());
        acts.iter().for_each(|act| all.act(act));
        // The list itself, wherever it has grown to.
        all.0.reserve_exact(1);
        let start = all.0.as_ptr().addr();
        all.0.push(start..start + all.0.capacity() * size_of::<Range<usize>>());
        all.0.sort_unstable_by_key(|piece| piece.start);
        all.0
    }

    fn slice<T>(&mut self, slice: &[T]) {
        let Range { start, end } = slice.as_ptr_range();
        if start < end {
            self.0.push(start.addr()..end.addr());
        }
    }

    fn text(&mut self, text: &CString) {
        self.slice(text.as_bytes_with_nul());
    }

    fn texts(&mut self, texts: &[CString]) {
        self.slice(texts);
        texts.iter().for_each(|text| self.text(text));
    }

    fn strings(&mut self, strings: &Strings) {
        let (pointers, texts) = strings.memory();
        self.slice(pointers);
        texts.iter().for_each(|text| self.text(text));
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Furniture(act) => {
                self.slice(std::slice::from_ref(&**act));
                self.act(act);
            }
            Act::Map { uids, gids } => [uids, gids].into_iter().for_each(|map| self.slice(map)),
            Act::Keep { path: one, .. }
            | Act::Attach { at: one, .. }
            | Act::Cache { at: one, .. }
            | Act::Cover(one)
            | Act::Rebind { at: one, .. }
            | Act::Enter(one) => self.text(one),
            Act::Mount { at: one, data: two, .. }
            | Act::Still { above: one, path: two, .. }
            | Act::Link { at: one, to: two } => {
                [one, two].into_iter().for_each(|text| self.text(text));
            }
            Act::Folders(texts)
            | Act::Mask(texts)
            | Act::Landlock { below: texts, .. }
            | Act::Prove { sealed: texts, .. } => self.texts(texts),
            Act::File(texts, text) => {
                self.texts(texts);
                self.text(text);
            }
            Act::Hide { at, names, between, .. } => {
                self.text(at);
                self.texts(names);
                self.slice(between);
                between.iter().for_each(|(name, _)| self.text(name));
            }
            Act::Show { at, made, text } => {
                [at, made].into_iter().for_each(|text| self.text(text));
                self.slice(text);
            }
            Act::Filter(program) | Act::Trace(program) => self.slice(program),
            Act::Inlets(ready) => {
                let (list, messages) = ready.memory();
                self.slice(list);
                messages.for_each(|bytes| self.slice(bytes));
            }
            Act::Execute { paths, arguments, environment } => {
                self.texts(paths);
                [arguments, environment].into_iter().for_each(|strings| self.strings(strings));
            }
            Act::Done
            | Act::Network
            | Act::AwaitMap { .. }
            | Act::AwaitGroup
            | Act::AwaitNames
            | Act::Seal
            | Act::EmptyRoot
            | Act::CloseRoot
            | Act::Loopback
            | Act::Maker
            | Act::Undumpable
            | Act::UndumpableOnGo
            | Act::NoCapabilities(_)
            | Act::Become { .. }
            | Act::Restrict(_)
            | Act::NoNewPrivileges
            | Act::Adopt
            | Act::Split
            | Act::Session
            | Act::Descriptors
            | Act::Limit(..) => {}
        }
    }
}

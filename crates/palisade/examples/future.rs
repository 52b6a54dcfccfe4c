//! Runs two commands at once as futures, without a runtime, and cancels one of them.
//!
//! `cargo run -p palisade --example future`
#![expect(clippy::disallowed_methods, reason = "an example has the terminal for itself")]

use std::io::{self, Write as _};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use palisade::{Request, Sandbox};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = Sandbox::new(&Request::from_process()?)?;
    let quick = sandbox.spawn(["echo", "hello"]);
    let endless = sandbox.spawn(["sleep", "1000"]);

    let outcome = block_on(quick)?;
    write!(io::stdout(), "quick: {}", outcome.stdout_text())?;
    endless.cancel();
    let outcome = block_on(endless)?;
    writeln!(io::stdout(), "endless: {}", outcome.reason().unwrap_or_default())?;
    Ok(())
}

/// The least that drives a future; any runtime does the same.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

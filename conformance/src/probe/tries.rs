//! Notes each way that was tried, with the kernel's answer.

use std::io;

use palisade_conformance::Way;

/// The ways of one attack, in the order in which they were tried.
#[derive(Debug, Default)]
pub(crate) struct Tries(pub(crate) Vec<Way>);

impl Tries {
    /// Notes what became of one way.
    pub(crate) fn note<T>(&mut self, way: &str, tried: io::Result<T>) {
        let (done, errno, why) = match tried {
            Ok(_) => (true, None, String::new()),
            Err(error) => (false, error.raw_os_error(), told(&error)),
        };
        self.0.push(Way { way: way.to_owned(), done, errno, why });
    }

    /// Notes several ways.
    pub(crate) fn each<T>(
        &mut self,
        ways: impl IntoIterator<Item = T>,
        named: impl Fn(&T) -> String,
        attempt: impl Fn(&T) -> io::Result<()>,
    ) {
        for way in ways {
            let name = named(&way);
            self.note(&name, attempt(&way));
        }
    }
}

/// What an attack answers where something else than the kernel stands in its way.
pub(crate) fn no(why: impl Into<String>) -> io::Error {
    io::Error::other(why.into())
}

/// The kernel's word without the number that the standard library adds.
fn told(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

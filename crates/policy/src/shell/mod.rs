//! Reading shell text: bash and POSIX sh, the whole text or an error.

mod ast;

pub use ast::*;

//! Whom a URL reaches.

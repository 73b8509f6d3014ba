//! supervise.

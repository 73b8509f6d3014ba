//! Ringonce.
fn main() {}

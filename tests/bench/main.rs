//! `cargo xtask bench [TABLE…]`: prints figures and asserts nothing.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]

fn main() {
    println!("No table yet.");
}

//! Prints the window's types, generated from the engine's `api` (`cargo xtask types` puts them in their place).

#![allow(clippy::print_stdout, reason = "printing is what it is for")]

fn main() {
    print!("{}", ringonce_engine::api::types::text());
}

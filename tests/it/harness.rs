//! The tests' own tools do what they say: a tool that lies makes every test on it worthless.

mod dovecot;
mod peers;
mod program;
mod relay;

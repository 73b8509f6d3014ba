//! End to end: the real window on a screen nobody looks at, with the real program, mail server and receivers.

mod driver;
mod smoke;

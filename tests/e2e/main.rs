//! End to end: the real window on a screen nobody looks at, with the real program, mail server and receivers.

mod access;
mod desk;
mod driver;
mod every_day;
mod first_run;
mod resident;

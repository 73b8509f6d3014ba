//! Supervise: keeps everything running that should run, as configured now.

pub mod live;

//! Waiting for a condition with a limit: the only way a test may wait.

use std::net::TcpListener;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until `done`; panics with `what` at the limit.
#[track_caller]
pub fn until(what: &str, limit: Duration, mut done: impl FnMut() -> bool) {
    get(what, limit, || done().then_some(()));
}

/// Waits until `look` finds something; panics with `what` at the limit.
#[track_caller]
pub fn get<T>(what: &str, limit: Duration, look: impl FnMut() -> Option<T>) -> T {
    match find(limit, look) {
        Some(found) => found,
        None => panic!("Waited {limit:?} in vain until {what}"),
    }
}

/// Waits until `look` finds something; `None` at the limit.
pub fn find<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(PAUSE);
    }
}

/// Waits for the end of a process; `None` at the limit.
pub fn exit(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    find(limit, || child.try_wait().expect("the process is ours to wait for"))
}

/// A loopback port that is free now. Another process may take it before it is used: whoever needs it tries again.
#[must_use]
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a free port").port()
}

/// Seconds.
#[must_use]
pub const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

//! Named points at which a test stops the program as a power cut would. No-ops without the feature `crash-points`.

/// Every point: of any commit, then in the order a notification meets them. The one list: a test holds it against where
/// points are placed, and the crash tests go through it.
pub const POINTS: &[&str] = &[
    "before_commit",
    "after_commit",
    "intake_before_commit",
    "intake_after_commit",
    "claim_before_commit",
    "claim_after_commit",
    "mark_before_commit",
    "mark_after_commit",
    "bytes_written",
    "answer_read",
    "settle_before_commit",
    "settle_after_commit",
];

/// Ends the process here where `RINGONCE_CRASH_AT` names this point; `name:3` means the third time it is met.
#[cfg(feature = "crash-points")]
pub fn point(name: &str) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static MET: AtomicU32 = AtomicU32::new(0);
    let Ok(wanted) = std::env::var("RINGONCE_CRASH_AT") else { return };
    let (wanted, times) = wanted.split_once(':').unwrap_or((&wanted, "1"));
    if wanted == name && MET.fetch_add(1, Ordering::SeqCst) + 1 == times.parse().unwrap_or(1) {
        std::process::abort();
    }
}

/// Does nothing: this program was built without crash points.
#[cfg(not(feature = "crash-points"))]
#[inline]
pub fn point(_name: &str) {}

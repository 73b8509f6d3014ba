//! The log of the resident program.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Names the level: off, error, warn, info (the default), debug or trace.
const VARIABLE: &str = "RINGONCE_LOG";

/// Writes the log to stderr. Libraries are heard only when something is wrong: they know what they carry, and at finer
/// levels some of them show it.
pub(crate) fn to_stderr() {
    let wanted = std::env::var(VARIABLE).unwrap_or_default();
    // An empty text would be a level too (error).
    let given = if wanted.is_empty() { Some(LevelFilter::INFO) } else { wanted.parse::<LevelFilter>().ok() };
    let level = given.unwrap_or(LevelFilter::INFO);
    let ours = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_targets([("ringonce_engine", level), ("ringonce", level)]);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_target(false);
    // A second call in one process finds it done.
    let _ = tracing_subscriber::registry().with(lines).with(ours).try_init();
    if given.is_none() {
        tracing::warn!("{VARIABLE}={wanted:?} is not a level; give off, error, warn, info, debug or trace");
    }
}

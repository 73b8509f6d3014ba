//! The log of the resident program: on stderr where nobody has a screen, else in files of limited size and number.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Mutex;

use file_rotate::compression::Compression;
use file_rotate::suffix::AppendCount;
use file_rotate::{ContentLimit, FileRotate};
use ringonce_engine::api::report::{LOG_FILE as FILE, LOG_FOLDER as FOLDER};
use ringonce_engine::model::error::{Fault, FaultCode};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Names the level: off, error, warn, info (the default), debug or trace.
const VARIABLE: &str = "RINGONCE_LOG";
/// A file that grew to this size is put aside.
const FILE_BYTES_MAX: usize = 1024 * 1024;
/// Files that were put aside and are kept.
const FILES_KEPT: usize = 4;

/// Writes the log to stderr.
pub(crate) fn to_stderr() {
    begin(std::io::stderr);
}

/// Writes the log into files of the data folder.
///
/// # Errors
/// `storage`, where their folder cannot be made.
pub(crate) fn to_files(data_dir: &Path) -> Result<(), Fault> {
    begin(Mutex::new(files(data_dir, FILE_BYTES_MAX)?));
    Ok(())
}

fn files(data_dir: &Path, bytes_max: usize) -> Result<FileRotate<AppendCount>, Fault> {
    let folder = data_dir.join(FOLDER);
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(|error| {
        Fault::new(
            FaultCode::Storage,
            "Nothing was started",
            format!("the folder {} cannot be made ({error})", folder.display()),
            "check the data folder and its owner",
        )
    })?;
    let mut private = OpenOptions::new();
    private.read(true).append(true).create(true).mode(0o600);
    // Surpassed: a line is never cut in two.
    let limit = ContentLimit::BytesSurpassed(bytes_max);
    Ok(FileRotate::new(folder.join(FILE), AppendCount::new(FILES_KEPT), limit, Compression::None, Some(private)))
}

/// Libraries are heard only when something is wrong: they know what they carry, and at finer levels some of them show
/// it.
fn begin(writer: impl for<'a> MakeWriter<'a> + Send + Sync + 'static) {
    let wanted = std::env::var(VARIABLE).unwrap_or_default();
    // An empty text would be a level too (error).
    let given = if wanted.is_empty() { Some(LevelFilter::INFO) } else { wanted.parse::<LevelFilter>().ok() };
    let level = given.unwrap_or(LevelFilter::INFO);
    let ours = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_targets([("ringonce_engine", level), ("ringonce", level)]);
    let lines = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false).with_target(false);
    // A disk that is full takes no log either; there is nobody to tell that to.
    let lines = lines.log_internal_errors(false);
    // A second call in one process finds it done.
    let _ = tracing_subscriber::registry().with(lines).with(ours).try_init();
    if given.is_none() {
        tracing::warn!("{VARIABLE}={wanted:?} is not a level; give off, error, warn, info, debug or trace");
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn files_are_private_and_limited_in_size_and_number() {
        let dir = std::env::temp_dir().join(format!("ringonce-log-test-{}", std::process::id()));
        fs::create_dir(&dir).unwrap();
        let mut log = files(&dir, 1000).unwrap();
        for number in 0..200 {
            writeln!(log, "line {number:04} of a log that goes on and on, as logs do").unwrap();
        }
        drop(log);
        // A second run goes on in the same file.
        files(&dir, 1000).unwrap().write_all(b"again\n").unwrap();
        let names: Vec<_> = fs::read_dir(dir.join(FOLDER)).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(names.len(), FILES_KEPT + 1, "{names:?}");
        for name in &names {
            let metadata = fs::metadata(name).unwrap();
            assert!(metadata.len() < 1100, "{name:?} is too long: {}", metadata.len());
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{name:?}");
        }
        let text: String = names.iter().map(|name| fs::read_to_string(name).unwrap()).collect();
        for line in ["line 0199", "again"] {
            assert!(text.contains(line), "{line} is the newest and must be there: {text}");
        }
        assert!(!text.contains("line 0000"), "the oldest is gone");
        fs::remove_dir_all(&dir).unwrap();
    }
}

//! Stands in for the window's program: attaches itself as the real one does, and writes down what it is told.

#![allow(clippy::indexing_slicing, reason = "what a JSON value lacks is null")]

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

/// At this place it ends as if its owner had closed it.
const CLOSE: &str = "#/close";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    write_down(&format!("started {} {}", std::process::id(), args.join(" ")));
    let data_dir = args.iter().skip_while(|arg| *arg != "--data-dir").nth(1);
    match data_dir.ok_or_else(|| "no --data-dir".to_owned()).and_then(|dir| live(Path::new(dir))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            write_down(&format!("failed {cause}"));
            ExitCode::FAILURE
        }
    }
}

fn live(data_dir: &Path) -> Result<(), String> {
    let words = |error: std::io::Error| error.to_string();
    let holder = std::fs::read(data_dir.join("lock")).map_err(words)?;
    let holder: Value = serde_json::from_slice(&holder).map_err(|error| error.to_string())?;
    let mut stream = UnixStream::connect(holder["socket"].as_str().unwrap_or_default()).map_err(words)?;
    for (id, method) in [(1, "subscribe"), (2, "window")] {
        writeln!(stream, "{}", json!({"id": id, "method": method})).map_err(words)?;
    }
    for line in BufReader::new(stream).lines() {
        let line: Value = serde_json::from_str(&line.map_err(words)?).map_err(|error| error.to_string())?;
        match (line["event"].as_str(), line["result"]["first"].as_bool()) {
            (_, Some(true)) => write_down("attached"),
            (_, Some(false)) => {
                write_down("second");
                return Ok(());
            }
            (Some("open"), _) => {
                write_down(&format!("open {}", line["place"]));
                if line["place"] == CLOSE {
                    return Ok(());
                }
            }
            (Some("bye"), _) => {
                write_down("bye");
                return Ok(());
            }
            _ => {}
        }
    }
    Err("the connection broke off".to_owned())
}

fn write_down(line: &str) {
    let Some(path) = std::env::var_os("RINGONCE_STAND_IN_LOG") else { return };
    let written = OpenOptions::new().create(true).append(true).open(path).map(|mut log| writeln!(log, "{line}"));
    // There is nobody to tell: the test misses the line.
    drop(written);
}

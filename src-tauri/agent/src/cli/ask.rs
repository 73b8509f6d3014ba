//! Secrets from standard input. They are never taken from the command line, where other users see them.

use std::io::{BufRead, IsTerminal, Read};

use ringonce_engine::api::view::SecretText;
use ringonce_engine::model::error::{Fault, FaultCode};

/// Longest secret.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// One line of standard input, without its end; on a terminal asked for without showing it.
pub(crate) fn secret(what: &str) -> Result<SecretText, Fault> {
    let broken = |cause: String| {
        Fault::new(
            FaultCode::Secret,
            "Nothing was changed",
            cause,
            format!("give the {what} on a line of standard input"),
        )
    };
    if std::io::stdin().is_terminal() {
        let typed = rpassword::prompt_password(format!("{what}: "));
        return typed.map(text).map_err(|error| broken(format!("the {what} could not be asked for ({error})")));
    }
    let mut line = String::new();
    // `lock` shares its buffer with later calls, so the next line is still there for them.
    let read = std::io::stdin().lock().take(LINE_BYTES_MAX).read_line(&mut line);
    match read {
        Ok(0) => Err(broken(format!("standard input ended before the {what}"))),
        Ok(_) => Ok(text(line.trim_end_matches(['\r', '\n']).to_owned())),
        Err(error) => Err(broken(format!("the {what} could not be read ({error})"))),
    }
}

/// Whether a person can be asked.
pub(crate) fn can_prompt() -> bool {
    std::io::stdin().is_terminal()
}

fn text(secret: String) -> SecretText {
    SecretText(secret.into())
}

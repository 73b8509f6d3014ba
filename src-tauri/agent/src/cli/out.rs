//! Standard output.

use std::io::Write;

use serde_json::Value;

use crate::cli::failure::Done;

/// Prints a line.
pub(crate) fn line(text: &str) -> Done {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{text}")?;
    Ok(stdout.flush()?)
}

/// Prints a JSON value on one line.
pub(crate) fn json(value: &Value) -> Done {
    line(&value.to_string())
}

/// Prints a JSON array row by row, so that a long one is never held whole.
#[derive(Default)]
pub(crate) struct JsonRows {
    rows: usize,
}

impl JsonRows {
    /// Prints more rows.
    pub(crate) fn push(&mut self, rows: &[Value]) -> Done {
        let mut stdout = std::io::stdout().lock();
        for row in rows {
            let before = if self.rows == 0 { "[" } else { "," };
            writeln!(stdout, "{before}{row}")?;
            self.rows += 1;
        }
        Ok(())
    }

    /// Prints the end.
    pub(crate) fn end(self) -> Done {
        line(if self.rows == 0 { "[]" } else { "]" })
    }
}

//! `ringonce duplicates`

use ringonce_engine::api::duplicates::DuplicatesRow;

use crate::cli::failure::Done;
use crate::cli::list::{self, PageArgs};
use crate::cli::time::at;
use crate::cli::{Global, out, words};

pub(crate) async fn run(global: &Global, page: PageArgs) -> Done {
    list::print(global, "duplicates.list", page, "message_key", |rows: &[DuplicatesRow]| {
        rows.iter().try_for_each(print)
    })
    .await
}

fn print(row: &DuplicatesRow) -> Done {
    let subject = words::cut(&words::subject(row.subject.as_deref()), 80);
    out::line(&format!("{}  {subject}", words::short(&row.message_key)))?;
    let kept = &row.kept;
    out::line(&format!("    kept        {}  {} {}", at(Some(&kept.at)), kept.source, words::one_line(&kept.locator)))?;
    for entry in &row.suppressed {
        let times = if entry.times_seen > 1 { format!(", seen {} times", entry.times_seen) } else { String::new() };
        out::line(&format!(
            "    {:<10}  {}  {} {} ({}{times})",
            entry.verdict,
            at(Some(&entry.at)),
            words::one_line(&entry.source),
            words::one_line(&entry.locator),
            words::one_line(&entry.reason)
        ))?;
    }
    Ok(())
}

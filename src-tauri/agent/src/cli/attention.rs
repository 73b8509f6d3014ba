//! `ringonce attention`

use ringonce_engine::api::attention::AttentionRow;

use crate::cli::failure::Done;
use crate::cli::list::{self, PageArgs};
use crate::cli::time::ago;
use crate::cli::{Global, table, words};

pub(crate) async fn run(global: &Global, page: PageArgs) -> Done {
    list::print(global, "attention.list", page, "dispatch_key", |rows: &[AttentionRow]| {
        let cells = |row: &AttentionRow| {
            let status = if row.status == "dead" { "Not delivered" } else { "May not have arrived" };
            vec![
                words::short(&row.dispatch_key),
                status.to_owned(),
                ago(Some(&row.since)),
                row.destination.clone(),
                words::cut(&words::subject(row.subject.as_deref()), 50),
                row.last_error.as_ref().map(words::error).unwrap_or_default(),
            ]
        };
        if rows.is_empty() {
            return Ok(());
        }
        table::print(
            &["ID", "STATUS", "SINCE", "DESTINATION", "SUBJECT", "ERROR"],
            &rows.iter().map(cells).collect::<Vec<_>>(),
        )
    })
    .await
}

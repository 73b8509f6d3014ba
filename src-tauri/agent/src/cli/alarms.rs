//! `ringonce alarms`

use ringonce_engine::api::alarms::AlarmRow;

use crate::cli::failure::Done;
use crate::cli::list::{self, PageArgs};
use crate::cli::time::at;
use crate::cli::{Global, table};

pub(crate) async fn run(global: &Global, page: PageArgs) -> Done {
    list::print(global, "alarms.list", page, "id", |rows: &[AlarmRow]| {
        let cells = |row: &AlarmRow| {
            let until = row.cleared_at.as_deref().map_or("now".to_owned(), |time| at(Some(time)));
            vec![row.id.clone(), at(Some(&row.opened_at)), until, row.text.clone()]
        };
        if rows.is_empty() {
            return Ok(());
        }
        table::print(&["ID", "FROM", "UNTIL", "ALARM"], &rows.iter().map(cells).collect::<Vec<_>>())
    })
    .await
}

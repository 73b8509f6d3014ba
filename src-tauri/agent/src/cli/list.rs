//! Lists that are asked for page by page.

use ringonce_engine::api::view::Page;
use ringonce_engine::limits::{PAGE_ROWS, PAGE_ROWS_MAX};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cli::Global;
use crate::cli::failure::Done;
use crate::cli::out::JsonRows;
use crate::cli::session::{Session, view};

/// Which part of a list.
#[derive(clap::Args)]
pub(crate) struct PageArgs {
    /// Rows at most; 0: all.
    #[arg(long, value_name = "N", default_value_t = PAGE_ROWS)]
    limit: u32,
    /// Begin after this row.
    #[arg(long, value_name = "ID")]
    before: Option<String>,
}

/// Prints a list: as JSON, or each page by `print`. `key` names the field that the list pages by.
pub(crate) async fn print<T: DeserializeOwned>(
    global: &Global,
    method: &str,
    page: PageArgs,
    key: &str,
    mut show: impl FnMut(&[T]) -> Done,
) -> Done {
    let mut session = Session::open(global, method).await?;
    let mut json = JsonRows::default();
    let mut left = if page.limit == 0 { u32::MAX } else { page.limit };
    let mut before = page.before;
    loop {
        let limit = left.min(PAGE_ROWS_MAX);
        let rows = session.call(method, &Page { limit: Some(limit), before: before.take() }).await?;
        let rows: Vec<Value> = view(method, rows)?;
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        before = rows.last().and_then(|row| row.get(key)).and_then(Value::as_str).map(str::to_owned);
        if global.json {
            json.push(&rows)?;
        } else {
            show(&view::<Vec<T>>(method, Value::Array(rows))?)?;
        }
        left -= count.min(left);
        if count < limit || left == 0 || before.is_none() {
            return if global.json { json.end() } else { Ok(()) };
        }
    }
}

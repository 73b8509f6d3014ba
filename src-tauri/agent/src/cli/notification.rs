//! `ringonce retry`, `mark-delivered`, `dismiss`, `redrive`, `notify-again`, `mark-read`

use jiff::Timestamp;
use ringonce_engine::api::mail::MarkReadParams;
use ringonce_engine::api::notification::{Again as AgainView, AgainParams, RedriveParams, Redriven};
use ringonce_engine::api::view::Id;

use crate::cli::failure::Done;
use crate::cli::session::{call, view};
use crate::cli::{Global, out, time};

#[derive(clap::Args)]
pub(crate) struct Which {
    /// Key of the notification, or its first 8 or more digits.
    id: String,
}

#[derive(clap::Args)]
pub(crate) struct Redrive {
    /// Those given up since then: RFC 3339, or how long ago, such as 2h.
    #[arg(long, value_name = "T", value_parser = time::parse)]
    since: Timestamp,
}

#[derive(clap::Args)]
pub(crate) struct Again {
    /// Key of the mail, or its first 8 or more digits.
    message_key: String,
}

#[derive(clap::Args)]
pub(crate) struct MarkRead {
    /// Key of the mail, or its first 8 or more digits.
    message_key: String,
}

pub(crate) async fn mark_read(global: &Global, mark: MarkRead) -> Done {
    let done = call(global, "mail.mark_read", &MarkReadParams { message_key: mark.message_key }).await?;
    if global.json { out::json(&done) } else { Ok(()) }
}

pub(crate) async fn settle(global: &Global, method: &str, which: Which) -> Done {
    let done = call(global, method, &Id { id: which.id }).await?;
    if global.json { out::json(&done) } else { Ok(()) }
}

pub(crate) async fn redrive(global: &Global, redrive: Redrive) -> Done {
    let params = RedriveParams { since: redrive.since.to_string() };
    let done = call(global, "notification.redrive", &params).await?;
    if global.json {
        return out::json(&done);
    }
    let Redriven { redriven } = view("notification.redrive", done)?;
    out::line(&format!("{redriven} put back."))
}

pub(crate) async fn again(global: &Global, again: Again) -> Done {
    let params = AgainParams { message_key: again.message_key };
    let done = call(global, "notification.notify_again", &params).await?;
    if global.json {
        return out::json(&done);
    }
    out::line(&view::<AgainView>("notification.notify_again", done)?.operation_key)
}

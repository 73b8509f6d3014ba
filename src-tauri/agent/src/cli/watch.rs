//! `ringonce watch`

use std::time::Duration;

use ringonce_engine::api::history::WatchRow;
use ringonce_engine::api::view::Nothing;
use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::rpc::Event;

use crate::cli::failure::Done;
use crate::cli::session::{Session, view};
use crate::cli::time::clock;
use crate::cli::{Global, failure, out, words};

/// Nothing may happen for long; then one just asks again.
const EVENT_WAIT: Duration = Duration::from_secs(3600);

pub(crate) async fn run(global: &Global) -> Done {
    let Some(mut client) = Session::open(global, "status.get").await?.into_client() else {
        return Err(Fault::new(
            FaultCode::NotRunning,
            "There is nothing to watch",
            "Ringonce is not running on this data folder",
            "start it with `ringonce run --headless`",
        )
        .into());
    };
    client.call("watch", serde_json::to_value(Nothing {}).unwrap_or_default()).await?;
    loop {
        match client.event(EVENT_WAIT).await? {
            Some(Event::Watch { row }) => print(global, view("watch", row)?)?,
            Some(Event::Missed { count }) => {
                let cause = format!("{count} lines were left out because they were not read in time");
                failure::tell(&Fault::new(FaultCode::Busy, "Not everything is shown", cause, "see `ringonce history`"));
            }
            Some(Event::Changed { .. } | Event::Open { .. } | Event::Bye) | None => {}
        }
    }
}

/// Prints one thing that happened.
pub(crate) fn print(global: &Global, row: WatchRow) -> Done {
    if global.json {
        return out::json(&serde_json::to_value(row).map_err(std::io::Error::from)?);
    }
    let subject = words::cut(&words::subject(row.subject.as_deref()), 60);
    out::line(&format!("{}  {:<6}  {subject}  ({})", clock(&row.at), row.event, words::one_line(&row.reason)))
}

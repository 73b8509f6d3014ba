//! `ringonce wait`

use std::time::{Duration, Instant};

use ringonce_engine::api::wait::{Idle, IdleParams};
use ringonce_engine::model::error::{Fault, FaultCode};

use crate::cli::failure::Done;
use crate::cli::session::{Session, view};
use crate::cli::{Global, out};

#[derive(clap::Args)]
pub(crate) struct Wait {
    /// Also wait for what falls due within the time limit (retries).
    #[arg(long)]
    settled: bool,
    /// Time limit in seconds.
    #[arg(long, value_name = "S", default_value_t = 60)]
    timeout: u64,
}

pub(crate) async fn run(global: &Global, wait: Wait) -> Done {
    let begin = Instant::now();
    let limit = Duration::from_secs(wait.timeout);
    let mut session = Session::open(global, "wait.idle").await?;
    loop {
        let left = limit.saturating_sub(begin.elapsed());
        let params = IdleParams {
            settled: wait.settled,
            within_seconds: wait.timeout,
            wait_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
        };
        let answer = session.call("wait.idle", &params).await?;
        if view::<Idle>("wait.idle", answer.clone())?.idle {
            return if global.json { out::json(&answer) } else { Ok(()) };
        }
        if begin.elapsed() >= limit {
            return Err(Fault::new(
                FaultCode::Busy,
                "Not everything is done",
                format!("something was still due, in hand or held after {} s", wait.timeout),
                "see `ringonce status`",
            )
            .into());
        }
    }
}

//! The client's side of the local socket: for the command line and the window.

use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio_util::codec::{FramedRead, LinesCodec};

use crate::limits::{RPC_ANSWER_BYTES_MAX, RPC_ANSWER_WAIT, RPC_WRITE_WAIT};
use crate::model::error::{Fault, FaultCode};
use crate::net::local;
use crate::rpc::{Answer, Event, Request};

/// A connection to the running program; one call at a time.
pub struct Client {
    lines: FramedRead<OwnedReadHalf, LinesCodec>,
    write: OwnedWriteHalf,
    last_id: u64,
}

impl Client {
    /// Connects to the socket at the path.
    ///
    /// # Errors
    /// Where nobody listens there, or not the same user.
    pub async fn connect(path: &Path) -> std::io::Result<Self> {
        let (read, write) = local::connect(path).await?.into_split();
        let lines = FramedRead::new(read, LinesCodec::new_with_max_length(RPC_ANSWER_BYTES_MAX));
        Ok(Self { lines, write, last_id: 0 })
    }

    /// Calls a method and waits for its answer.
    ///
    /// # Errors
    /// What the method says, or `not_running` where the program ended meanwhile.
    pub async fn call(&mut self, method: &str, params: Value) -> Result<Value, Fault> {
        self.last_id += 1;
        let request = Request { id: self.last_id, method: method.to_owned(), params };
        let mut line = serde_json::to_vec(&request).map_err(|error| lost(&error))?;
        line.push(b'\n');
        let sent = tokio::time::timeout(RPC_WRITE_WAIT, self.write.write_all(&line)).await;
        sent.map_err(|_| lost(&"it does not read"))?.map_err(|error| lost(&error))?;
        let answered = tokio::time::timeout(RPC_ANSWER_WAIT, self.answer(request.id)).await;
        answered.map_err(|_| lost(&"it does not answer"))?
    }

    async fn answer(&mut self, id: u64) -> Result<Value, Fault> {
        loop {
            let line = self.line().await?;
            // Events may come between a call and its answer.
            let Ok(answer) = serde_json::from_str::<Answer>(&line) else { continue };
            if answer.id == id {
                return answer.error.map_or_else(|| Ok(answer.result.unwrap_or_default()), |wire| Err(wire.into()));
            }
        }
    }

    /// The next event after `subscribe` or `watch`; `None` where none came in that time.
    ///
    /// # Errors
    /// `not_running`, where the program ended.
    pub async fn event(&mut self, limit: Duration) -> Result<Option<Event>, Fault> {
        let next = async {
            loop {
                if let Ok(event) = serde_json::from_str::<Event>(&self.line().await?) {
                    return Ok(event);
                }
            }
        };
        tokio::time::timeout(limit, next).await.map_or(Ok(None), |event| event.map(Some))
    }

    /// Leaves, and waits until the program knows: from then on nothing is sent here that would be lost.
    pub async fn leave(mut self) {
        // Where the connection is broken already, the program knows.
        let _ = tokio::time::timeout(RPC_WRITE_WAIT, async {
            if self.write.shutdown().await.is_ok() {
                while self.line().await.is_ok() {}
            }
        })
        .await;
    }

    async fn line(&mut self) -> Result<String, Fault> {
        match self.lines.next().await {
            Some(Ok(line)) => Ok(line),
            Some(Err(error)) => Err(lost(&error)),
            None => Err(lost(&"it has ended")),
        }
    }
}

fn lost(error: &dyn std::fmt::Display) -> Fault {
    Fault::new(
        FaultCode::NotRunning,
        "It is not known whether this was done",
        format!("the connection to the running program broke off ({error})"),
        "see `ringonce status` and try again",
    )
}

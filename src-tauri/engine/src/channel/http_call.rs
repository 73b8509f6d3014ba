//! One message by HTTP: connect, ask the gate, write, read.

use std::time::Duration;

use hyper::StatusCode;
use tokio::time::Instant;
use url::Url;

use crate::channel::{Class, Gate, http_outcome};
use crate::clock::Clock;
use crate::model::error::{Fault, FaultCode};
use crate::model::notification::AttemptOutcome;
use crate::net::error::{NetError, NetErrorKind};
use crate::net::http::{Answer, Client, HttpError, HttpErrorKind, Repeat, Request};

/// Where and how a message goes out.
pub(crate) struct Call<'a> {
    pub(crate) client: &'a Client,
    pub(crate) url: &'a Url,
    pub(crate) class: Class,
    pub(crate) limit: Duration,
    pub(crate) clock: &'a Clock,
}

impl Call<'_> {
    /// Sends a message. The answer is a 2xx; everything else is an outcome already, with `refused` asked first
    /// for what this channel says by its own codes.
    pub(crate) async fn send(
        &self,
        request: Request,
        gate: &dyn Gate,
        refused: impl Fn(&Answer) -> Option<AttemptOutcome>,
    ) -> Result<Answer, AttemptOutcome> {
        let repeat = if matches!(self.class, Class::A { .. }) { Repeat::Harmless } else { Repeat::Harmful };
        let prepared = self.client.prepare(self.url, repeat, Instant::now() + self.limit).await;
        let prepared = prepared.map_err(|error| http_outcome::of_error(&error))?;
        if !gate.open().await {
            return Err(AttemptOutcome::Abandoned);
        }
        let answer = prepared.send(request).await.map_err(|error| http_outcome::of_error(&error))?;
        let outcome = refused(&answer)
            .or_else(|| http_outcome::of_answer(answer.status, &answer.headers, self.class, self.clock.now()));
        outcome.map_or(Ok(answer), Err)
    }

    /// Whether a protected connection to the server can be made; nothing is asked over it.
    pub(crate) async fn connects(&self) -> Result<(), HttpError> {
        let prepared = self.client.prepare(self.url, Repeat::Harmless, Instant::now() + self.limit).await?;
        drop(prepared);
        Ok(())
    }
}

/// Why a destination cannot be used, for people.
pub(crate) fn unreachable(error: &HttpError) -> Fault {
    let consequence = "The destination cannot be reached";
    match error.kind {
        HttpErrorKind::Connect(NetErrorKind::Tls) => Fault::new(
            FaultCode::Tls,
            consequence,
            error.detail.clone(),
            "correct the address, or install the authority's certificate in this system",
        ),
        HttpErrorKind::Connect(kind) => NetError::new(kind, error.detail.clone()).fault(consequence),
        HttpErrorKind::Timeout | HttpErrorKind::Closed => Fault::new(
            FaultCode::Unreachable,
            consequence,
            error.detail.clone(),
            "check the address, and that the server runs",
        ),
        HttpErrorKind::Malformed => {
            Fault::new(FaultCode::Protocol, consequence, error.detail.clone(), "check the address and its port")
        }
    }
}

/// An answer to a question that is not the expected one, for people.
pub(crate) fn refused(status: StatusCode) -> Fault {
    let cause = format!("the server answered {}", status.as_u16());
    match status.as_u16() {
        401 | 403 => Fault::new(
            FaultCode::SignIn,
            "The destination cannot be used",
            cause,
            "give a token that is allowed to use it",
        ),
        _ => Fault::new(FaultCode::Protocol, "The destination cannot be used", cause, "check the address"),
    }
}

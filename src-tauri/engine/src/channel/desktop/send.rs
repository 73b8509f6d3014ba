//! One attempt to show a notification.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use tokio::time::timeout;

use crate::channel::desktop::desk::Shown;
use crate::channel::desktop::service::{Service, absent, unknown, why};
use crate::channel::desktop::{Seat, text};
use crate::channel::{Channel, Class, Configured, Gate, Job, Lookup};
use crate::crash;
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::DispatchKey;
use crate::model::notification::{AttemptOutcome, ChannelError, ErrorCode};

struct Desktop {
    seat: Seat,
    limit: Duration,
}

/// Makes the channel.
pub(super) fn build(configured: Configured) -> Result<Arc<dyn Channel>, Fault> {
    Ok(Arc::new(Desktop { seat: configured.seat, limit: configured.call_timeout / 2 }))
}

impl Desktop {
    /// The service, or why there is none now. A service that does not answer is as good as none.
    async fn service(&self) -> Result<Service, String> {
        match timeout(self.limit, Service::find(&self.seat.desk)).await {
            Ok(found) => found.map_err(|error| why(&error)),
            Err(_) => Err("The notification service of this session does not answer".to_owned()),
        }
    }

    async fn attempt(&self, job: &Job, gate: &dyn Gate) -> AttemptOutcome {
        let service = match self.service().await {
            Ok(service) => service,
            Err(cause) => return absent(cause),
        };
        let key = &job.payload.dispatch_key;
        let replaces = self.seat.desk.number_of(key, &service.name);
        let server = text::Server {
            body: service.can("body"),
            markup: service.can("body-markup"),
            actions: service.can("actions"),
            inhibited: service.inhibited,
        };
        let notification = text::compose(job, server, self.seat.manner, replaces.is_some());
        if !gate.open().await {
            return AttemptOutcome::Abandoned;
        }
        let shown = timeout(self.limit, service.show(&self.seat.desk, &notification, replaces.unwrap_or(0))).await;
        crash::point("bytes_written");
        match shown {
            Ok(Ok((server, number))) => {
                let message_key = job.payload.message_key.clone();
                self.seat.desk.note(Shown { server, number, message_key, dispatch_key: key.clone() });
                AttemptOutcome::Accepted { external_id: Some(number.to_string()) }
            }
            Ok(Err(outcome)) => outcome,
            Err(_) => unknown("The notification service did not say whether it shows it"),
        }
    }
}

impl Channel for Desktop {
    fn class(&self) -> Class {
        Class::C
    }

    fn send<'a>(&'a self, job: &'a Job, gate: &'a dyn Gate) -> BoxFuture<'a, AttemptOutcome> {
        self.attempt(job, gate).boxed()
    }

    fn check(&self) -> BoxFuture<'_, Result<(), Fault>> {
        async {
            self.service().await.map(|_| ()).map_err(|cause| {
                Fault::new(
                    FaultCode::Unreachable,
                    "Nothing can be shown on this computer now",
                    cause,
                    "nothing; it is shown when there is one, and until then it waits",
                )
            })
        }
        .boxed()
    }

    fn lookup<'a>(&'a self, _key: &'a DispatchKey, _sent_at: i64) -> BoxFuture<'a, Lookup> {
        let error = ChannelError::new(ErrorCode::NoAnswer, "A notification service does not say what it has shown");
        ready(Lookup::CannotTell(error)).boxed()
    }
}

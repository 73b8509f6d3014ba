//! The demo: a scripted source that reports a handful of mails, some of them twice and by two paths, the way servers and
//! providers do.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::identity::keys;
use crate::mail::{self, Completeness};
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::{AccountId, DeliveryKey, MailboxId};
use crate::model::mailbox::SpecialUse;
use crate::model::sighting::{Intent, Report, Sighting};
use crate::source::{Context, Exit, HealthState, Source};

/// One report of the script.
struct Step {
    /// Which mail, of [`MAILS`].
    mail: usize,
    /// By which path and at which place.
    seen: Seen,
}

enum Seen {
    /// In a folder, by UIDVALIDITY and UID.
    Folder(u32, u32),
    /// Posted by a provider, as this event.
    Posted(&'static str),
}

/// Author, subject, text; and whether it has a Message-ID.
const MAILS: [(&str, &str, &str, bool); 6] = [
    ("Anna <anna@example.com>", "Lunch on Friday?", "Shall we say noon?", true),
    ("Parcels <parcels@example.com>", "Your parcel arrives today", "Between 10 and 12.", true),
    ("Shop <shop@example.com>", "Invoice 2041", "Thank you for your order.", true),
    ("Backup <backup@example.com>", "Daily report", "All is well.", true),
    ("Backup <backup@example.com>", "Daily report", "All is well.", true),
    ("Printer <printer@example.com>", "Scan", "The scan is attached.", false),
];

const SCRIPT: [Step; 10] = [
    Step { mail: 0, seen: Seen::Folder(1, 1) },
    // The provider posts what IMAP told already.
    Step { mail: 0, seen: Seen::Posted("lunch") },
    Step { mail: 1, seen: Seen::Posted("parcel") },
    // The provider heard no answer and posts once more.
    Step { mail: 1, seen: Seen::Posted("parcel") },
    Step { mail: 2, seen: Seen::Folder(1, 3) },
    // The server numbers its folder anew.
    Step { mail: 2, seen: Seen::Folder(2, 1) },
    // Two mails of one subject and text are two mails.
    Step { mail: 3, seen: Seen::Folder(2, 2) },
    Step { mail: 4, seen: Seen::Folder(2, 3) },
    // Without a Message-ID the content tells.
    Step { mail: 5, seen: Seen::Folder(2, 4) },
    Step { mail: 5, seen: Seen::Posted("scan") },
];

/// Plays the script once, then stays.
pub struct Demo {
    /// The account its mails arrive in.
    pub account_id: AccountId,
    /// Scope of keys.
    pub mailbox_id: MailboxId,
    /// Makes the mails of one run others than those of the last.
    pub run: String,
    /// Between two reports.
    pub pause: Duration,
}

impl Source for Demo {
    fn run(self: Box<Self>, context: Context, stop: CancellationToken) -> BoxFuture<'static, Exit> {
        async move {
            context.health.send_modify(|health| health.state = HealthState::Watching);
            for step in &SCRIPT {
                tokio::select! {
                    () = stop.cancelled() => return Exit::Stopped,
                    () = tokio::time::sleep(self.pause) => {}
                }
                let now_at = context.clock.now();
                let report =
                    Report { sightings: self.sighting(step, now_at).into_iter().collect(), cursor: None, ended: None };
                if let Err(error) = context.sink.report(report).await {
                    let cause = error.to_string();
                    return Exit::Lost(Fault::new(FaultCode::Storage, "The demo broke off", cause, "start it again"));
                }
            }
            context.health.send_modify(|health| health.last_check_at = Some(context.clock.now()));
            stop.cancelled().await;
            Exit::Stopped
        }
        .boxed()
    }
}

impl Demo {
    /// `None`: the script names a mail that is not there.
    fn sighting(&self, step: &Step, now_at: i64) -> Option<Sighting> {
        let (from, subject, text, has_id) = MAILS.get(step.mail)?;
        let message_id =
            if *has_id { format!("Message-ID: <{}.{}@example.com>\n", step.mail, self.run) } else { String::new() };
        // The signature makes the content of one run another than that of the next.
        let raw = format!("{message_id}From: {from}\nSubject: {subject}\n\n{text}\n\n-- \n{}\n", self.run);
        let (source, locator, delivery_key) = self.place(&step.seen);
        Some(Sighting {
            account_id: self.account_id.clone(),
            mailbox_id: self.mailbox_id.clone(),
            delivery_key,
            source: source.to_owned(),
            locator,
            provider_ids: Vec::new(),
            facts: mail::read(raw.as_bytes(), Completeness::Mail),
            received_at: Some(now_at),
            folder: None,
            special_use: SpecialUse::None,
            intent: Intent::Arrival,
        })
    }

    fn place(&self, seen: &Seen) -> (&'static str, String, DeliveryKey) {
        match seen {
            Seen::Folder(uid_validity, uid) => (
                "imap",
                format!("INBOX;UIDVALIDITY={uid_validity};UID={uid}"),
                keys::imap_delivery(&self.account_id, &format!("{}/INBOX", self.run), *uid_validity, *uid),
            ),
            Seen::Posted(event) => {
                ("webhook", format!("event {event}"), keys::webhook_delivery("demo", &format!("{}.{event}", self.run)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::{Notify, watch};

    use super::*;
    use crate::clock::Clock;
    use crate::kernel::Kernel;
    use crate::model::mailbox::Mailbox;
    use crate::source::Health;
    use crate::store::Store;
    use crate::store::table::{mailbox, message};

    #[tokio::test]
    async fn each_mail_is_one_mail_however_often_it_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = Kernel::new(Store::open(folder.path(), 1).unwrap(), Clock::system());
        let demo = |run: &str| Demo {
            account_id: "a".into(),
            mailbox_id: "m".into(),
            run: run.to_owned(),
            pause: Duration::ZERO,
        };
        let new = Mailbox {
            account_id: "a".into(),
            mailbox_id: "m".into(),
            email: "m@example.com".to_owned(),
            imap: None,
            folders: Vec::new(),
            link_template: None,
            paused: false,
        };
        kernel.store.write(move |tx| mailbox::put(tx, &new, 1)).await.unwrap();
        for (run, mails) in [("first", MAILS.len()), ("second", 2 * MAILS.len())] {
            let (health, mut watched) = watch::channel(Health::default());
            let context = Context {
                sink: Arc::new(kernel.clone()),
                health,
                poke: Arc::new(Notify::new()),
                woken: watch::channel(0).1,
                clock: Clock::system(),
            };
            let stop = CancellationToken::new();
            let played = async {
                watched.wait_for(|health| health.last_check_at.is_some()).await.unwrap();
                stop.cancel();
            };
            let (exit, ()) = tokio::join!(Box::new(demo(run)).run(context, stop.clone()), played);
            assert_eq!(exit, Exit::Stopped);
            let rows = kernel.store.read(|read| message::list(read, None, 0, true)).await.unwrap();
            assert_eq!(rows.len(), mails, "after the {run} run");
            assert_eq!(rows.iter().map(|row| row.sightings).sum::<i64>() % 10, 0, "every report was stored");
        }
    }
}

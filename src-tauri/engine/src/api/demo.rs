//! The demo: a mailbox of invented mail, for the curious. It comes and goes as a whole.

use crate::api::Api;
use crate::api::view::Nothing;
use crate::model::error::Fault;
use crate::model::ids::{AccountId, MailboxId};
use crate::model::mailbox::{DEMO_MAILBOX, Mailbox};
use crate::model::topic::Topic;
use crate::store::retention;
use crate::store::table::mailbox;

/// Its address: a name nobody can have (RFC 2606).
const EMAIL: &str = "demo@example.com";

/// Begins the demo; one that runs goes on.
///
/// # Errors
/// `storage`.
pub async fn start(api: &Api, _: Nothing) -> Result<Nothing, Fault> {
    let now_at = api.clock.now();
    let new = Mailbox {
        account_id: AccountId(api.new_id()),
        mailbox_id: MailboxId::from(DEMO_MAILBOX),
        email: EMAIL.to_owned(),
        imap: None,
        folders: Vec::new(),
        paused: false,
        link_template: None,
    };
    api.change(&[Topic::Mailboxes, Topic::Status], move |tx| {
        if !mailbox::list(*tx)?.iter().any(Mailbox::is_demo) {
            mailbox::put(tx, &new, now_at)?;
        }
        Ok(Ok(Nothing {}))
    })
    .await
}

/// Ends the demo and forgets its mail, with whatever was made of it. Where there is none nothing is done.
///
/// # Errors
/// `storage`.
pub async fn stop(api: &Api, _: Nothing) -> Result<Nothing, Fault> {
    let now_at = api.clock.now();
    let topics = [Topic::Mailboxes, Topic::Status, Topic::History, Topic::Duplicates, Topic::Attention];
    api.change(&topics, move |tx| {
        for demo in mailbox::list(*tx)?.into_iter().filter(Mailbox::is_demo) {
            mailbox::mark_removed(tx, &demo.account_id, now_at)?;
        }
        retention::forget_all(tx, DEMO_MAILBOX)?;
        Ok(Ok(Nothing {}))
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::clock::Clock;
    use crate::engine::Engine;
    use crate::secret::kept::KeptSecrets;

    async fn call(api: &Api, method: &str) -> Value {
        api.call(method, json!(null)).await.unwrap()
    }

    #[tokio::test]
    async fn it_shows_each_mail_once_is_in_no_figure_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = |_: Option<&str>| Ok(KeptSecrets::in_memory());
        let engine = Engine::start(folder.path(), secrets, Clock::system()).await.unwrap();
        let (kernel, live) = (engine.kernel().clone(), engine.live().clone());
        let api = Api::new(kernel, Arc::clone(engine.secrets()), Some(live));
        call(&api, "demo.start").await;
        call(&api, "demo.start").await;
        let mailboxes = call(&api, "mailbox.list").await;
        assert_eq!(mailboxes.as_array().unwrap().len(), 1, "started twice it is one: {mailboxes}");
        assert_eq!(mailboxes[0]["demo"], true);
        let history = tokio::time::timeout(Duration::from_secs(30), async {
            loop {
                let rows = call(&api, "history.list").await;
                if rows.as_array().unwrap().iter().any(|row| row["sightings"].as_i64() > Some(1)) {
                    return rows;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        let history = history.await.expect("a mail is reported twice");
        assert_eq!(history[0]["decision"], "silent", "no phone rings: {history}");
        let today = call(&api, "status.get").await["today"].clone();
        assert!(today.as_object().unwrap().values().all(|count| count == 0), "no figure: {today}");
        call(&api, "demo.stop").await;
        assert_eq!(call(&api, "history.list").await, json!([]), "its mail is gone");
        assert_eq!(call(&api, "mailbox.list").await, json!([]));
        assert_eq!(call(&api, "data.verify").await["ok"], true);
        call(&api, "demo.stop").await;
        engine.stop().await;
        let store = crate::store::Store::open(folder.path(), 1).unwrap();
        let left = store.read(|read| crate::store::table::message::list(read, None, 0, true)).await.unwrap();
        assert!(left.is_empty(), "nothing came in late");
    }
}

//! What an owner sets up first, by the command line: mailboxes, destinations, sources, settings.

use ringonce_engine::rpc::reach;
use serde_json::Value;

use crate::support::dovecot::{Dovecot, User};
use crate::support::http_peer::{App, HttpPeer};
use crate::support::program::Program;
use crate::support::webhook_caller::WebhookCaller;

impl Program {
    /// Sets settings, in this order.
    #[track_caller]
    pub fn set(&self, settings: &[(&str, &str)]) {
        for (key, value) in settings {
            self.ok(&["settings", "set", key, value], "");
        }
    }

    /// Waits and limits short enough for a test: a call 2 s, a lease 5 s, every other wait a second.
    #[track_caller]
    pub fn hurry(&self) {
        self.set(&[
            ("processing.call_timeout_seconds", "2"),
            ("processing.lease_seconds", "5"),
            ("retry.backoff_seconds", "1"),
            ("retry.ladder_seconds", "1"),
            ("reconcile.lookup_settle_seconds", "1"),
            // Only what a test asks for is told beside its mails.
            ("alarm.dead_letters", "1000000"),
            ("alarm.oldest_due_seconds", "604800"),
            ("alarm.stale_mailbox_seconds", "604800"),
        ]);
    }

    /// A mailbox that is read from a real server, inside TLS; its id.
    #[track_caller]
    pub fn add_mailbox(&self, dovecot: &Dovecot, user: &User, more: &[&str]) -> String {
        let ca_file = dovecot.ca_file();
        let authority = ["--ca-file", ca_file.to_str().expect("a plain path")];
        self.add_mailbox_at("localhost", dovecot.imaps_port, user, &[&authority, more].concat())
    }

    /// A mailbox that is read from a server anywhere, trusted as said; its id.
    #[track_caller]
    pub fn add_mailbox_at(&self, host: &str, port: u16, user: &User, more: &[&str]) -> String {
        let port = port.to_string();
        let email = format!("{}@localhost", user.name);
        let args = [
            "mailbox",
            "add",
            "--email",
            &email,
            "--host",
            host,
            "--port",
            &port,
            "--username",
            &user.name,
            "--password-stdin",
        ];
        self.ok(&[&args, more].concat(), format!("{}\n", user.password)).id()
    }

    /// A mailbox nobody reads; its id.
    #[track_caller]
    pub fn add_unread_mailbox(&self) -> String {
        self.ok(&["mailbox", "add", "--email", "owner@localhost", "--no-imap"], "").id()
    }

    /// A webhook destination, untested; its id. Two peers are two recipients.
    #[track_caller]
    pub fn add_webhook<A: App>(&self, name: &str, peer: &HttpPeer<A>, more: &[&str]) -> String {
        let url = format!("url={}/hook", peer.url());
        let args = ["destination", "add", "webhook", "--name", name, "--no-test", "--set", &url];
        self.ok(&[&args, more].concat(), "").id()
    }

    /// A webhook destination whose receiver drops copies (class A), untested; its id.
    #[track_caller]
    pub fn add_deduplicating_webhook<A: App>(&self, name: &str, peer: &HttpPeer<A>) -> String {
        self.add_webhook(name, peer, &["--set", "receiver_deduplicates=true"])
    }

    /// An ntfy destination, untested; its id.
    #[track_caller]
    pub fn add_ntfy<A: App>(&self, name: &str, peer: &HttpPeer<A>, more: &[&str]) -> String {
        let server = format!("server={}", peer.url());
        let args = ["destination", "add", "ntfy", "--name", name, "--no-test", "--set", &server, "--set", "topic=mail"];
        self.ok(&[&args, more].concat(), "").id()
    }

    /// A webhook source of a mailbox, as whoever posts to it sees it.
    #[track_caller]
    pub fn add_source(&self, mailbox: &str) -> WebhookCaller {
        let added = self.json(&["source", "add", "webhook", "--mailbox", mailbox]);
        let text = |key: &str| added[key].as_str().unwrap_or_else(|| panic!("no {key}: {added}")).to_owned();
        WebhookCaller::new(&text("url"), &text("secret"))
    }

    /// What the running program answers to a call, as the window makes it.
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Value {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut client = reach::running(self.data_dir()).await.expect("the program runs");
            client.call(method, params).await.unwrap_or_else(|fault| panic!("{method}: {fault}"))
        })
    }

    /// Puts a mail in as if a source had reported it; what came of it.
    #[track_caller]
    pub fn ingest(&self, mailbox: &str, more: &[&str], mail: impl AsRef<[u8]>) -> Value {
        let args = ["ingest", "--json", "--mailbox", mailbox];
        self.ok(&[&args, more, &["-"]].concat(), mail).json()
    }

    /// Waits until nothing is due, in hand, held, or to be tried again soon.
    #[track_caller]
    pub fn settle(&self) {
        self.ok(&["wait", "--settled", "--timeout", "45"], "");
    }

    /// The mail's row of `history`.
    #[track_caller]
    pub fn history_of(&self, message_key: &str) -> Value {
        let rows = self.json(&["history"]);
        let rows = rows.as_array().expect("a list of rows");
        let row = rows.iter().find(|row| row["message_key"] == message_key);
        row.unwrap_or_else(|| panic!("{message_key} is not in the history: {rows:?}")).clone()
    }

    /// What must hold at the end of every story: the data keep every invariant, and for one key at most one attempt
    /// was accepted.
    #[track_caller]
    pub fn assert_sound(&self) {
        let found = self.run(&["verify"], "");
        assert!(found.status.success(), "verify finds: {}\n{}", found.stdout, found.stderr);
        let twice = self.db().rows(
            "SELECT dispatch_key, count(*) AS accepted FROM attempts WHERE outcome = 'accepted'
             GROUP BY dispatch_key HAVING count(*) > 1",
            [],
        );
        assert!(twice.is_empty(), "for one key one accepted attempt: {twice:?}");
    }
}

//! What rings: a real destination of each class of channel, and what its owner was told by it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::http_peer::{HttpPeer, Mode};
use crate::support::ntfy_peer::Ntfy;
use crate::support::program::Program;
use crate::support::receiver::Receiver;

/// The classes of channels: what protects from a second ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The receiver of a webhook drops copies by their key.
    A,
    /// ntfy can be asked what it has.
    B,
    /// The receiver of a webhook takes copies.
    C,
    /// A program of the owner.
    Command,
}

/// A destination's other end.
pub enum Phone {
    /// Of a webhook.
    Webhook(HttpPeer<Receiver>),
    /// An ntfy server.
    Ntfy(HttpPeer<Ntfy>),
    /// The file a command appends to.
    Command(PathBuf),
}

impl Phone {
    /// Starts one and adds it as a destination, named after its class.
    #[must_use]
    pub fn add(program: &Program, class: Class) -> Self {
        let (phone, kind, fields) = match class {
            Class::A => {
                let peer = HttpPeer::start(Receiver::deduplicating());
                let fields = vec![format!("url={}", peer.url()), "receiver_deduplicates=true".to_owned()];
                (Self::Webhook(peer), "webhook", fields)
            }
            Class::B => {
                let peer = HttpPeer::start(Ntfy::new());
                let fields = vec![format!("server={}", peer.url()), "topic=mail".to_owned()];
                (Self::Ntfy(peer), "ntfy", fields)
            }
            Class::C => {
                let peer = HttpPeer::start(Receiver::new());
                let fields = vec![format!("url={}", peer.url())];
                (Self::Webhook(peer), "webhook", fields)
            }
            Class::Command => {
                let file = program.scratch().join("told");
                fs::write(&file, "").expect("a file of our own");
                // One write, so that what is there is whole.
                let script = format!("told=$(cat) && printf \"%s\\n\" \"$told\" >> {}", file.display());
                (Self::Command(file), "command", vec![format!("command=sh -c '{script}'")])
            }
        };
        let name = format!("{class:?}");
        let mut args = vec!["destination", "add", kind, "--no-test", "--name", &name];
        for field in &fields {
            args.extend(["--set", field]);
        }
        program.ok(&args, "");
        phone
    }

    /// What its owner was told, in order: each message's title and the first line of its text.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        let read = |body: &[u8]| line(&serde_json::from_slice(body).expect("JSON"), "body");
        match self {
            Self::Webhook(peer) => peer.app().taken().iter().map(|taken| read(&taken.request.body)).collect(),
            Self::Ntfy(peer) => peer.app().published().iter().map(|message| line(message, "message")).collect(),
            Self::Command(file) => {
                let told = fs::read_to_string(file).expect("the file is there from the start");
                let whole = told.split_inclusive('\n').filter(|line| line.ends_with('\n'));
                whole.map(|line| read(line.as_bytes())).collect()
            }
        }
    }

    /// What happens to each message from now on.
    ///
    /// # Panics
    /// A command has no script.
    pub fn set(&self, mode: Mode) {
        match self {
            Self::Webhook(peer) => peer.set(mode),
            Self::Ntfy(peer) => peer.set(mode),
            Self::Command(_) => panic!("A command has no script"),
        }
    }
}

fn line(message: &Value, body: &str) -> String {
    let text = |key: &str| message[key].as_str().unwrap_or_default();
    format!("{}: {}", text("title"), text(body).lines().next().unwrap_or_default())
}

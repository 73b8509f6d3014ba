//! The receiver of a webhook, with and without memory for keys.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::http::{Answer, Request};
use crate::support::http_peer::{App, HttpPeer};
use crate::support::wait;

/// What a webhook's receiver took.
#[derive(Debug, Clone)]
pub struct Taken {
    /// `Idempotency-Key`, without its quotes.
    pub key: Option<String>,
    /// The id it gave it.
    pub id: String,
    /// When.
    pub at: Instant,
    /// The request.
    pub request: Request,
}

/// The receiver of a webhook. Each delivery it takes is one ring.
#[derive(Default)]
pub struct Receiver {
    /// Whether a key it knows makes no second delivery (class A).
    pub deduplicates: bool,
    /// Whether its answers carry an `id`.
    pub without_ids: bool,
    taken: Vec<Taken>,
    known: HashMap<String, String>,
}

impl Receiver {
    /// One that takes all it is given, copies too (class C).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One that drops copies by their key (class A).
    #[must_use]
    pub fn deduplicating() -> Self {
        Self { deduplicates: true, ..Self::default() }
    }

    /// Every delivery: what the owner was told.
    #[must_use]
    pub fn taken(&self) -> &[Taken] {
        &self.taken
    }

    /// Its window has passed: it knows no key any more.
    pub fn forget_keys(&mut self) {
        self.known.clear();
    }

    fn answer(&self, id: &str) -> Answer {
        if self.without_ids { Answer::status(204) } else { Answer::json(200, &json!({"id": id})) }
    }
}

impl App for Receiver {
    fn take(&mut self, request: &Request) -> Answer {
        let key = request.header("idempotency-key").map(|key| key.trim_matches('"').to_owned());
        if let Some(id) = key.as_ref().filter(|_| self.deduplicates).and_then(|key| self.known.get(key)) {
            return self.answer(id);
        }
        let id = format!("taken-{}", self.taken.len() + 1);
        if let Some(key) = &key {
            self.known.insert(key.clone(), id.clone());
        }
        self.taken.push(Taken { key, id: id.clone(), at: Instant::now(), request: request.clone() });
        self.answer(&id)
    }
}

impl HttpPeer<Receiver> {
    /// Waits until that many deliveries were taken.
    #[track_caller]
    pub fn wait_taken(&self, count: usize, limit: Duration) -> Vec<Taken> {
        wait::until(&format!("{count} deliveries were taken"), limit, || self.app().taken.len() >= count);
        self.app().taken.clone()
    }
}

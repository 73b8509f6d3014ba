//! outbox.

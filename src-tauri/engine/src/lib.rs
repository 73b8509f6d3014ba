//! Ringonce engine: everything that is neither tray nor window. One mail, one ring.
//!
//! # The way of a mail
//!
//! ```text
//!  IMAP IDLE ─┐
//!  safety poll├─▶ Sighting ─▶ identity ─▶ decide ─▶ ONE transaction ─▶ outbox ─▶ channel ─▶ phone / chat
//!  webhook ───┤               (4 keys)    (rules)   delivery · message    │ claim (lease)      │
//!  ingest ────┘                                     identities · operation│ attempt            ▼
//!                                                   outbox rows · cursor  └ settle ◀── accepted · deferred · rejected · unknown
//!                                                                                           │
//!                                                            reconcile (ask the channel) ◀──┘
//! ```
//!
//! Sources only report. [`intake`] resolves a report against what is known, lets [`decide`] judge it, and stores
//! everything that follows in one transaction of the one writer ([`store`]). The right to act comes from the insert
//! of the operation's key and from nowhere else. The notification's text is frozen there ([`payload`], [`notify`]).
//! What comes with much else (after an absence, in a rebuilt folder, around a restored copy) is held until all of it
//! is here, a minute at most, and is then told singly or as a digest, which is a message of Ringonce itself
//! ([`decide::digest`], [`self_message`]).
//! [`outbox`] claims with a lease, records that bytes will leave, calls the [`channel`], and settles with the token of
//! its lease; what nobody knows is asked about, or held for the owner. [`supervise`] keeps everything running that is
//! configured and applies what [`alarm`] finds, [`engine`] starts and stops it, [`api`] is what a front end calls, [`rpc`] carries it over the local
//! socket.
//!
//! # Which way imports go
//!
//! Only up this list: `model clock limits crash words` ← `mail identity decide` ← `secret net` ← `store | source | channel`
//! (these three do not know each other) ← `kernel payload notify self_message alarm intake outbox` ← `supervise engine` ←
//! `api` ← `rpc`. rusqlite is known only to `store`, async-imap only to `source/imap`, mail-parser only to `mail`,
//! keyring only to `secret`, notify-rust only to `channel/desktop`, sockets only to `net`.
//!
//! # Where transactions end
//!
//! - intake: a whole report with its cursor;
//! - claim: leases and attempts of what one lane takes; saved where a row is born leased to a lane that has room;
//! - mark: `payload_started_at`, just before the first byte of the message leaves; saved where the channel drops
//!   repeats of the key (class A, inside its window);
//! - settle: outcome, row, operation, and what follows (fallback, ladder, pause, alarm).
//!
//! # What always holds (`ringonce verify` checks what data can show)
//!
//! 1. For one dispatch key at most one attempt is accepted, unless the owner or the policy "never lost" asked for more.
//! 2. Every mail has a notification for each destination of its decision, a digest that holds it, or a recorded reason
//!    for silence.
//! 3. A folder's cursor never passes a UID that is neither stored nor proven gone nor quarantined with a notice.
//! 4. A key, once recorded, is not deleted while its source could repeat it.
//! 5. No attempt without a claim; no settle by another's token; leases of a dead run are to be rescued, not broken.
//! 6. Nothing changes on the mail server (EXAMINE and PEEK only), but that a mail is marked as read when its owner
//!    pressed the button for it.
//! 7. No secret in the database, the log or an error text.
//! 8. The engine knows neither Tauri nor the tray; channels do not know the database; decide does no I/O.

pub mod alarm;
pub mod api;
pub mod channel;
pub mod clock;
pub mod crash;
pub mod decide;
pub mod engine;
pub mod identity;
pub mod intake;
pub mod kernel;
pub mod limits;
pub mod mail;
pub mod model;
pub mod net;
pub mod notify;
pub mod outbox;
pub mod payload;
pub mod rpc;
pub mod secret;
pub mod self_message;
pub mod source;
pub mod store;
pub mod supervise;
pub mod words;

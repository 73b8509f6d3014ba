//! Every limit of a queue, loop or input, by name.

use std::time::Duration;

/// Identity is computed from this many octets of a mail, after its line ends were made CRLF.
pub const IDENTITY_PREFIX_BYTES: usize = 262_144;
/// Of the canonical body this much is hashed.
pub const CANONICAL_BODY_BYTES_MAX: usize = 65_536;
/// Longest Message-ID that is used.
pub const MESSAGE_ID_BYTES_MAX: usize = 998;
/// Addresses kept of To and Cc.
pub const RECIPIENTS_MAX: usize = 64;
/// Characters kept of a subject or a name for people.
pub const SUBJECT_CHARS_MAX: usize = 998;
/// Characters kept of the text for people.
pub const PREVIEW_CHARS_MAX: usize = 280;
/// MIME parts nested deeper than this are not looked into.
pub const MIME_DEPTH_MAX: usize = 64;

/// Largest webhook body.
pub const WEBHOOK_BODY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// A webhook's timestamp may be this far off.
pub const WEBHOOK_CLOCK_SKEW: Duration = Duration::from_secs(300);
/// Largest answer of a channel that is read.
pub const HTTP_ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// One IMAP line.
pub const IMAP_LINE_BYTES_MAX: usize = 1024 * 1024;
/// One IMAP literal: what is asked for, and slack.
pub const IMAP_LITERAL_BYTES_MAX: usize = IDENTITY_PREFIX_BYTES + 4096;
/// UIDs asked for in one FETCH.
pub const IMAP_PAGE_UIDS: u32 = 200;
/// UIDs each safety poll looks back.
pub const IMAP_LOOK_BACK_UIDS: u32 = 100;
/// Mails recorded as baseline at first sight.
pub const BASELINE_MAILS_MAX: u32 = 2000;
/// Age of mails recorded as baseline at first sight, ms.
pub const BASELINE_AGE_MS_MAX: i64 = 30 * 86_400_000;

/// Jobs that go into one group commit.
pub const GROUP_COMMIT_JOBS_MAX: usize = 512;
/// Jobs that may wait for the writer before a caller has to wait itself.
pub const WRITER_QUEUE_JOBS_MAX: usize = 4096;
/// Calls in hand to one destination.
pub const LANE_CALLS_MAX: usize = 4;
/// Class B and C sends use a connection that was idle at most this long.
pub const IDLE_CONNECTION_MAX: Duration = Duration::from_secs(5);
/// A headerless sighting waits this long for the mail itself, ms.
pub const AWAIT_MAIL_MS: i64 = 30_000;

/// Longest wait for the keyring, which may be asking the owner.
pub const KEYRING_WAIT: Duration = Duration::from_secs(30);
/// Largest file of secrets.
pub const SECRETS_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A command waits this long for a data folder that another program holds.
pub const LOCK_WAIT: Duration = Duration::from_secs(10);
/// Pause between two looks at a held data folder.
pub const LOCK_POLL: Duration = Duration::from_millis(40);
/// Clients of the local socket at one time; more wait.
pub const RPC_CLIENTS_MAX: usize = 64;
/// Calls of one client in hand at one time; more wait.
pub const RPC_CALLS_MAX: usize = 16;
/// Longest request on the local socket (a mail's first part in base64, and slack).
pub const RPC_REQUEST_BYTES_MAX: usize = 1024 * 1024;
/// Longest answer on the local socket (a page of a list).
pub const RPC_ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest wait for the answer to one call.
pub const RPC_ANSWER_WAIT: Duration = Duration::from_secs(180);
/// When the program stops, calls in hand may take this long.
pub const RPC_STOP_WAIT: Duration = Duration::from_secs(5);
/// A client that does not take its answers this long is dropped.
pub const RPC_WRITE_WAIT: Duration = Duration::from_secs(10);
/// Rows of one page of a list; whoever wants more asks again.
pub const PAGE_ROWS_MAX: u32 = 500;
/// Rows of a page where nothing else is asked for.
pub const PAGE_ROWS: u32 = 50;
/// `wait` asks again after this long, so that no call is without end.
pub const SETTLE_WAIT: Duration = Duration::from_secs(10);
/// Things that happened, kept for a slow reader of `watch`.
pub const WATCH_EVENTS_MAX: usize = 1024;

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
/// Notifications on the screen of which a press is understood; of older ones it is not.
pub const DESKTOP_SHOWN_MAX: usize = 256;
/// Presses that are worked on at once.
pub const DESKTOP_PRESSES_MAX: usize = 8;
/// A mail may take this long to be marked as read.
pub const MARK_READ_MAX: Duration = Duration::from_secs(60);
/// Signals of the notification service that may wait for the one who hears them.
pub const DESKTOP_UNHEARD_MAX: usize = 64;
/// A headerless sighting waits this long for the mail itself, ms.
pub const AWAIT_MAIL_MS: i64 = 30_000;
/// A mail that came while nobody looked waits this long for the others, ms.
pub const GATHER_MS: i64 = 60_000;

/// Octets of an answer that brings no mail's text.
pub const IMAP_ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The name, the connection and TLS may take this long together.
pub const IMAP_CONNECT_WAIT: Duration = Duration::from_secs(30);
/// A server may take this long for its first word.
pub const IMAP_GREETING_WAIT: Duration = Duration::from_secs(30);
/// A command may bring no octet for this long.
pub const IMAP_SILENCE_MAX: Duration = Duration::from_secs(60);
/// A command may take this long as a whole.
pub const IMAP_COMMAND_MAX: Duration = Duration::from_secs(600);
/// A server may take this long to begin IDLE.
pub const IMAP_IDLE_START_WAIT: Duration = Duration::from_secs(30);
/// A server may take this long to end IDLE after DONE.
pub const IMAP_DONE_WAIT: Duration = Duration::from_secs(15);
/// Of the time in which a dead line is to be found this much is kept for DONE and for connecting anew.
pub const IMAP_IDLE_PROBE_SHARE: Duration = Duration::from_secs(20);
/// IDLE is asked anew after this long in any case (RFC 2177: before 29 minutes).
pub const IMAP_IDLE_MAX: Duration = Duration::from_secs(28 * 60);
/// Where IDLE is absent or proven silent, the server is asked this often.
pub const IMAP_POLL_WITHOUT_IDLE: Duration = Duration::from_secs(60);
/// IDLE that was proven silent is tried again after this long.
pub const IMAP_IDLE_RETRY_AFTER: Duration = Duration::from_secs(86_400);
/// Shortest and longest pause before a new connection.
pub const IMAP_RECONNECT_WAIT_MIN: Duration = Duration::from_secs(2);
/// See [`IMAP_RECONNECT_WAIT_MIN`].
pub const IMAP_RECONNECT_WAIT_MAX: Duration = Duration::from_secs(80);
/// After a sleep or a change of the network readers connect anew within this, not all at one moment.
pub const IMAP_WAKE_SPREAD: Duration = Duration::from_secs(1);
/// A server that keeps saying no to a sign-in without saying why is asked again after this.
pub const IMAP_REFUSED_AGAIN_AFTER: Duration = Duration::from_secs(900);
/// Sign-ins that may follow each other at once.
pub const IMAP_LOGINS_BURST: u32 = 4;
/// After that, one sign-in in this time.
pub const IMAP_LOGIN_EVERY: Duration = Duration::from_secs(60);
/// LOGOUT may take this long.
pub const IMAP_LOGOUT_WAIT: Duration = Duration::from_secs(2);
/// A server that is only looked at, for the owner who waits for it, may take this long in all.
pub const IMAP_PROBE_WAIT: Duration = Duration::from_secs(15);
/// The same with a sign-in and a list of folders.
pub const IMAP_FOLDERS_WAIT: Duration = Duration::from_secs(60);
/// Counting the mails of those folders may take this long; the rest stays uncounted.
pub const IMAP_COUNT_WAIT: Duration = Duration::from_secs(15);
/// UIDs of one SEARCH whose answer has to fit into one line.
pub const IMAP_SEARCH_UIDS_MAX: u32 = 50_000;
/// Longest wait for the keyring, which may be asking the owner.
pub const KEYRING_WAIT: Duration = Duration::from_secs(30);
/// A locked keyring may ask its owner again after this long, growing to the second.
pub const KEYRING_DIALOG_PAUSE_MIN: Duration = Duration::from_secs(120);
/// See [`KEYRING_DIALOG_PAUSE_MIN`].
pub const KEYRING_DIALOG_PAUSE_MAX: Duration = Duration::from_secs(3600);
/// What needs a secret that cannot be had now looks again after this long.
pub const SECRET_AGAIN_AFTER: Duration = Duration::from_secs(5);
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
/// Longest place in the window that is passed on.
pub const WINDOW_PLACE_BYTES_MAX: usize = 4096;
/// Rows of one page of a list; whoever wants more asks again.
pub const PAGE_ROWS_MAX: u32 = 500;
/// Rows of a page where nothing else is asked for.
pub const PAGE_ROWS: u32 = 50;
/// `wait` asks again after this long, so that no call is without end.
pub const SETTLE_WAIT: Duration = Duration::from_secs(10);
/// Things that happened, kept for a slow reader of `watch`.
pub const WATCH_EVENTS_MAX: usize = 1024;

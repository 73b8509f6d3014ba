//! The watching of one mailbox: connects, catches up, waits, and does it again whatever happens to the line.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use secrecy::SecretString;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::limits;
use crate::model::error::{Fault, FaultCode};
use crate::model::mailbox::{ImapServer, Mailbox, SpecialUse};
use crate::source::imap::desk::Desk;
use crate::source::imap::idle_trust::IdleTrust;
use crate::source::imap::pace::{Backoff, LoginBudget};
use crate::source::imap::place::Place;
use crate::source::imap::session::conn::Line;
use crate::source::imap::session::failure::{Failure, Next};
use crate::source::imap::session::folder;
use crate::source::imap::session::idle::{Why, done, idle};
use crate::source::imap::session::login;
use crate::source::imap::session::reply::ImapError;
use crate::source::imap::watched::{Reader, Watched};
use crate::source::{Context, Exit, HealthState, Method, Source};

/// So often the server refuses the credentials in a row before only the owner can help.
const REFUSALS_MAX: u32 = 2;
/// Where it only says no, which may mean anything, it is asked on, after so many times seldom.
const DOUBTS_MAX: u32 = 4;
/// A session that lasted so long was a good one; a server that turns everybody away after a moment gets longer pauses.
const HEALTHY_AFTER: Duration = Duration::from_secs(10);
/// The safety poll comes this much early, so that two checks are never further apart than the setting says.
const POLL_SHARE: std::ops::Range<f64> = 0.85..0.95;

/// Settings of the reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImapSettings {
    /// Time between two safety polls (`imap.poll_seconds`).
    pub poll: Duration,
    /// A silent line that is dead is found within this (`imap.dead_line_seconds`).
    pub dead_line: Duration,
    /// Mail this much older than the last check of its folder is not rung (`catch_up.old_hours`).
    pub old: Duration,
    /// A gap between two checks from which on it is a catch-up (`catch_up.absence_seconds`).
    pub absence: Duration,
}

/// Watches the folders of one mailbox over IMAP.
#[derive(Debug)]
pub struct ImapSource {
    /// The mailbox; one without `imap` ends at once.
    pub mailbox: Mailbox,
    /// Its password.
    pub password: SecretString,
    /// Settings of the reading.
    pub settings: ImapSettings,
}

impl Source for ImapSource {
    fn run(self: Box<Self>, context: Context, stop: CancellationToken) -> BoxFuture<'static, Exit> {
        Box::pin(async move {
            let Some(server) = self.mailbox.imap.clone() else { return Exit::Stopped };
            let mut watch = Watch::new(*self, server, context, stop.clone());
            let hurried = async {
                stop.cancelled().await;
                // The call in hand may still end by itself; waiting and reading end sooner.
                sleep(limits::IMAP_LOGOUT_WAIT * 2).await;
            };
            tokio::select! {
                exit = watch.run() => exit,
                () = hurried => Exit::Stopped,
            }
        })
    }
}

/// Why a session is over.
enum Over {
    Stopped,
    /// The computer slept, or its network is another one: whether the line still stands is not worth asking.
    Doubtful,
    Broken(Failure),
}

impl From<Failure> for Over {
    fn from(failure: Failure) -> Self {
        Self::Broken(failure)
    }
}

/// Waits until the line is doubtful and another sign-in may be made; without one the line is asked instead (a poke).
async fn doubtful(woken: &mut watch::Receiver<u64>, budget: LoginBudget) {
    loop {
        if woken.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        if budget.wait(Instant::now()).is_zero() {
            return;
        }
    }
}

pub(super) struct Watch {
    server: ImapServer,
    password: SecretString,
    settings: ImapSettings,
    pub(super) desk: Desk,
    pub(super) folders: Vec<Watched>,
    poke: Arc<Notify>,
    pub(super) stop: CancellationToken,
    budget: LoginBudget,
    backoff: Backoff,
    refusals: u32,
    idle_trust: IdleTrust,
    /// Whether the server has X-GUID, once that is known.
    guid: Option<bool>,
    /// The first round of this session is over.
    pub(super) caught_up: bool,
}

impl Watch {
    fn new(source: ImapSource, server: ImapServer, context: Context, stop: CancellationToken) -> Self {
        let ImapSource { mailbox, password, settings } = source;
        let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        let place = |folder: &String| Place {
            account_id: mailbox.account_id.clone(),
            mailbox_id: mailbox.mailbox_id.clone(),
            folder: folder.clone(),
            special_use: SpecialUse::None,
        };
        Self {
            folders: mailbox.folders.iter().map(place).map(Watched::new).collect(),
            poke: context.poke.clone(),
            desk: Desk {
                context,
                old_ms: millis(settings.old),
                absence_ms: millis(settings.absence),
                poll_ms: millis(settings.poll),
                // Not each second where it is asked each second, and fine enough to tell an absence.
                record_check_ms: (millis(settings.poll) / 2).min(millis(settings.absence) / 10),
            },
            server,
            password,
            settings,
            stop,
            budget: LoginBudget::new(Instant::now()),
            backoff: Backoff::default(),
            refusals: 0,
            idle_trust: IdleTrust::default(),
            guid: None,
            caught_up: false,
        }
    }

    async fn run(&mut self) -> Exit {
        loop {
            let over = self.session().await;
            let failure = match over {
                Over::Stopped => return Exit::Stopped,
                Over::Doubtful => {
                    tracing::info!(host = self.server.host, "Connecting anew");
                    self.backoff.reset();
                    if self.pause(limits::IMAP_WAKE_SPREAD.mul_f64(fastrand::f64()), true).await {
                        return Exit::Stopped;
                    }
                    continue;
                }
                Over::Broken(failure) => failure,
            };
            tracing::info!(host = self.server.host, fault = %failure.fault, "No session");
            self.desk.unwell(failure.state(), failure.fault.clone());
            if self.desk.context.woken.has_changed().unwrap_or_default() {
                // What failed until now says nothing of the network that is there now.
                self.desk.context.woken.mark_unchanged();
                self.backoff.reset();
            }
            let mut wait = self.backoff.next();
            match failure.next {
                Next::Retry => {}
                Next::After(asked) => wait = wait.max(asked),
                Next::Owner => return Exit::NeedsOwner(failure.fault),
                Next::Refused { certain } => {
                    self.refusals += 1;
                    if certain && self.refusals >= REFUSALS_MAX {
                        return Exit::NeedsOwner(failure.fault);
                    }
                    if self.refusals >= DOUBTS_MAX {
                        wait = limits::IMAP_REFUSED_AGAIN_AFTER;
                    }
                }
            }
            if self.pause(wait, !matches!(failure.next, Next::Retry)).await {
                return Exit::Stopped;
            }
        }
    }

    /// Waits before the next try; `true`: the source is asked to end. A poke cuts it short unless `whole`.
    pub(super) async fn pause(&self, wait: Duration, whole: bool) -> bool {
        tokio::select! {
            () = self.stop.cancelled() => true,
            () = sleep(wait) => false,
            () = self.poke.notified(), if !whole => false,
        }
    }

    /// One session, from connecting to its end.
    async fn session(&mut self) -> Over {
        let wait = self.budget.wait(Instant::now());
        if !wait.is_zero() && self.pause(wait, true).await {
            return Over::Stopped;
        }
        let mut woken = self.desk.context.woken.clone();
        woken.mark_unchanged();
        let opened = tokio::select! {
            () = self.stop.cancelled() => return Over::Stopped,
            () = doubtful(&mut woken, self.budget) => return Over::Doubtful,
            opened = login::open(&self.server, &self.password) => opened,
        };
        let session = match opened {
            Ok(session) => session,
            Err(failure) => {
                if matches!(failure.next, Next::Refused { .. }) {
                    self.budget.spend(Instant::now());
                }
                return Over::Broken(failure);
            }
        };
        self.budget.spend(Instant::now());
        self.refusals = 0;
        let mut reader = Reader::new(session, self.guid);
        let began = Instant::now();
        let budget = self.budget;
        let over = tokio::select! {
            over = self.watch(&mut reader) => over,
            () = doubtful(&mut woken, budget) => Over::Doubtful,
        };
        self.guid = reader.guid;
        if began.elapsed() >= HEALTHY_AFTER {
            self.backoff.reset();
        }
        if matches!(over, Over::Stopped) {
            reader.session.conn.logout(limits::IMAP_LOGOUT_WAIT).await;
        }
        over
    }

    /// How long IDLE may be silent, so that a dead line is found in time.
    fn silence(&self) -> Duration {
        let limit = self.settings.dead_line;
        limit.saturating_sub(limits::IMAP_IDLE_PROBE_SHARE).max(limit / 2)
    }

    fn broken(&self, error: &ImapError) -> Over {
        Over::Broken(Failure::line(&self.server.host, error))
    }

    async fn watch<S: Line>(&mut self, reader: &mut Reader<S>) -> Over {
        match self.watch_until_broken(reader).await {
            Ok(()) => Over::Stopped,
            Err(error) => self.broken(&error),
        }
    }

    /// `Ok`: the source is asked to end.
    async fn watch_until_broken<S: Line>(&mut self, reader: &mut Reader<S>) -> Result<(), ImapError> {
        self.learn_uses(reader).await?;
        self.caught_up = false;
        for watched in &mut self.folders {
            watched.begin_session();
        }
        self.round(reader).await?;
        loop {
            let due = Instant::now() + self.poll_wait(reader);
            self.background(reader, due).await?;
            if self.stop.is_cancelled() {
                return Ok(());
            }
            if !self.may_idle(reader) {
                if self.pause(due.saturating_duration_since(Instant::now()), false).await {
                    return Ok(());
                }
                self.round(reader).await?;
                continue;
            }
            if self.idle_until(reader, due).await? {
                return Ok(());
            }
        }
    }

    /// Idles and looks, until a round is due; `true`: the source is asked to end.
    async fn idle_until<S: Line>(&mut self, reader: &mut Reader<S>, due: Instant) -> Result<bool, ImapError> {
        loop {
            let (why, tag) = match idle(reader.conn(), due, self.silence(), &self.poke, &self.stop).await {
                Ok(ended) => ended,
                Err(error) if error.session_lives() => {
                    tracing::info!(host = self.server.host, %error, "IDLE was refused; the server is asked instead");
                    self.idle_trust.refused();
                    self.publish(reader);
                    return Ok(false);
                }
                Err(error) => {
                    self.idle_trust.failed(&error);
                    return Err(error);
                }
            };
            self.idle_trust.answered();
            match why {
                Why::Stop | Why::Due => {
                    if let Some(tag) = tag {
                        done(reader.conn(), tag).await?;
                    }
                    if why == Why::Stop {
                        return Ok(true);
                    }
                    let told = reader.conn().grown();
                    let found = self.round(reader).await?;
                    if self.idle_trust.polled(found > 0 && !told) {
                        tracing::warn!(
                            host = self.server.host,
                            "IDLE does not tell of mail; the server is asked instead"
                        );
                    }
                    return Ok(false);
                }
                Why::Mail | Why::Renew | Why::Poked => {
                    let looked = self.look(reader, tag).await?;
                    // What a poke is about may lie in another folder.
                    if !looked || (why == Why::Poked && self.folders.len() > 1) {
                        self.round(reader).await?;
                        return Ok(false);
                    }
                    if why == Why::Mail {
                        self.idle_trust.told();
                    }
                }
            }
            if self.folders.iter().any(Watched::has_backfill) {
                return Ok(false);
            }
        }
    }

    /// What the folders are for. INBOX is for nothing special, so a mailbox of INBOX alone need not ask.
    async fn learn_uses<S: Line>(&mut self, reader: &mut Reader<S>) -> Result<(), ImapError> {
        if self.folders.iter().all(|watched| watched.wire().eq_ignore_ascii_case("INBOX")) {
            return Ok(());
        }
        let known = reader.session.can("SPECIAL-USE");
        let uses = folder::lenient(folder::list(reader.conn(), known).await)?.unwrap_or_default();
        for watched in &mut self.folders {
            watched.place.special_use = SpecialUse::of(uses.get(watched.wire()).and_then(|listed| listed.role));
        }
        Ok(())
    }

    fn may_idle<S: Line>(&self, reader: &Reader<S>) -> bool {
        reader.session.can("IDLE") && self.open_folder().is_some() && self.idle_trust.holds()
    }

    fn poll_wait<S: Line>(&self, reader: &Reader<S>) -> Duration {
        let share = POLL_SHARE.start + (POLL_SHARE.end - POLL_SHARE.start) * fastrand::f64();
        let poll = self.settings.poll.mul_f64(share);
        let all_well = self.may_idle(reader) && self.folders.iter().all(|watched| watched.parked.is_none());
        if all_well { poll } else { poll.min(limits::IMAP_POLL_WITHOUT_IDLE) }
    }

    /// A check was finished: that, and nothing less, is proof of life.
    pub(super) fn publish<S: Line>(&mut self, reader: &Reader<S>) {
        let fault = self.folders.iter().find_map(|watched| watched.parked.clone());
        if self.open_folder().is_none() {
            let fault = fault.unwrap_or_else(|| {
                Fault::new(FaultCode::Invalid, "Nothing is watched", "no folder was chosen", "choose one with --folder")
            });
            self.desk.unwell(HealthState::Failing, fault);
            return;
        }
        let method = if self.may_idle(reader) { Method::Idle } else { Method::Poll };
        self.desk.checked(method, fault);
    }
}

//! The watching of one mailbox: connects, catches up, waits, and does it again whatever happens to the line.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use secrecy::SecretString;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::limits;
use crate::model::error::{Fault, FaultCode};
use crate::model::mailbox::{ImapServer, Mailbox, SpecialUse};
use crate::source::imap::backfill;
use crate::source::imap::catch_up::{Reader, Trouble, Watched, check, wake};
use crate::source::imap::conn::Line;
use crate::source::imap::desk::Desk;
use crate::source::imap::failure::{Failure, Next};
use crate::source::imap::folder;
use crate::source::imap::idle::{Why, done, idle};
use crate::source::imap::login;
use crate::source::imap::pace::{Backoff, LoginBudget};
use crate::source::imap::place::Place;
use crate::source::imap::reply::ImapError;
use crate::source::{Context, Exit, HealthState, Method, Source};

/// So often the server refuses the credentials in a row before only the owner can help: where it says just that, and
/// where it only says no.
const REFUSALS_MAX_CERTAIN: u32 = 2;
const REFUSALS_MAX: u32 = 4;
/// So many safety polls in a row that found what IDLE did not tell prove it silent.
const MISSED_MAX: u32 = 2;
/// The safety poll comes this much early, so that two checks are never further apart than the setting says.
const POLL_SHARE: std::ops::Range<f64> = 0.85..0.95;
/// A mail that was told of and cannot be fetched yet is asked for again after these.
const NOT_YET: [Duration; 3] = [Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(3)];

/// Settings of the reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImapSettings {
    /// Time between two safety polls (`imap.poll_seconds`).
    pub poll: Duration,
    /// Mail this much older than the last check of its folder is not rung (`catch_up.old_hours`).
    pub old: Duration,
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
    Broken(Failure),
}

impl From<Failure> for Over {
    fn from(failure: Failure) -> Self {
        Self::Broken(failure)
    }
}

struct Watch {
    server: ImapServer,
    password: SecretString,
    settings: ImapSettings,
    desk: Desk,
    folders: Vec<Watched>,
    poke: Arc<Notify>,
    stop: CancellationToken,
    budget: LoginBudget,
    backoff: Backoff,
    refusals: u32,
    /// IDLE was refused or proven silent; not tried before this.
    no_idle_until: Option<Instant>,
    missed: u32,
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
            desk: Desk { context, old_ms: millis(settings.old), record_check_ms: millis(settings.poll) / 2 },
            server,
            password,
            settings,
            stop,
            budget: LoginBudget::new(Instant::now()),
            backoff: Backoff::default(),
            refusals: 0,
            no_idle_until: None,
            missed: 0,
        }
    }

    async fn run(&mut self) -> Exit {
        loop {
            let over = self.session().await;
            let failure = match over {
                Over::Stopped => return Exit::Stopped,
                Over::Broken(failure) => failure,
            };
            tracing::info!(host = self.server.host, fault = %failure.fault, "No session");
            self.desk.unwell(failure.state(), failure.fault.clone());
            let mut wait = self.backoff.next();
            match failure.next {
                Next::Retry => {}
                Next::After(asked) => wait = wait.max(asked),
                Next::Owner => return Exit::NeedsOwner(failure.fault),
                Next::Refused { certain } => {
                    self.refusals += 1;
                    if self.refusals >= if certain { REFUSALS_MAX_CERTAIN } else { REFUSALS_MAX } {
                        return Exit::NeedsOwner(failure.fault);
                    }
                }
            }
            if self.pause(wait, !matches!(failure.next, Next::Retry)).await {
                return Exit::Stopped;
            }
        }
    }

    /// Waits before the next try; `true`: the source is asked to end. A poke cuts it short unless `whole`.
    async fn pause(&self, wait: Duration, whole: bool) -> bool {
        let until = Instant::now() + wait;
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return true,
                () = sleep_until(until) => return false,
                () = self.poke.notified(), if !whole => return false,
            }
        }
    }

    /// One session, from connecting to its end.
    async fn session(&mut self) -> Over {
        let wait = self.budget.wait(Instant::now());
        if !wait.is_zero() && self.pause(wait, true).await {
            return Over::Stopped;
        }
        let opened = tokio::select! {
            () = self.stop.cancelled() => return Over::Stopped,
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
        let mut reader = Reader::new(session);
        let over = self.watch(&mut reader).await;
        if matches!(over, Over::Stopped) {
            reader.session.conn.logout(limits::IMAP_LOGOUT_WAIT).await;
        }
        over
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
            let (why, tag) = match idle(reader.conn(), due, &self.poke, &self.stop).await {
                Ok(ended) => ended,
                Err(error) if error.session_lives() => {
                    tracing::info!(host = self.server.host, %error, "IDLE was refused; the server is asked instead");
                    self.no_idle_until = Some(Instant::now() + limits::IMAP_IDLE_RETRY_AFTER);
                    self.publish(reader);
                    return Ok(false);
                }
                Err(error) => return Err(error),
            };
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
                    self.judge_idle(found > 0 && !told);
                    return Ok(false);
                }
                Why::Mail | Why::Renew | Why::Poked => {
                    if !self.look(reader, tag).await? {
                        return Ok(false);
                    }
                    if why == Why::Mail {
                        self.missed = 0;
                    }
                }
            }
            if self.folders.iter().any(Watched::has_backfill) {
                return Ok(false);
            }
        }
    }

    /// Looks into the open folder until what the server told of has come; `false`: look around again.
    async fn look<S: Line>(
        &mut self,
        reader: &mut Reader<S>,
        mut idle: Option<crate::source::imap::conn::Tag>,
    ) -> Result<bool, ImapError> {
        let Some(at) = self.open_folder() else { return Ok(false) };
        let mut not_yet = NOT_YET.iter();
        loop {
            let Some(watched) = self.folders.get_mut(at) else { return Ok(false) };
            let woken = match wake(reader, &self.desk, watched, idle.take()).await {
                Ok(woken) => woken,
                Err(trouble) => return self.park(at, trouble).map(|()| false),
            };
            if woken.unsettled {
                let Some(watched) = self.folders.get_mut(at) else { return Ok(false) };
                match check(reader, &self.desk, watched, false).await {
                    Ok(0) if woken.mails == 0 => {
                        let Some(wait) = not_yet.next() else { break };
                        if self.pause(*wait, true).await {
                            break;
                        }
                        continue;
                    }
                    Ok(_) => {}
                    Err(trouble) => return self.park(at, trouble).map(|()| false),
                }
            }
            if !reader.conn().grown() {
                break;
            }
        }
        self.publish(reader);
        Ok(true)
    }

    /// The folder that is open between rounds: the first that can be opened.
    fn open_folder(&self) -> Option<usize> {
        self.folders.iter().position(|watched| watched.parked.is_none())
    }

    /// Checks every folder, and ends in the one that is watched.
    async fn round<S: Line>(&mut self, reader: &mut Reader<S>) -> Result<u32, ImapError> {
        let mut found = 0;
        // New mail of the first folder is what most owners wait for; it is looked at before and after the others.
        if self.folders.len() > 1 {
            found += self.check(reader, 0).await?;
        }
        for at in 1..self.folders.len() {
            if self.stop.is_cancelled() {
                return Ok(found);
            }
            if self.has_changed(reader, at).await? {
                self.check(reader, at).await?;
            }
        }
        let mut at = 0;
        while at < self.folders.len() {
            found += self.check(reader, at).await?;
            if self.open_folder() == Some(at) {
                break;
            }
            at += 1;
        }
        self.publish(reader);
        Ok(found)
    }

    async fn check<S: Line>(&mut self, reader: &mut Reader<S>, at: usize) -> Result<u32, ImapError> {
        let Some(watched) = self.folders.get_mut(at) else { return Ok(0) };
        match check(reader, &self.desk, watched, true).await {
            Ok(found) => {
                watched.parked = None;
                Ok(found)
            }
            Err(trouble) => self.park(at, trouble).map(|()| 0),
        }
    }

    fn park(&mut self, at: usize, trouble: Trouble) -> Result<(), ImapError> {
        match trouble {
            Trouble::Line(error) => Err(error),
            Trouble::Folder(fault) => {
                if let Some(watched) = self.folders.get_mut(at) {
                    tracing::warn!(folder = watched.wire(), %fault, "A folder cannot be watched now");
                    watched.parked = Some(fault);
                }
                Ok(())
            }
        }
    }

    /// Whether the numbers of a folder that is not open moved; where the server does not tell, it has to be opened.
    async fn has_changed<S: Line>(&mut self, reader: &mut Reader<S>, at: usize) -> Result<bool, ImapError> {
        let Some(watched) = self.folders.get(at) else { return Ok(false) };
        let Some(cursor) = watched.cursor.as_ref().filter(|_| watched.parked.is_none()) else { return Ok(true) };
        let told = folder::lenient(folder::status(reader.conn(), watched.wire()).await)?;
        Ok(told.is_none_or(|numbers| {
            numbers.uid_next != Some(cursor.next_uid) || numbers.uid_validity != Some(cursor.uid_validity)
        }))
    }

    /// Looks through old mail, page by page; new mail goes first.
    async fn background<S: Line>(&mut self, reader: &mut Reader<S>, due: Instant) -> Result<(), ImapError> {
        while !self.stop.is_cancelled() && Instant::now() < due {
            let Some(at) = self.folders.iter().position(Watched::has_backfill) else { return Ok(()) };
            let away = self.open_folder() != Some(at);
            if away {
                self.check(reader, at).await?;
            }
            let Some(watched) = self.folders.get_mut(at) else { return Ok(()) };
            if watched.parked.is_none() {
                match backfill::step(reader, &self.desk, watched).await {
                    Ok(()) => {}
                    Err(trouble) => self.park(at, trouble)?,
                }
            }
            if away {
                let home = self.open_folder().unwrap_or_default();
                self.check(reader, home).await?;
            } else if reader.conn().grown() {
                self.look(reader, None).await?;
            }
        }
        Ok(())
    }

    /// What the folders are for. INBOX is for nothing special, so a mailbox of INBOX alone need not ask.
    async fn learn_uses<S: Line>(&mut self, reader: &mut Reader<S>) -> Result<(), ImapError> {
        if self.folders.iter().all(|watched| watched.wire().eq_ignore_ascii_case("INBOX")) {
            return Ok(());
        }
        let known = reader.session.can("SPECIAL-USE");
        let uses = folder::lenient(folder::list(reader.conn(), known).await)?.unwrap_or_default();
        for watched in &mut self.folders {
            watched.place.special_use = uses.get(watched.wire()).copied().unwrap_or_default();
        }
        Ok(())
    }

    fn may_idle<S: Line>(&self, reader: &Reader<S>) -> bool {
        reader.session.can("IDLE")
            && self.open_folder().is_some()
            && self.no_idle_until.is_none_or(|until| Instant::now() >= until)
    }

    /// Two polls in a row that found what IDLE did not tell: it is not to be trusted (imap.md rule 8).
    fn judge_idle(&mut self, missed: bool) {
        self.missed = if missed { self.missed + 1 } else { 0 };
        if self.missed >= MISSED_MAX {
            tracing::warn!(host = self.server.host, "IDLE does not tell of mail; the server is asked instead");
            self.missed = 0;
            self.no_idle_until = Some(Instant::now() + limits::IMAP_IDLE_RETRY_AFTER);
        }
    }

    fn poll_wait<S: Line>(&self, reader: &Reader<S>) -> Duration {
        let share = POLL_SHARE.start + (POLL_SHARE.end - POLL_SHARE.start) * fastrand::f64();
        let poll = self.settings.poll.mul_f64(share);
        if self.may_idle(reader) { poll } else { poll.min(limits::IMAP_POLL_WITHOUT_IDLE) }
    }

    /// A check was finished: that, and nothing less, is proof of life.
    fn publish<S: Line>(&mut self, reader: &Reader<S>) {
        self.backoff.reset();
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

/// Signs in within the limits of [`login::open`], and once more where the password was refused: some servers know a new
/// user only after a second.
pub(super) async fn open_patiently(
    server: &ImapServer,
    password: &SecretString,
) -> Result<login::Session<crate::net::stream::Stream>, Failure> {
    match login::open(server, password).await {
        Err(Failure { next: Next::Refused { .. }, .. }) => {
            sleep(Duration::from_millis(1500)).await;
            login::open(server, password).await
        }
        opened => opened,
    }
}

/// Ends a session that was opened for a look.
pub(super) async fn close(session: login::Session<crate::net::stream::Stream>) {
    let _ = timeout(limits::IMAP_LOGOUT_WAIT, session.conn.logout(limits::IMAP_LOGOUT_WAIT)).await;
}

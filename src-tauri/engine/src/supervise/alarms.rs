//! The alarms' component: gathers facts, and opens, tells and clears what [`due`] says.
//!
//! While the disk takes nothing, alarms are kept in memory, where `alarms` and `status` show them, and logged; they
//! are stored and told when it can be.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::alarm::due::{self, Disk, Facts, Open, Watched};
use crate::alarm::{self, Alarm, Code, Unstored, tell};
use crate::channel::desktop::{Manner, Seat};
use crate::kernel::Kernel;
use crate::model::destination::{Destination, PauseReason};
use crate::model::ids::DestinationId;
use crate::model::mailbox::Mailbox;
use crate::model::settings::Settings;
use crate::model::topic::Topic;
use crate::outbox::settle::After;
use crate::payload::SELF_MAILBOX;
use crate::store::error::StoreError;
use crate::store::figures::{self, LastSeen};
use crate::store::table::{alarm as table, destination, mailbox};
use crate::store::{Read, Tx};
use crate::supervise::{Supervisor, wanted};

/// How often the facts are looked at, whatever happens.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// And how often at most.
const LOOK_AT_MOST: Duration = Duration::from_millis(200);
/// Where everybody who could be told failed last, they are asked whether they answer: at first, and at last, this often.
const ASK_MIN: Duration = Duration::from_secs(5);
const ASK_MAX: Duration = Duration::from_secs(300);

/// Looks until `stop`.
pub async fn run(supervisor: Supervisor, stop: CancellationToken) {
    let kernel = supervisor.kernel.clone();
    let mut watch = Watch::new(supervisor);
    loop {
        if let Err(error) = watch.look().await {
            tracing::error!("Alarms could not be looked at: {error}");
        }
        let ask = async {
            let answering = watch.ask().await;
            if answering.is_empty() {
                std::future::pending::<()>().await;
            }
            answering
        };
        let answering = tokio::select! {
            () = stop.cancelled() => return,
            answering = ask => answering,
            () = kernel.alarms.look.notified() => {
                tokio::time::sleep(LOOK_AT_MOST).await;
                continue;
            }
            () = tokio::time::sleep(LOOK_EVERY) => continue,
        };
        watch.answering = answering;
    }
}

/// What is remembered between two looks.
struct Watch {
    supervisor: Supervisor,
    /// Since the start; this clock stands still while the computer sleeps.
    began: Instant,
    /// Of each mailbox its last check, and when that was first seen.
    checked: HashMap<String, (Option<i64>, Instant)>,
    /// Failed destinations that were found to answer.
    answering: Vec<DestinationId>,
    /// When failed destinations may be asked again, and the pause after that.
    ask_at: Instant,
    pause: Duration,
}

/// What the database says, read at once.
struct Stored {
    mailboxes: Vec<(Mailbox, LastSeen)>,
    destinations: Vec<Destination>,
    dead: figures::Dead,
    oldest_due_at: Option<i64>,
    open: Vec<table::OpenRow>,
    tellable: bool,
}

impl Watch {
    fn new(supervisor: Supervisor) -> Self {
        let now = Instant::now();
        Self { supervisor, began: now, checked: HashMap::new(), answering: Vec::new(), ask_at: now, pause: ASK_MIN }
    }

    /// Opens, tells and clears what has to be.
    async fn look(&mut self) -> Result<(), StoreError> {
        let kernel = self.supervisor.kernel.clone();
        let now_at = kernel.now();
        let mut stored = kernel.store.read(move |read| stored(read, now_at)).await?;
        let configured = kernel.configuration().await.unwrap_or_default();
        let settings = configured.settings.clone();
        if configured.paused_at(now_at).is_some() {
            // Nobody looks, as the owner wants it.
            stored.mailboxes.clear();
        }
        let unstored = kernel.alarms.unstored();
        let open: Vec<Open> = known(&stored.open, &unstored);
        let due = due::due(&self.facts(&stored, now_at), &open, &settings);
        let answering = std::mem::take(&mut self.answering);
        let as_it_is = differences(&stored.open, &due) == 0 && unstored.is_empty();
        if as_it_is && !stored.tellable && answering.is_empty() {
            return Ok(());
        }
        let (in_job, wanted, waiting) = (kernel.clone(), due.clone(), unstored.clone());
        let done = kernel.store.write(move |tx| apply(tx, &in_job, &wanted, &waiting, &answering)).await;
        match done {
            Ok(after) => {
                kernel.alarms.set_unstored(Vec::new());
                after.tell(&kernel);
            }
            Err(error) => keep(&kernel, &stored.open, unstored, due, &error),
        }
        Ok(())
    }

    fn facts(&mut self, stored: &Stored, now_at: i64) -> Facts {
        let kernel = &self.supervisor.kernel;
        let mut watched = Vec::new();
        for (mailbox, seen) in &stored.mailboxes {
            if mailbox.paused || mailbox.imap.is_none() {
                continue;
            }
            let health = self.supervisor.live.health_of(mailbox.account_id.as_str());
            let last_check_at = health.last_check_at.max(seen.check_at);
            let now = Instant::now();
            let known = self.checked.entry(mailbox.account_id.0.clone()).or_insert((last_check_at, now));
            if known.0 != last_check_at {
                *known = (last_check_at, now);
            }
            watched.push(Watched {
                id: mailbox.account_id.0.clone(),
                email: mailbox.email.clone(),
                state: health.state,
                cause: health.error.map(|fault| fault.cause),
                last_check_at,
                unchecked: known.1.elapsed(),
            });
        }
        self.checked.retain(|id, _| watched.iter().any(|mailbox| &mailbox.id == id));
        let refused = stored.destinations.iter().filter(|one| one.paused == Some(PauseReason::SignIn));
        Facts {
            awake: self.began.elapsed(),
            now_at,
            dead: stored.dead,
            oldest_due_at: stored.oldest_due_at,
            mailboxes: watched,
            refused: refused.map(|one| (one.id.0.clone(), one.name.clone())).collect(),
            disk: kernel.store.trouble().map(|trouble| Disk {
                cause: trouble.error.detail,
                ago: trouble.last.elapsed(),
                over: trouble.over,
            }),
            copies: kernel.alarms.copies(),
        }
    }

    /// Where an alarm waits because everybody failed last: who of them answers now.
    async fn ask(&mut self) -> Vec<DestinationId> {
        let kernel = self.supervisor.kernel.clone();
        let Ok(failed) = kernel.store.read(failed).await else { return Vec::new() };
        if failed.is_empty() {
            self.pause = ASK_MIN;
            return Vec::new();
        }
        if Instant::now() < self.ask_at {
            return Vec::new();
        }
        let limit =
            kernel.configuration().await.map_or(Settings::default().call_timeout, |all| all.settings.call_timeout);
        self.ask_at = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(ASK_MAX);
        let asked = join_all(failed.into_iter().map(|destination| {
            let supervisor = self.supervisor.clone();
            async move {
                let answers = async {
                    let kernel = &supervisor.kernel;
                    let seat = Seat { desk: kernel.desk.clone(), manner: Manner::default() };
                    let made = wanted::build(&kernel.clock, seat, &supervisor.secrets, &destination, limit).await;
                    made.ok()?.check().await.ok()
                };
                let answers = tokio::time::timeout(limit, answers).await.ok().flatten();
                answers.map(|()| destination.id)
            }
        }));
        asked.await.into_iter().flatten().collect()
    }
}

fn stored(read: Read<'_>, now_at: i64) -> Result<Stored, StoreError> {
    let mailboxes = mailbox::list(read)?
        .into_iter()
        .map(|mailbox| figures::last_seen(read, &mailbox.account_id).map(|seen| (mailbox, seen)))
        .collect::<Result<_, _>>()?;
    Ok(Stored {
        mailboxes,
        destinations: destination::list(read)?,
        dead: figures::dead(read, SELF_MAILBOX)?,
        oldest_due_at: figures::oldest_due_at(read, SELF_MAILBOX, now_at)?,
        open: table::list_open(read)?,
        tellable: tell::any_tellable(read)?,
    })
}

/// Destinations that could be told of a waiting alarm if they answered.
fn failed(read: Read<'_>) -> Result<Vec<Destination>, StoreError> {
    if tell::list_untold(read)?.is_empty() {
        return Ok(Vec::new());
    }
    let mut failed = Vec::new();
    for destination in destination::list(read)?.into_iter().filter(|destination| destination.paused.is_none()) {
        if destination::outcome(read, &destination.id)?.1.is_some() {
            failed.push(destination);
        }
    }
    Ok(failed)
}

fn known(stored: &[table::OpenRow], unstored: &[Unstored]) -> Vec<Open> {
    let stored = stored.iter().filter_map(|row| {
        Code::parse(&row.code).map(|code| Open { code, about: row.about.clone(), opened_at: row.opened_at })
    });
    let unstored = unstored.iter().map(|one| Open {
        code: one.alarm.code,
        about: one.alarm.about.clone(),
        opened_at: one.opened_at,
    });
    stored.chain(unstored).collect()
}

fn is(row: &table::OpenRow, alarm: &Alarm) -> bool {
    row.code == alarm.code.as_str() && row.about == alarm.about
}

/// How many alarms have to be opened, worded anew or cleared.
fn differences(open: &[table::OpenRow], due: &[Alarm]) -> usize {
    let missing = due.iter().filter(|alarm| !open.iter().any(|row| is(row, alarm) && row.text == alarm.text)).count();
    missing + over(open, due).len()
}

/// Open alarms that should not be. What the outbox opened it clears itself.
fn over<'a>(open: &'a [table::OpenRow], due: &[Alarm]) -> Vec<&'a table::OpenRow> {
    let ours = open.iter().filter(|row| row.code != Code::Uncertain.as_str());
    ours.filter(|row| !due.iter().any(|alarm| is(row, alarm))).collect()
}

fn apply(
    tx: Tx<'_>,
    kernel: &Kernel,
    due: &[Alarm],
    unstored: &[Unstored],
    answering: &[DestinationId],
) -> Result<After, StoreError> {
    let (now_at, mut after) = (kernel.now(), After::default());
    for row in over(&table::list_open(*tx)?, due) {
        after.alarms |= table::clear(tx, &row.code, &row.about, now_at)?;
    }
    for late in unstored {
        alarm::open(tx, kernel, &late.alarm, None, late.opened_at, &mut after)?;
    }
    for new in due {
        if !alarm::open(tx, kernel, new, None, now_at, &mut after)? {
            table::set_text(tx, new.code.as_str(), &new.about, &new.text)?;
        }
    }
    tell::tell_all(tx, kernel, answering, &mut after)?;
    // What was over before it could be stored was told all the same: the owner missed mails meanwhile.
    for row in over(&table::list_open(*tx)?, due) {
        after.alarms |= table::clear(tx, &row.code, &row.about, now_at)?;
    }
    Ok(after)
}

/// What could not be stored is kept, logged and shown.
fn keep(kernel: &Kernel, open: &[table::OpenRow], mut unstored: Vec<Unstored>, due: Vec<Alarm>, error: &StoreError) {
    let mut due = due;
    if kernel.store.trouble().is_some_and(|trouble| !trouble.over) && !due.iter().any(|one| one.code == Code::Disk) {
        // Found out only by trying to write.
        due.push(Alarm {
            code: Code::Disk,
            about: String::new(),
            text: format!("Nothing can be stored: {}", error.detail),
        });
    }
    for new in due {
        let known = unstored.iter().any(|one| one.alarm.code == new.code && one.alarm.about == new.about);
        if !known && !open.iter().any(|row| is(row, &new)) {
            tracing::error!(code = new.code.as_str(), "Alarm: {}", new.text);
            unstored.push(Unstored { alarm: new, opened_at: kernel.now() });
        }
    }
    kernel.alarms.set_unstored(unstored);
    kernel.changed(&[Topic::Alarms, Topic::Status]);
}

//! One server's row: the same story told on each.

use std::time::{Duration, Instant};

use crate::support::dovecot::User;
use crate::support::imap_session::ImapSession;
use crate::support::mail::Mail;
use crate::support::phone::{Class, Phone};
use crate::support::program::{Program, Running};
use crate::support::wait::{self, secs};

const LIMIT: Duration = secs(60);
/// How many sessions of a user the servers are told to take.
pub(crate) const SESSIONS: usize = 5;

/// What differs between servers.
pub(crate) trait Server {
    fn name(&self) -> &'static str;
    fn port(&self) -> u16;
    fn user(&self) -> User;
    /// Gives INBOX another UIDVALIDITY; `false`: there is no way to.
    fn renumber(&mut self) -> bool;
    /// Ends and starts it; what it is called. `None`: it keeps no mails over that.
    fn restart(&mut self) -> Option<&'static str>;
    /// Whether it was told to take no more than [`SESSIONS`].
    fn is_limited(&self) -> bool;
}

struct Story<'a> {
    server: &'a mut dyn Server,
    program: Program,
    phone: Phone,
    rung: usize,
}

/// Tells the story and prints the row.
pub(crate) fn tell(server: &mut dyn Server) {
    let program = Program::new();
    login(server).command("CREATE Work");
    let user = server.user();
    let folders = ["--tls", "none", "--folder", "INBOX", "--folder", "Work"];
    program.add_mailbox_at("127.0.0.1", server.port(), &user, &folders);
    let phone = Phone::add(&program, Class::A);
    let mut story = Story { server, program, phone, rung: 0 };
    let mut running = story.program.start_headless();
    let mut idle: Vec<Duration> = (0..5).map(|n| story.rings("INBOX", &format!("Idle {n}"))).collect();
    idle.sort();
    assert!(running.stop().success());
    story.program.set(&[("imap.poll_seconds", "1")]);
    let (mut running, caught_up) = story.away();
    let renumbered = story.renumbered(&mut running);
    let made_again = story.made_again();
    let restarted = story.restarted();
    let limited = story.limited(&mut running);
    assert!(running.stop().success());
    story.program.assert_sound();
    eprintln!(
        "| {:8} | IDLE {} | catch-up {} | UIDVALIDITY {renumbered} | folder made again {} | restart {restarted} | limit {limited} |",
        story.server.name(),
        shown(idle[idle.len() / 2]),
        shown(caught_up),
        shown(made_again),
    );
}

impl Story<'_> {
    fn append(&self, folder: &str, subject: &str) {
        login(self.server).append(folder, &Mail::new(subject).bytes());
    }

    /// The mail rings once, and nothing else did.
    #[track_caller]
    fn wait_rung(&mut self, subject: &str, since: Instant) -> Duration {
        self.rung += 1;
        let told = format!("Ada: {subject}");
        let what = format!("{} rings on {}", subject, self.server.name());
        wait::until(&what, LIMIT, || self.phone.told().contains(&told));
        let took = since.elapsed();
        assert_eq!(self.phone.told().len(), self.rung, "each rings once: {:?}", self.phone.told());
        took
    }

    #[track_caller]
    fn rings(&mut self, folder: &str, subject: &str) -> Duration {
        self.append(folder, subject);
        self.wait_rung(subject, Instant::now())
    }

    /// What comes while the program does not run rings when it does.
    fn away(&mut self) -> (Running, Duration) {
        self.append("INBOX", "While away");
        let since = Instant::now();
        let running = self.program.start_headless();
        (running, self.wait_rung("While away", since))
    }

    fn renumbered(&mut self, running: &mut Running) -> String {
        assert!(running.stop().success());
        let possible = self.server.renumber();
        self.append("INBOX", "In a renumbered folder");
        let since = Instant::now();
        *running = self.program.start_headless();
        let took = self.wait_rung("In a renumbered folder", since);
        if possible { shown(took) } else { "not on demand".to_owned() }
    }

    fn made_again(&mut self) -> Duration {
        self.rings("Work", "Before");
        let mut session = login(self.server);
        session.command("DELETE Work");
        session.command("CREATE Work");
        drop(session);
        self.rings("Work", "In the one made again")
    }

    fn restarted(&mut self) -> String {
        let Some(how) = self.server.restart() else { return "forgets its mails".to_owned() };
        let took = self.rings("INBOX", "After a restart");
        format!("{} ({how})", shown(took))
    }

    /// Others use up the sessions while the program starts: it waits, and it does not take that for a wrong password.
    fn limited(&mut self, running: &mut Running) -> String {
        if !self.server.is_limited() {
            return "none".to_owned();
        }
        assert!(running.stop().success());
        let user = self.server.user();
        let mut others: Vec<ImapSession> = Vec::new();
        wait::until("others have all sessions", LIMIT, || {
            let mut session = ImapSession::connect(self.server.port());
            if session.try_login(&user).is_ok() {
                others.push(session);
            }
            others.len() == SESSIONS
        });
        others[0].append("INBOX", &Mail::new("Over the limit").bytes());
        *running = self.program.start(&["run", "--headless"]);
        let refused = || running.log().matches("No session").count();
        wait::until("it was turned away more than once", LIMIT, || refused() >= 5);
        let status = self.program.json(&["status"]);
        let state = status["mailboxes"][0]["state"].as_str().unwrap_or_default().to_owned();
        assert_ne!(state, "sign_in", "too many sessions are no wrong password: {status}");
        drop(others);
        let since = Instant::now();
        format!("{} after there is room ({state})", shown(self.wait_rung("Over the limit", since)))
    }
}

fn login(server: &dyn Server) -> ImapSession {
    let mut session = ImapSession::connect(server.port());
    session.login(&server.user());
    session
}

fn shown(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

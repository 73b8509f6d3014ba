//! What a notification says, as its server takes it.

use notify_rust::{Hint, Notification, Urgency};

use crate::channel::Job;
use crate::channel::desktop::{Action, Manner};
use crate::channel::text::cut_bytes;
use crate::model::message::SELF_MAILBOX;
use crate::words;

/// Longer ones are cut by every server, somewhere.
pub(super) const SUMMARY_BYTES_MAX: usize = 250;
/// The same.
pub(super) const BODY_BYTES_MAX: usize = 2048;

/// What a server can do with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Server {
    /// It shows a body.
    pub(super) body: bool,
    /// It takes the body for markup.
    pub(super) markup: bool,
    /// It can be pressed.
    pub(super) actions: bool,
    /// Do-not-disturb is on; `None`: it does not say.
    pub(super) inhibited: Option<bool>,
}

/// The notification of a job. `again`: it takes its own place on the screen, so it is no repeat to the eye.
pub(super) fn compose(job: &Job, server: Server, manner: Manner, again: bool) -> Notification {
    let payload = &job.payload;
    let mark = if job.may_be_repeat && !again { words::may_be_repeat(manner.language) } else { "" };
    let mut summary = format!("{mark}{}", payload.title);
    if let Some(line) = payload.body.lines().next().filter(|line| !server.body && *line != payload.title) {
        summary = format!("{summary}: {line}");
    }
    let body = cut_bytes(&payload.body, BODY_BYTES_MAX);
    let mut notification = Notification::new();
    notification
        .appname("Ringonce")
        .icon("ringonce")
        .summary(&cut_bytes(&summary, SUMMARY_BYTES_MAX))
        .body(if server.markup { escaped(&body) } else { body }.as_str())
        .hint(Hint::DesktopEntry("ringonce".to_owned()))
        .hint(Hint::Urgency(urgency(server, manner)));
    if payload.mailbox_id.as_str() != SELF_MAILBOX {
        notification.hint(Hint::Category("email.arrived".to_owned()));
    }
    let silent = !manner.sound || (manner.respect_do_not_disturb && server.inhibited == Some(true));
    notification.hint(if silent { Hint::SuppressSound(true) } else { Hint::SoundName("message-new-email".to_owned()) });
    if server.actions {
        notification.action(Action::ITSELF, words::open(manner.language));
        // What Ringonce says of itself stands on no mail server.
        if payload.mailbox_id.as_str() != SELF_MAILBOX {
            notification.action(Action::MarkRead.key(), words::mark_read(manner.language));
        }
        notification.action(Action::Open.key(), words::open(manner.language));
    }
    notification
}

/// Do-not-disturb is the server's own: it holds back what is not critical. Where the owner does not want that, a
/// notification is critical while it is on, and on a server that does not say whether it is, always.
fn urgency(server: Server, manner: Manner) -> Urgency {
    if manner.respect_do_not_disturb || server.inhibited == Some(false) { Urgency::Normal } else { Urgency::Critical }
}

/// Text as markup that says just that text.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::trial::job;
    use crate::words::Language;

    const SERVER: Server = Server { body: true, markup: true, actions: true, inhibited: None };
    const MANNER: Manner = Manner { sound: true, respect_do_not_disturb: true, language: Language::En };

    fn with(title: &str, body: &str) -> Job {
        let mut job = job();
        (job.payload.title, job.payload.body) = (title.to_owned(), body.to_owned());
        job
    }

    #[test]
    fn a_mail_never_speaks_markup() {
        let check = |server: Server, title: &str, body: &str, expected: (&str, &str)| {
            let made = compose(&with(title, body), server, MANNER, false);
            assert_eq!((made.summary.as_str(), made.body.as_str()), expected, "{server:?}");
        };
        let plain = Server { markup: false, ..SERVER };
        let bare = Server { body: false, ..SERVER };
        let evil = "<img src=\"file:///etc\"/> & <b>x</b>";
        check(SERVER, "A & B", evil, ("A & B", "&lt;img src=\"file:///etc\"/&gt; &amp; &lt;b&gt;x&lt;/b&gt;"));
        check(plain, "A & B", evil, ("A & B", evil));
        check(SERVER, "A", "&amp;", ("A", "&amp;amp;"));
        check(bare, "Anna", "Hello\nmore", ("Anna: Hello", "Hello\nmore"));
        check(bare, "New mail", "", ("New mail", ""));
    }

    #[test]
    fn long_texts_are_cut_before_they_are_escaped() {
        let made = compose(&with(&"ö".repeat(300), &"&".repeat(5000)), SERVER, MANNER, false);
        assert!(made.summary.len() <= SUMMARY_BYTES_MAX && made.summary.ends_with('…'), "{}", made.summary);
        assert!(made.body.ends_with("&amp;…"), "no entity is cut in two");
    }

    #[test]
    fn buttons_are_there_where_they_can_be_pressed_and_mean_something() {
        let check = |server: Server, mailbox: &str, language: Language, expected: &[&str]| {
            let mut job = job();
            job.payload.mailbox_id = mailbox.into();
            let made = compose(&job, server, Manner { language, ..MANNER }, false);
            assert_eq!(made.actions, expected, "{mailbox} {language:?}");
        };
        let mail = ["default", "Open", "mark-read", "Mark read", "open", "Open"];
        check(SERVER, "owner@example.com", Language::En, &mail);
        let russian = ["default", "Открыть", "mark-read", "Прочитано", "open", "Открыть"];
        check(SERVER, "owner@example.com", Language::Ru, &russian);
        check(SERVER, SELF_MAILBOX, Language::En, &["default", "Open", "open", "Open"]);
        check(Server { actions: false, ..SERVER }, "owner@example.com", Language::En, &[]);
    }

    #[test]
    fn sound_and_do_not_disturb_are_as_the_owner_wants() {
        let check = |sound: bool, respect: bool, inhibited: Option<bool>, urgency: Urgency, sounds: bool| {
            let manner = Manner { sound, respect_do_not_disturb: respect, ..MANNER };
            let made = compose(&job(), Server { inhibited, ..SERVER }, manner, false);
            let what = format!("sound {sound}, respect {respect}, inhibited {inhibited:?}");
            assert!(made.hints.contains(&Hint::Urgency(urgency)), "{what}: {:?}", made.hints);
            let (on, off) = (Hint::SoundName("message-new-email".to_owned()), Hint::SuppressSound(true));
            assert_eq!((made.hints.contains(&on), made.hints.contains(&off)), (sounds, !sounds), "{what}");
        };
        check(true, true, None, Urgency::Normal, true);
        check(true, true, Some(false), Urgency::Normal, true);
        check(true, true, Some(true), Urgency::Normal, false);
        check(true, false, Some(true), Urgency::Critical, true);
        check(true, false, Some(false), Urgency::Normal, true);
        check(true, false, None, Urgency::Critical, true);
        check(false, true, None, Urgency::Normal, false);
        check(false, false, Some(true), Urgency::Critical, false);
    }

    #[test]
    fn only_what_rings_again_is_called_a_repeat() {
        let check = |language: Language, again: bool, expected: &str| {
            let job = Job { may_be_repeat: true, ..with("Anna", "x") };
            let made = compose(&job, SERVER, Manner { language, ..MANNER }, again);
            assert_eq!(made.summary, expected);
        };
        check(Language::En, false, "May be a repeat: Anna");
        check(Language::Pl, false, "Być może powtórka: Anna");
        check(Language::En, true, "Anna");
    }
}

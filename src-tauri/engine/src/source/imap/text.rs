//! From octets to what is told of a mail.

use crate::model::message::MailFacts;

pub(super) fn whole(prefix: &[u8]) -> MailFacts {
    facts(prefix)
}

pub(super) fn header(header: &[u8]) -> MailFacts {
    facts(header)
}

fn facts(octets: &[u8]) -> MailFacts {
    let text = String::from_utf8_lossy(octets);
    let get = |name: &str| text.lines().find_map(|line| line.strip_prefix(name).map(|v| v.trim().to_owned()));
    MailFacts {
        subject: get("Subject:"),
        message_id: get("Message-ID:"),
        from_address: get("From:"),
        ..MailFacts::default()
    }
}

//! The JSON that the channels `webhook` and `command` hand over.

use serde::Serialize;

use crate::channel::Job;

/// Its fields, in their order; part of the contract with whoever receives it.
#[derive(Serialize)]
struct Body<'a> {
    message_key: &'a str,
    operation_key: &'a str,
    dispatch_key: &'a str,
    title: &'a str,
    body: &'a str,
    from: &'a str,
    subject: &'a str,
    mailbox_id: &'a str,
    sent_at: &'a str,
    link: &'a str,
    may_be_repeat: bool,
}

/// The bytes for one attempt: the same for every attempt of a key, but for the mark of a possible repeat.
pub(crate) fn bytes(job: &Job) -> Vec<u8> {
    let payload = &job.payload;
    let body = Body {
        message_key: payload.message_key.as_str(),
        operation_key: payload.operation_key.as_str(),
        dispatch_key: payload.dispatch_key.as_str(),
        title: &payload.title,
        body: &payload.body,
        from: &payload.from,
        subject: &payload.subject,
        mailbox_id: payload.mailbox_id.as_str(),
        sent_at: &payload.sent_at,
        link: &payload.link,
        may_be_repeat: job.may_be_repeat,
    };
    // Strings and one bool: there is nothing in it that JSON cannot say.
    serde_json::to_vec(&body).unwrap_or_default()
}

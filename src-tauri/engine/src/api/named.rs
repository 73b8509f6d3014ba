//! Finds what the owner named: by id, else by the owner's own name for it where that is unique.

use crate::api::{invalid, not_found};
use crate::model::destination::{Destination, Route};
use crate::model::error::{Fault, FaultCode};
use crate::model::ids::MessageKey;
use crate::model::mailbox::Mailbox;
use crate::store::Read;
use crate::store::error::StoreError;
use crate::store::figures::messages_by_prefix;
use crate::store::table::outbox::OutboxRow;
use crate::store::table::{destination, mailbox, message, operation, outbox, route};

/// Shortest part of a key that may stand for it.
const PREFIX_CHARS_MIN: usize = 8;

/// What a query gives where the owner may have named something that is not there.
pub(super) type Named<T> = Result<Result<T, Fault>, StoreError>;

/// A mailbox, by account id, address or scope.
pub(super) fn mailbox(read: Read<'_>, name: &str) -> Named<Mailbox> {
    let all = mailbox::list(read)?;
    let by_name = |m: &Mailbox| m.email.eq_ignore_ascii_case(name) || m.mailbox_id.as_str() == name;
    Ok(one(all, |m| m.account_id.as_str() == name, by_name, "mailbox", name))
}

/// The same, but for the demo: its mail is invented, and its end would take other mail along.
pub(super) fn own_mailbox(read: Read<'_>, name: &str) -> Named<Mailbox> {
    let found = mailbox(read, name)?;
    Ok(match found {
        Ok(found) if found.is_demo() => {
            Err(invalid("no other mail can come to the demo", "name a mailbox of your own"))
        }
        other => other,
    })
}

/// A destination, by id or name.
pub(super) fn destination(read: Read<'_>, name: &str) -> Named<Destination> {
    let all = destination::list(read)?;
    Ok(one(all, |d| d.id.as_str() == name, |d| d.name == name, "destination", name))
}

/// A route, by id or name.
pub(super) fn route(read: Read<'_>, name: &str) -> Named<Route> {
    let all = route::list(read)?;
    Ok(one(all, |r| r.id.as_str() == name, |r| r.name == name, "route", name))
}

/// A notification, by its key or a unique part of that from its beginning.
pub(super) fn notification(read: Read<'_>, key: &str) -> Named<OutboxRow> {
    if !is_key_prefix(key) {
        return Ok(Err(no_key(key)));
    }
    let mut found = outbox::by_prefix(read, key)?;
    Ok(match (found.pop(), found.pop()) {
        (Some(row), None) => Ok(row),
        (None, _) => Err(not_found("notification", key, "history")),
        (Some(_), Some(_)) => Err(ambiguous(key)),
    })
}

/// A mail, by its key, by that of one of its notifications, or by a unique part of either from its beginning.
pub(super) fn message(read: Read<'_>, key: &str) -> Named<MessageKey> {
    if message::exists(read, &key.into())? {
        return Ok(Ok(key.into()));
    }
    if !is_key_prefix(key) {
        return Ok(Err(no_key(key)));
    }
    let mut found = messages_by_prefix(read, key)?;
    for row in outbox::by_prefix(read, key)? {
        found.extend(operation::get(read, &row.operation_key)?.map(|operation| operation.message_key));
    }
    found.sort();
    found.dedup();
    Ok(match (found.pop(), found.pop()) {
        (Some(key), None) => Ok(key),
        (None, _) => Err(not_found("mail or notification", key, "history")),
        (Some(_), Some(_)) => Err(ambiguous(key)),
    })
}

fn is_key_prefix(key: &str) -> bool {
    key.len() >= PREFIX_CHARS_MIN && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn no_key(key: &str) -> Fault {
    Fault::new(
        FaultCode::Invalid,
        "Nothing was done",
        format!("{key:?} is not a key"),
        format!("give {PREFIX_CHARS_MIN} or more of its first hex digits, as `ringonce history` shows them"),
    )
}

fn ambiguous(key: &str) -> Fault {
    Fault::new(FaultCode::Invalid, "Nothing was done", format!("several keys begin with {key}"), "give more digits")
}

fn one<T>(
    all: Vec<T>,
    is_id: impl Fn(&T) -> bool,
    is_name: impl Fn(&T) -> bool,
    what: &str,
    name: &str,
) -> Result<T, Fault> {
    let mut named = Vec::new();
    for item in all {
        if is_id(&item) {
            return Ok(item);
        }
        if is_name(&item) {
            named.push(item);
        }
    }
    match (named.pop(), named.pop()) {
        (Some(item), None) => Ok(item),
        (None, _) => Err(not_found(what, name, &format!("{what} list"))),
        (Some(_), Some(_)) => Err(Fault::new(
            FaultCode::Invalid,
            "Nothing was done",
            format!("several have the name {name:?}"),
            format!("give the id, as `ringonce {what} list` shows it"),
        )),
    }
}

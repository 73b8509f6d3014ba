//! The table of methods: what a front end may call, and what that needs.

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::api::{
    Api, alarms, attention, data, destination, destination_form, doctor, duplicates, explain, give, history, ingest,
    mailbox, notification, parse, route, rule, settings, source, status, wait,
};
use crate::model::error::Fault;

/// What a method does with the data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only looks: it works without the lock.
    Read,
    /// It writes: without a running program it needs the lock.
    Write,
}

/// One method.
pub struct Method {
    /// `page.verb`.
    pub name: &'static str,
    /// What it does with the data folder.
    pub access: Access,
    /// Calls it with parameters as JSON.
    pub call: for<'a> fn(&'a Api, Value) -> BoxFuture<'a, Result<Value, Fault>>,
}

macro_rules! method {
    ($name:literal, $access:ident, $function:path) => {
        Method {
            name: $name,
            access: Access::$access,
            call: |api, params| Box::pin(async move { give($function(api, parse(params)?).await) }),
        }
    };
}

/// Every method, by page.
pub const METHODS: &[Method] = &[
    method!("mailbox.add", Write, mailbox::add),
    method!("mailbox.set", Write, mailbox::set),
    method!("mailbox.test", Write, mailbox::test),
    method!("mailbox.list", Read, mailbox::list),
    method!("mailbox.pause", Write, mailbox::pause),
    method!("mailbox.resume", Write, mailbox::resume),
    method!("mailbox.remove", Write, mailbox::remove),
    method!("destination.add", Write, destination_form::add),
    method!("destination.set", Write, destination_form::set),
    method!("destination.test", Write, destination_form::test),
    method!("destination.remove", Write, destination_form::remove),
    method!("destination.list", Read, destination::list),
    method!("destination.pause", Write, destination::pause),
    method!("destination.resume", Write, destination::resume),
    method!("destination.kinds", Read, destination::kinds),
    method!("source.add", Write, source::add),
    method!("source.list", Read, source::list),
    method!("source.remove", Write, source::remove),
    method!("route.add", Write, route::add),
    method!("route.list", Read, route::list),
    method!("route.remove", Write, route::remove),
    method!("rule.add", Write, rule::add),
    method!("rule.list", Read, rule::list),
    method!("rule.move", Write, rule::r#move),
    method!("rule.remove", Write, rule::remove),
    method!("rule.try", Read, rule::r#try),
    method!("settings.list", Read, settings::list),
    method!("settings.get", Read, settings::get),
    method!("settings.set", Write, settings::set),
    method!("settings.secrets", Read, settings::secrets),
    method!("status.get", Read, status::get),
    method!("history.list", Read, history::list),
    method!("duplicates.list", Read, duplicates::list),
    method!("attention.list", Read, attention::list),
    method!("alarms.list", Read, alarms::list),
    method!("explain.get", Read, explain::get),
    method!("notification.retry", Write, notification::retry),
    method!("notification.mark_delivered", Write, notification::mark_delivered),
    method!("notification.dismiss", Write, notification::dismiss),
    method!("notification.redrive", Write, notification::redrive),
    method!("notification.notify_again", Write, notification::notify_again),
    method!("ingest.put", Write, ingest::put),
    method!("wait.idle", Read, wait::idle),
    method!("doctor.run", Read, doctor::run),
    method!("data.verify", Read, data::verify),
    method!("data.export", Write, data::export),
    method!("data.prune", Write, data::prune),
];

/// The method of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_page_and_verb_and_unique() {
        let mut seen = BTreeSet::new();
        for method in METHODS {
            assert!(method.name.split('.').count() == 2, "{}", method.name);
            assert!(seen.insert(method.name), "{} stands there twice", method.name);
        }
    }
}

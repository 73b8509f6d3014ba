//! The table of methods: what a front end may call, and what that needs.

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::api::{
    Api, about, alarms, attention, data, demo, destination, destination_form, doctor, duplicates, explain, give,
    history, ingest, mail, mailbox, mailbox_setup, notification, parse, removal, report, route, rule, rule_try,
    settings, source, status, test, wait, watch, window,
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

/// Who may call a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The window too.
    Window,
    /// Only the command line.
    Line,
}

/// One method.
pub struct Method {
    /// `page.verb`.
    pub name: &'static str,
    /// What it does with the data folder.
    pub access: Access,
    /// Who may call it.
    pub reach: Reach,
    /// Its types.
    #[cfg(feature = "types")]
    pub signature: fn(&mut crate::api::types::Collector) -> crate::api::types::Signature,
    /// Calls it with parameters as JSON.
    pub call: for<'a> fn(&'a Api, Value) -> BoxFuture<'a, Result<Value, Fault>>,
}

macro_rules! method {
    ($name:literal, $access:ident, $reach:ident, $function:path) => {
        Method {
            name: $name,
            access: Access::$access,
            reach: Reach::$reach,
            #[cfg(feature = "types")]
            signature: |collector| collector.signature($function),
            call: |api, params| Box::pin(async move { give($function(api, parse(params)?).await) }),
        }
    };
}

/// Every method, by page.
pub const METHODS: &[Method] = &[
    method!("mailbox.add", Write, Window, mailbox::add),
    method!("mailbox.set", Write, Window, mailbox::set),
    method!("mailbox.test", Write, Window, mailbox::test),
    method!("mailbox.list", Read, Window, mailbox::list),
    method!("mailbox.pause", Write, Window, mailbox::pause),
    method!("mailbox.resume", Write, Window, mailbox::resume),
    method!("mailbox.remove", Write, Window, mailbox::remove),
    method!("mailbox.presets", Read, Window, mailbox_setup::presets),
    method!("mailbox.probe", Read, Window, mailbox_setup::probe),
    method!("mailbox.folders", Read, Window, mailbox_setup::folders),
    method!("mailbox.removal", Read, Window, removal::mailbox),
    method!("destination.add", Write, Window, destination_form::add),
    method!("destination.set", Write, Window, destination_form::set),
    method!("destination.test", Write, Window, destination_form::test),
    method!("destination.try", Write, Window, destination_form::r#try),
    method!("destination.remove", Write, Window, destination_form::remove),
    method!("destination.removal", Read, Window, removal::destination),
    method!("destination.list", Read, Window, destination::list),
    method!("destination.pause", Write, Window, destination::pause),
    method!("destination.resume", Write, Window, destination::resume),
    method!("destination.kinds", Read, Window, destination::kinds),
    method!("source.add", Write, Line, source::add),
    method!("source.list", Read, Line, source::list),
    method!("source.remove", Write, Line, source::remove),
    method!("route.add", Write, Window, route::add),
    method!("route.list", Read, Window, route::list),
    method!("route.remove", Write, Window, route::remove),
    method!("rule.add", Write, Window, rule::add),
    method!("rule.list", Read, Window, rule::list),
    method!("rule.move", Write, Window, rule::r#move),
    method!("rule.remove", Write, Window, rule::remove),
    method!("rule.set", Write, Window, rule::set),
    method!("rule.switch", Write, Window, rule::switch),
    method!("rule.try", Read, Window, rule_try::r#try),
    method!("rule.try_draft", Read, Window, rule_try::try_draft),
    method!("demo.start", Write, Window, demo::start),
    method!("demo.stop", Write, Window, demo::stop),
    method!("app.about", Read, Window, about::about),
    method!("settings.list", Read, Window, settings::list),
    method!("settings.get", Read, Window, settings::get),
    method!("settings.set", Write, Window, settings::set),
    method!("settings.secrets", Read, Line, settings::secrets),
    method!("status.get", Read, Window, status::get),
    method!("history.list", Read, Window, history::list),
    method!("duplicates.list", Read, Window, duplicates::list),
    method!("duplicates.summary", Read, Window, duplicates::summary),
    method!("attention.list", Read, Window, attention::list),
    method!("alarms.list", Read, Window, alarms::list),
    method!("explain.get", Read, Window, explain::get),
    method!("notification.retry", Write, Window, notification::retry),
    method!("notification.mark_delivered", Write, Window, notification::mark_delivered),
    method!("notification.dismiss", Write, Window, notification::dismiss),
    method!("notification.redrive", Write, Window, notification::redrive),
    method!("notification.notify_again", Write, Window, notification::notify_again),
    method!("notification.notify_to", Write, Window, notification::notify_to),
    method!("test.send", Write, Window, test::send),
    method!("mail.mark_read", Write, Window, mail::mark_read),
    method!("ingest.put", Write, Line, ingest::put),
    method!("watch.check_now", Read, Window, watch::check_now),
    method!("watch.pause", Write, Window, watch::pause),
    method!("watch.resume", Write, Window, watch::resume),
    method!("window.open", Read, Window, window::open),
    method!("wait.idle", Read, Line, wait::idle),
    method!("doctor.run", Read, Window, doctor::run),
    method!("data.verify", Read, Line, data::verify),
    method!("data.export", Write, Line, data::export),
    method!("data.report", Read, Line, report::report),
    method!("data.prune", Write, Line, data::prune),
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

//! Decide: rules + mail + context → whom to tell, or why nobody. Pure: no clock, no database, no network.
//!
//! It is the only place with business rules.

pub mod condition;
pub mod digest;
pub mod reason;

use crate::limits::{AWAIT_MAIL_MS, GATHER_MS};
use crate::model::destination::{Destination, Route, THIS_COMPUTER};
use crate::model::ids::{AccountId, DestinationId, RouteId};
use crate::model::mailbox::SpecialUse;
use crate::model::message::MailFacts;
use crate::model::occasion::Occasion;
use crate::model::rule::{Decision, Field, Outcome, Rule, RuleAction};
use crate::model::sighting::Intent;

/// Everything the owner configured that a decision looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rulebook {
    /// First asked first.
    pub rules: Vec<Rule>,
    /// By age.
    pub routes: Vec<Route>,
    /// By age.
    pub destinations: Vec<Destination>,
}

/// The mail and how it was seen.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The account; `None`: a self message.
    pub account_id: Option<&'a AccountId>,
    /// What is known of the mail.
    pub facts: &'a MailFacts,
    /// Wire name of the folder.
    pub folder: Option<&'a str>,
    /// What the folder is for.
    pub special_use: SpecialUse,
    /// How it is to be judged.
    pub intent: Intent,
    /// Somebody will fetch the mail itself.
    pub has_reader: bool,
    /// INTERNALDATE, else first seen.
    pub received_at: i64,
}

/// Decides about one mail.
#[must_use]
pub fn decide(seen: &Seen<'_>, rulebook: &Rulebook, now_at: i64) -> Decision {
    if let Some(reason) = silent_by_age(seen) {
        return fixed(Outcome::Silent, reason);
    }
    if seen.intent == Intent::Unreadable {
        return everything_else(rulebook, reason::UNREADABLE);
    }
    if seen.has_reader && seen.facts.is_headerless() {
        return fixed(Outcome::Hold(now_at.saturating_add(AWAIT_MAIL_MS)), reason::AWAITING_MAIL);
    }
    let decision = by_rules(seen, rulebook);
    match (together(seen.intent), &decision.outcome) {
        // Who is told, and how, is decided when all of them are known, by the rules then in force.
        (Some(occasion), Outcome::Notify(ways)) if !ways.is_empty() => {
            fixed(Outcome::Hold(now_at.saturating_add(GATHER_MS)), occasion.reason())
        }
        _ => decision,
    }
}

/// Invented mail rings on this computer alone, if it rings there at all: no phone and no chat hears of it.
#[must_use]
pub fn decide_demo(rulebook: &Rulebook) -> Decision {
    let here = rulebook.destinations.iter().filter(|one| one.kind == THIS_COMPUTER && one.paused.is_none());
    let ways: Vec<Vec<DestinationId>> = here.map(|destination| vec![destination.id.clone()]).collect();
    if ways.is_empty() {
        return fixed(Outcome::Silent, reason::DEMO_SILENT);
    }
    fixed(Outcome::Notify(ways), reason::DEMO)
}

/// On which occasion a mail is told together with others.
fn together(intent: Intent) -> Option<Occasion> {
    match intent {
        Intent::Gathered(occasion) => Some(occasion),
        Intent::Rebuild { .. } => Some(Occasion::Rebuild),
        Intent::Arrival | Intent::Baseline | Intent::Old | Intent::Unreadable => None,
    }
}

fn by_rules(seen: &Seen<'_>, rulebook: &Rulebook) -> Decision {
    if let Some(decision) = rulebook.rules.iter().find_map(|rule| by_rule(rule, seen, rulebook)) {
        return decision;
    }
    match seen.special_use {
        SpecialUse::Junk => fixed(Outcome::Silent, reason::JUNK),
        SpecialUse::Sent => fixed(Outcome::Silent, reason::SENT),
        SpecialUse::None => everything_else(rulebook, reason::EVERYTHING_ELSE),
    }
}

fn silent_by_age(seen: &Seen<'_>) -> Option<&'static str> {
    match seen.intent {
        Intent::Baseline => Some(reason::BASELINE),
        Intent::Old => Some(reason::OLD),
        Intent::Rebuild { rings_from } if seen.received_at < rings_from => Some(reason::BEFORE_REBUILD),
        Intent::Rebuild { .. } | Intent::Gathered(_) | Intent::Arrival | Intent::Unreadable => None,
    }
}

fn by_rule(rule: &Rule, seen: &Seen<'_>, rulebook: &Rulebook) -> Option<Decision> {
    if rule.off || (rule.mailbox.is_some() && rule.mailbox.as_ref() != seen.account_id) {
        return None;
    }
    // Junk and sent mail is silent unless the owner asks for that folder: a rule about a subject does not.
    let names_folder = rule.conditions.iter().any(|condition| condition.field == Field::Folder && !condition.not);
    if seen.special_use != SpecialUse::None && !names_folder {
        return None;
    }
    if !rule.conditions.iter().all(|condition| condition::holds(condition, seen.facts, seen.folder)) {
        return None;
    }
    let outcome = match &rule.action {
        RuleAction::Silent(_) => Outcome::Silent,
        RuleAction::Routes(ids) => {
            let routes = by_routes(ids, rulebook);
            // Its routes were removed: falling through to the last rule tells too much rather than nothing.
            if routes.is_empty() {
                return None;
            }
            Outcome::Notify(routes)
        }
    };
    let reason = match &rule.action {
        RuleAction::Silent(reason) => reason.clone(),
        RuleAction::Routes(_) => condition::sentence(&rule.conditions),
    };
    Some(Decision { outcome, reason, rule_id: Some(rule.id.clone()) })
}

fn by_routes(ids: &[RouteId], rulebook: &Rulebook) -> Vec<Vec<DestinationId>> {
    let mut ways = Vec::new();
    for route in rulebook.routes.iter().filter(|route| ids.contains(&route.id)) {
        push_way(&mut ways, living_members(&route.members, rulebook));
    }
    ways
}

/// The fixed last rule.
fn everything_else(rulebook: &Rulebook, reason: &str) -> Decision {
    let ways = all_ways(rulebook);
    let reason = if ways.is_empty() { reason::NO_DESTINATION } else { reason };
    fixed(Outcome::Notify(ways), reason)
}

/// The ways of the fixed last rule: every destination that is not only a fallback, each by the first route whose
/// primary it is, else alone.
#[must_use]
pub fn all_ways(rulebook: &Rulebook) -> Vec<Vec<DestinationId>> {
    let mut ways = Vec::new();
    for destination in rulebook.destinations.iter().filter(|destination| !destination.fallback_only) {
        let route = rulebook.routes.iter().find(|route| route.members.first() == Some(&destination.id));
        push_way(
            &mut ways,
            route.map_or_else(|| vec![destination.id.clone()], |route| living_members(&route.members, rulebook)),
        );
    }
    ways
}

/// Ways decided on earlier, without the destinations that were removed since.
#[must_use]
pub fn living_ways(ways: &[Vec<DestinationId>], rulebook: &Rulebook) -> Vec<Vec<DestinationId>> {
    let mut living = Vec::new();
    for way in ways {
        push_way(&mut living, living_members(way, rulebook));
    }
    living
}

fn living_members(members: &[DestinationId], rulebook: &Rulebook) -> Vec<DestinationId> {
    let lives = |id: &&DestinationId| rulebook.destinations.iter().any(|destination| &destination.id == *id);
    members.iter().filter(lives).cloned().collect()
}

fn push_way(ways: &mut Vec<Vec<DestinationId>>, way: Vec<DestinationId>) {
    if !way.is_empty() && !ways.contains(&way) {
        ways.push(way);
    }
}

fn fixed(outcome: Outcome, reason: &str) -> Decision {
    Decision { outcome, reason: reason.to_owned(), rule_id: None }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::destination::{Policy, Privacy};
    use crate::model::rule::Condition;

    fn destination(id: &str, fallback_only: bool) -> Destination {
        Destination {
            id: id.into(),
            name: id.to_owned(),
            kind: "webhook".to_owned(),
            fields: BTreeMap::new(),
            recipient: id.into(),
            policy: Policy::NeverTwice,
            privacy: Privacy::Full,
            max_age_seconds: None,
            fallback_only,
            paused: None,
        }
    }

    fn route(id: &str, members: &[&str]) -> Route {
        Route {
            id: id.into(),
            name: id.to_owned(),
            members: members.iter().map(|member| DestinationId::from(*member)).collect(),
        }
    }

    fn rule(id: &str, conditions: &[&str], action: RuleAction) -> Rule {
        let conditions: Vec<Condition> = conditions.iter().map(|text| condition::parse(text).unwrap()).collect();
        Rule { id: id.into(), mailbox: None, conditions, action, off: false }
    }

    fn check(seen_change: impl FnOnce(&mut Seen<'_>), rulebook: &Rulebook, outcome: Outcome, reason: &str) {
        let facts = MailFacts { subject: Some("Invoice 41".to_owned()), ..MailFacts::default() };
        let mut seen = Seen {
            account_id: None,
            facts: &facts,
            folder: Some("INBOX"),
            special_use: SpecialUse::None,
            intent: Intent::Arrival,
            has_reader: true,
            received_at: 100,
        };
        seen_change(&mut seen);
        let decision = decide(&seen, rulebook, 1000);
        assert_eq!((decision.outcome, decision.reason.as_str()), (outcome, reason));
    }

    fn ways(ways: &[&[&str]]) -> Outcome {
        Outcome::Notify(ways.iter().map(|way| way.iter().map(|id| DestinationId::from(*id)).collect()).collect())
    }

    #[test]
    fn the_last_rule_tells_every_destination_that_is_not_only_a_fallback_by_its_first_route() {
        let book = Rulebook {
            rules: vec![],
            routes: vec![route("r1", &["b", "c", "gone"]), route("r2", &["b"])],
            destinations: vec![destination("a", false), destination("b", false), destination("c", true)],
        };
        check(|_| (), &book, ways(&[&["a"], &["b", "c"]]), "everything else");
        check(|_| (), &Rulebook::default(), ways(&[]), "no destination");
    }

    #[test]
    fn a_demo_mail_rings_only_on_this_computer() {
        let mut here = destination("here", false);
        here.kind = THIS_COMPUTER.to_owned();
        let phone = || destination("phone", false);
        let check = |destinations: Vec<Destination>, outcome: Outcome| {
            let book = Rulebook { destinations, ..Rulebook::default() };
            assert_eq!(decide_demo(&book).outcome, outcome);
        };
        check(vec![phone(), here.clone()], ways(&[&["here"]]));
        check(vec![phone()], Outcome::Silent);
        check(vec![], Outcome::Silent);
        here.paused = Some(crate::model::destination::PauseReason::Owner);
        check(vec![here], Outcome::Silent);
    }

    #[test]
    fn the_first_rule_that_holds_decides() {
        let book = Rulebook {
            rules: vec![
                rule("1", &["subject contains \"offer\""], RuleAction::Silent("adverts".to_owned())),
                rule("2", &["subject starts \"inv\"", "folder is inbox"], RuleAction::Routes(vec!["r".into()])),
                rule("3", &[], RuleAction::Silent("all".to_owned())),
            ],
            routes: vec![route("r", &["a"])],
            destinations: vec![destination("a", false), destination("b", false)],
        };
        check(|_| (), &book, ways(&[&["a"]]), "subject starts \"inv\" and folder is \"inbox\"");
        check(|seen| seen.folder = Some("Other"), &book, Outcome::Silent, "all");
    }

    #[test]
    fn a_rule_that_is_off_is_not_asked() {
        let silent = rule("1", &[], RuleAction::Silent("all".to_owned()));
        let book = |off| Rulebook {
            rules: vec![Rule { off, ..silent.clone() }],
            routes: vec![],
            destinations: vec![destination("a", false)],
        };
        check(|_| (), &book(true), ways(&[&["a"]]), "everything else");
        check(|_| (), &book(false), Outcome::Silent, "all");
    }

    #[test]
    fn a_rule_whose_routes_are_gone_does_not_swallow_the_mail() {
        let book = Rulebook {
            rules: vec![rule("1", &[], RuleAction::Routes(vec!["gone".into()]))],
            routes: vec![],
            destinations: vec![destination("a", false)],
        };
        check(|_| (), &book, ways(&[&["a"]]), "everything else");
    }

    #[test]
    fn junk_and_sent_are_silent_unless_the_folder_is_asked_for() {
        let asked = |text: &str| Rulebook {
            rules: vec![rule("1", &[text], RuleAction::Routes(vec!["r".into()]))],
            routes: vec![route("r", &["a"])],
            destinations: vec![destination("a", false)],
        };
        let junk = |seen: &mut Seen<'_>| (seen.folder, seen.special_use) = (Some("Spam"), SpecialUse::Junk);
        check(junk, &asked("subject contains invoice"), Outcome::Silent, "in the junk folder");
        check(junk, &asked("folder not is INBOX"), Outcome::Silent, "in the junk folder");
        check(junk, &asked("folder is spam"), ways(&[&["a"]]), "folder is \"spam\"");
        let sent = |seen: &mut Seen<'_>| seen.special_use = SpecialUse::Sent;
        check(sent, &Rulebook::default(), Outcome::Silent, "in the folder of sent mail");
    }

    #[test]
    fn what_was_there_before_is_silent_and_a_rebuilt_folder_rings_for_new_mail_only() {
        let book = Rulebook { destinations: vec![destination("a", false)], ..Rulebook::default() };
        check(|seen| seen.intent = Intent::Baseline, &book, Outcome::Silent, "there before the watching began");
        check(|seen| seen.intent = Intent::Old, &book, Outcome::Silent, "much older than the last check of its folder");
        let rebuild = |rings_from| move |seen: &mut Seen<'_>| seen.intent = Intent::Rebuild { rings_from };
        check(rebuild(101), &book, Outcome::Silent, "there before the folder was rebuilt");
        check(rebuild(100), &book, Outcome::Hold(1000 + GATHER_MS), "folder rebuilt");
    }

    #[test]
    fn what_comes_with_much_else_waits_for_it_where_it_would_ring() {
        let book = Rulebook {
            rules: vec![rule("1", &["folder is lists"], RuleAction::Silent("lists".to_owned()))],
            routes: vec![],
            destinations: vec![destination("a", false)],
        };
        for occasion in [Occasion::CatchUp, Occasion::Restore] {
            let gathered = |seen: &mut Seen<'_>| seen.intent = Intent::Gathered(occasion);
            check(gathered, &book, Outcome::Hold(1000 + GATHER_MS), occasion.reason());
            check(gathered, &Rulebook::default(), ways(&[]), "no destination");
            let silent = |seen: &mut Seen<'_>| (seen.intent, seen.folder) = (Intent::Gathered(occasion), Some("lists"));
            check(silent, &book, Outcome::Silent, "lists");
        }
    }

    #[test]
    fn a_name_without_headers_waits_for_the_mail_only_where_somebody_reads() {
        let nothing = MailFacts { message_id: Some("a@b".to_owned()), ..MailFacts::default() };
        let book = Rulebook { destinations: vec![destination("a", false)], ..Rulebook::default() };
        let outcome = |has_reader| {
            let seen = Seen {
                account_id: None,
                facts: &nothing,
                folder: None,
                special_use: SpecialUse::None,
                intent: Intent::Arrival,
                has_reader,
                received_at: 100,
            };
            decide(&seen, &book, 1000).outcome
        };
        assert_eq!(outcome(true), Outcome::Hold(1000 + AWAIT_MAIL_MS));
        assert_eq!(outcome(false), ways(&[&["a"]]));
    }
}

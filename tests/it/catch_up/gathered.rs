//! What waits for the others of its occasion, and how it is told.

use ringonce_engine::identity::keys;
use ringonce_engine::mail;
use ringonce_engine::model::destination::{Privacy, Route};
use ringonce_engine::model::occasion::Occasion;
use ringonce_engine::model::rule::{Condition, Field, Rule, RuleAction, Test};
use ringonce_engine::model::sighting::{Intent, Sighting, Verdict};
use ringonce_engine::store::Tx;
use ringonce_engine::store::table::{destination, route, rule};

use crate::catch_up::bench::{Bench, CATCH_UP, NOW, phone, sighting};

fn put_rule(tx: Tx<'_>, id: &str, subject: &str, action: RuleAction) {
    let condition = Condition { field: Field::Subject, not: false, test: Test::Is, value: subject.to_owned() };
    let rule = Rule { id: id.into(), mailbox: None, conditions: vec![condition], action, off: false };
    let known = rule::list(*tx).unwrap();
    rule::put_all(tx, &[known, vec![rule]].concat(), NOW).unwrap();
}

fn reasons(of: &[(&str, i64)]) -> Vec<(String, i64)> {
    of.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect()
}

#[tokio::test]
async fn a_few_ring_singly_and_the_newest_first() {
    let bench = Bench::new().await;
    bench.arrive(5, CATCH_UP).await;
    assert_eq!(bench.reasons(), reasons(&[("catching up", 5)]));
    assert!(bench.to_be_told().is_empty(), "nobody is told before all are here");
    bench.end(Occasion::CatchUp).await;
    let titles: Vec<String> = bench.to_be_told().into_iter().map(|told| told.0).collect();
    assert_eq!(titles, ["Sender 5", "Sender 4", "Sender 3", "Sender 2", "Sender 1"]);
    assert_eq!(bench.reasons(), reasons(&[("everything else", 5)]), "decided by the rules like any other");
    bench.assert_sound().await;
}

#[tokio::test]
async fn more_make_one_digest_and_a_later_sighting_of_a_member_does_not_ring() {
    let bench = Bench::new().await;
    bench.arrive(6, CATCH_UP).await;
    bench.end(Occasion::CatchUp).await;
    let listed: Vec<String> = (1..=6).rev().map(|n| format!("Sender {n} – Mail {n}")).collect();
    assert_eq!(bench.to_be_told(), [("6 new mails while you were away".to_owned(), listed.join("\n"))]);
    assert_eq!(bench.reasons(), reasons(&[("in digest", 6)]));
    let digest = bench.db().row(
        "SELECT o.message_key, o.status, o.reason FROM notification_operations o
         JOIN processed_messages m USING (message_key) WHERE m.mailbox_id = 'ringonce'",
        [],
    );
    assert_eq!((&digest["status"], &digest["reason"]), (&"processing".into(), &"catching up".into()));
    let member = bench.db().rows(
        "SELECT DISTINCT reason, status, decision FROM notification_operations
         WHERE reason LIKE 'in digest %'",
        [],
    );
    assert_eq!(member.len(), 1, "{member:?}");
    assert_eq!(member[0]["reason"], format!("in digest {}", digest["message_key"].as_str().unwrap()));
    assert_eq!((&member[0]["status"], &member[0]["decision"]), (&"completed".into(), &"notify".into()));
    let again = Sighting { delivery_key: "elsewhere".into(), ..sighting(3, NOW) };
    assert_eq!(bench.take(vec![again]).await[0].verdict, Verdict::Duplicate);
    assert_eq!(bench.to_be_told().len(), 1);
    bench.end(Occasion::CatchUp).await;
    assert_eq!(bench.to_be_told().len(), 1, "an end with nothing before it tells nothing");
    bench.assert_sound().await;
}

#[tokio::test]
async fn a_member_whose_digest_is_gone_is_found_by_verify() {
    let bench = Bench::new().await;
    bench.arrive(6, CATCH_UP).await;
    bench.end(Occasion::CatchUp).await;
    let broken = bench
        .broken_by("UPDATE notification_operations SET reason = 'in digest 0' WHERE reason LIKE 'in digest %'")
        .await;
    assert_eq!(broken, ["a mail told in a digest names one that exists and was told, or had nobody to tell"]);
}

#[tokio::test]
async fn how_many_ring_singly_is_a_setting() {
    for (max, count, told) in [("0", 1, 1), ("1000000", 50, 50), ("3", 3, 3), ("3", 4, 1)] {
        let bench = Bench::new().await;
        bench.set("catch_up.single_max", max).await;
        bench.arrive(count, CATCH_UP).await;
        bench.end(Occasion::CatchUp).await;
        assert_eq!(bench.to_be_told().len(), told, "{count} mails, {max} may ring singly");
        bench.assert_sound().await;
    }
}

#[tokio::test]
async fn three_hundred_while_running_ring_three_hundred_times() {
    let bench = Bench::new().await;
    bench.arrive(300, Intent::Arrival).await;
    assert_eq!(bench.to_be_told().len(), 300);
    bench.assert_sound().await;
}

#[tokio::test]
async fn what_a_dead_program_held_is_told_by_the_sweep_of_the_next() {
    for (count, told) in [(3, 3), (12, 1)] {
        let bench = Bench::new().await;
        bench.arrive(count, CATCH_UP).await;
        let bench = bench.restart();
        bench.after(59_000).await;
        assert!(bench.to_be_told().is_empty(), "its time is not over");
        bench.after(1_000).await;
        assert_eq!(bench.to_be_told().len(), told, "{count} mails");
        assert_eq!(bench.db().number("SELECT count(*) FROM notification_operations WHERE status = 'held'", []), 0);
        bench.end(Occasion::CatchUp).await;
        assert_eq!(bench.to_be_told().len(), told, "an end that comes late finds nothing");
        bench.assert_sound().await;
    }
}

#[tokio::test]
async fn those_held_later_are_told_with_the_first_whose_time_is_over() {
    let bench = Bench::new().await;
    bench.arrive(4, CATCH_UP).await;
    bench.kernel.clock.advance(30_000);
    bench.take((5..=8).map(|n| Sighting { intent: CATCH_UP, ..sighting(n, NOW) }).collect()).await;
    bench.after(30_000).await;
    assert_eq!(bench.to_be_told().len(), 1, "one digest of eight, not two times four rings");
    bench.assert_sound().await;
}

#[tokio::test]
async fn the_rules_in_force_at_the_end_decide_about_each_member() {
    let bench = Bench::new().await;
    bench.change(|tx| put_rule(tx, "r0", "Mail 1", RuleAction::Silent("adverts".to_owned()))).await;
    bench.arrive(8, CATCH_UP).await;
    assert_eq!(bench.reasons(), reasons(&[("adverts", 1), ("catching up", 7)]), "what is silent waits for nobody");
    bench.change(|tx| put_rule(tx, "r1", "Mail 2", RuleAction::Silent("lists".to_owned()))).await;
    bench.end(Occasion::CatchUp).await;
    assert_eq!(bench.to_be_told()[0].0, "6 new mails while you were away");
    assert_eq!(bench.reasons(), reasons(&[("adverts", 1), ("in digest", 6), ("lists", 1)]));
    bench.assert_sound().await;
}

#[tokio::test]
async fn each_set_of_routes_has_its_own_digest_and_each_privacy_its_own_text() {
    let bench = Bench::new().await;
    bench
        .change(|tx| {
            destination::put(tx, &phone("d2", Privacy::Sender, None), NOW).unwrap();
            destination::put(tx, &phone("d3", Privacy::None, None), NOW).unwrap();
            let work = Route { id: "w".into(), name: "work".to_owned(), members: vec!["d2".into()] };
            route::put(tx, &work, NOW).unwrap();
            put_rule(tx, "r", "Mail 7", RuleAction::Routes(vec!["w".into()]));
        })
        .await;
    bench.arrive(7, CATCH_UP).await;
    bench.end(Occasion::CatchUp).await;
    let rows = bench.db().rows("SELECT destination_id, payload FROM notification_outbox ORDER BY id", []);
    let told: Vec<(&str, serde_json::Value)> = rows
        .iter()
        .map(|row| {
            (row["destination_id"].as_str().unwrap(), serde_json::from_str(row["payload"].as_str().unwrap()).unwrap())
        })
        .collect();
    let all: Vec<&str> = told.iter().map(|(destination, _)| *destination).collect();
    assert_eq!(all, ["d1", "d2", "d3", "d2"], "six by all ways, one by the way of its rule");
    let text = |at: usize, key: &str| told[at].1[key].as_str().unwrap().to_owned();
    assert_eq!(text(0, "title"), "6 new mails while you were away");
    assert_eq!(text(0, "subject"), "6 new mails while you were away");
    assert!(text(0, "body").starts_with("Sender 6 – Mail 6\n"), "{}", text(0, "body"));
    assert_eq!(text(1, "body"), (1..=6).rev().map(|n| format!("Sender {n}")).collect::<Vec<_>>().join("\n"));
    assert_eq!((text(2, "title"), text(2, "body")), ("6 new mails while you were away".to_owned(), String::new()));
    assert_eq!(
        (text(3, "title"), text(3, "body")),
        ("1 new mail while you were away".to_owned(), "Sender 7".to_owned())
    );
    for (_, payload) in &told[1..4] {
        assert!(!payload.to_string().contains("Mail "), "no subject leaks: {payload}");
    }
    assert!(!told[2].1.to_string().contains("Sender"), "no sender leaks: {}", told[2].1);
    bench.assert_sound().await;
}

#[tokio::test]
async fn a_mail_held_with_others_is_not_let_go_by_another_path() {
    let bench = Bench::new().await;
    bench.arrive(6, CATCH_UP).await;
    let by_webhook = Sighting { delivery_key: "push".into(), source: "webhook".to_owned(), ..sighting(2, NOW) };
    let taken = bench.take(vec![by_webhook]).await;
    assert_eq!((taken[0].decision.as_str(), taken[0].awaits_mail), ("hold", false));
    let moved = Sighting { delivery_key: "moved".into(), intent: CATCH_UP, ..sighting(3, NOW) };
    bench.take(vec![moved]).await;
    bench.end(Occasion::CatchUp).await;
    assert_eq!(bench.to_be_told().len(), 1, "all six are in the digest");
    assert_eq!(bench.reasons(), reasons(&[("in digest", 6)]));
    bench.assert_sound().await;
}

#[tokio::test]
async fn a_name_that_waited_for_its_mail_joins_the_others() {
    let bench = Bench::new().await;
    let named = Sighting {
        facts: mail::from_values(Some("<1@b.example>"), None, None, None),
        delivery_key: keys::ingest_delivery(&"a1".into(), "webhook", "1"),
        ..sighting(1, NOW)
    };
    assert!(bench.take(vec![named]).await[0].awaits_mail);
    bench.arrive(6, CATCH_UP).await;
    assert_eq!(bench.reasons(), reasons(&[("catching up", 6)]));
    bench.end(Occasion::CatchUp).await;
    assert_eq!(bench.reasons(), reasons(&[("in digest", 6)]));
    bench.assert_sound().await;
}

#[tokio::test]
async fn in_a_rebuilt_folder_what_is_unknown_and_new_enough_is_told_together() {
    for (count, titles) in
        [(2, ["Sender 2", "Sender 1"].as_slice()), (6, &["6 new mails in a folder that was rebuilt"])]
    {
        let bench = Bench::new().await;
        let rebuild = Intent::Rebuild { rings_from: NOW - 60_000 };
        let old = Sighting { intent: rebuild, ..sighting(100, NOW - 61_000) };
        bench.take(vec![old]).await;
        bench.arrive(count, rebuild).await;
        bench.end(Occasion::CatchUp).await;
        assert!(bench.to_be_told().is_empty(), "the end of something else tells nothing of it");
        bench.end(Occasion::Rebuild).await;
        let told: Vec<String> = bench.to_be_told().into_iter().map(|told| told.0).collect();
        assert_eq!(told, titles);
        assert_eq!(bench.reasons().iter().map(|(_, n)| n).sum::<i64>(), count + 1, "the old one is silent");
        bench.assert_sound().await;
    }
}

//! What waited longer than its destination wants.

use ringonce_engine::identity::keys;
use ringonce_engine::model::destination::Privacy;
use ringonce_engine::model::ids::DispatchKey;
use ringonce_engine::model::sighting::Intent;
use ringonce_engine::store::table::{attempt, destination, outbox};

use crate::catch_up::bench::{Bench, NOW, phone, sighting};

async fn bench() -> Bench {
    let bench = Bench::new().await;
    bench.change(|tx| destination::put(tx, &phone("d1", Privacy::Full, Some(3600)), NOW).unwrap()).await;
    bench
}

#[tokio::test]
async fn what_is_too_old_is_given_up_for_one_digest() {
    let bench = bench().await;
    bench.change(|tx| destination::put(tx, &phone("d2", Privacy::Full, None), NOW).unwrap()).await;
    bench.arrive(3, Intent::Arrival).await;
    bench.after(3_599_999).await;
    assert_eq!(bench.to_be_told().len(), 6, "they are not too old yet");
    bench.after(1).await;
    let rows = bench.db().rows(
        "SELECT destination_id AS d, status, reason, count(*) AS n FROM notification_outbox GROUP BY 1, 2, 3
         ORDER BY 1, 2",
        [],
    );
    let key = bench.db().row("SELECT message_key FROM processed_messages WHERE mailbox_id = 'ringonce'", []);
    let reason = format!("in digest {}", key["message_key"].as_str().unwrap());
    let found: Vec<(&str, &str, i64)> = rows
        .iter()
        .map(|r| (r["d"].as_str().unwrap(), r["status"].as_str().unwrap(), r["n"].as_i64().unwrap()))
        .collect();
    assert_eq!(found, [("d1", "cancelled", 3), ("d1", "pending", 1), ("d2", "pending", 3)]);
    assert_eq!(rows[0]["reason"], reason);
    let digest =
        ("3 new mails that could not be told in time", "Sender 3 – Mail 3\nSender 2 – Mail 2\nSender 1 – Mail 1");
    assert!(bench.to_be_told().contains(&(digest.0.to_owned(), digest.1.to_owned())), "{:?}", bench.to_be_told());
    bench.after(36_000_000).await;
    assert_eq!(bench.to_be_told().len(), 4, "the digest itself is never too old");
    bench.assert_sound().await;
}

#[tokio::test]
async fn a_notification_whose_digest_is_gone_is_found_by_verify() {
    let bench = bench().await;
    bench.arrive(2, Intent::Arrival).await;
    bench.after(3_600_000).await;
    let broken =
        bench.broken_by("UPDATE notification_outbox SET reason = 'in digest 0' WHERE reason IS NOT NULL").await;
    assert_eq!(broken, ["a notification given up for a digest names one to the same destination"]);
}

#[tokio::test]
async fn a_digest_that_waits_as_well_is_taken_into_the_next() {
    let bench = bench().await;
    bench.arrive(25, Intent::Arrival).await;
    bench.after(3_600_000).await;
    assert_eq!(bench.to_be_told()[0].0, "25 new mails that could not be told in time");
    bench.take(vec![sighting(50, NOW)]).await;
    bench.after(3_600_000).await;
    let told = bench.to_be_told();
    assert_eq!(told.len(), 1, "one tells of all: {told:?}");
    assert_eq!(told[0].0, "26 new mails that could not be told in time");
    assert!(told[0].1.starts_with("Sender 50 – Mail 50\nSender 25"), "{}", told[0].1);
    assert!(told[0].1.ends_with("… and 6 more"), "{}", told[0].1);
    assert_eq!(bench.db().number("SELECT count(*) FROM notification_operations WHERE status <> 'completed'", []), 1);
    bench.assert_sound().await;
}

#[tokio::test]
async fn a_digest_that_may_have_arrived_is_left_alone() {
    let bench = bench().await;
    bench.arrive(1, Intent::Arrival).await;
    bench.after(3_600_000).await;
    let key = bench.db().row("SELECT dispatch_key FROM notification_outbox WHERE status = 'pending'", []);
    let key = DispatchKey::from(key["dispatch_key"].as_str().unwrap());
    bench
        .change(move |tx| {
            let token = "run.1".into();
            attempt::insert(tx, &key, &token, NOW).unwrap();
            attempt::settle(tx, &key, &token, "unknown", None, NOW).unwrap();
        })
        .await;
    bench.take(vec![sighting(2, NOW)]).await;
    bench.after(3_600_000).await;
    let titles: Vec<String> = bench.to_be_told().into_iter().map(|told| told.0).collect();
    assert_eq!(titles, ["1 new mail that could not be told in time"; 2]);
    bench.assert_sound().await;
}

#[tokio::test]
async fn a_sender_that_wakes_first_leaves_what_is_too_old_to_the_sweep() {
    let bench = bench().await;
    bench.arrive(3, Intent::Arrival).await;
    bench.kernel.clock.advance(3_600_000);
    bench.take(vec![sighting(9, NOW)]).await;
    let now_at = bench.kernel.now();
    let too_old_at = phone("d1", Privacy::Full, Some(3600)).oldest_wanted_at(now_at);
    let claimed = bench.kernel.store.write(move |tx| {
        let tokens = (0..4).map(|n| format!("run.{n}").as_str().into()).collect::<Vec<_>>();
        let claimed = outbox::claim(tx, &"d1".into(), &tokens, now_at + 60_000, too_old_at, now_at)?;
        Ok((claimed.len(), outbox::next_due_at(*tx, &"d1".into(), too_old_at)?))
    });
    assert_eq!(claimed.await.unwrap(), (1, None), "only the fresh one, and nothing is due that it would spin on");
}

#[tokio::test]
async fn one_mail_too_old_for_two_destinations_is_told_to_both() {
    let bench = bench().await;
    bench.change(|tx| destination::put(tx, &phone("d2", Privacy::Full, Some(3600)), NOW).unwrap()).await;
    bench.arrive(1, Intent::Arrival).await;
    bench.after(3_600_000).await;
    let told = bench
        .db()
        .rows("SELECT DISTINCT destination_id FROM notification_outbox WHERE status = 'pending' ORDER BY 1", []);
    assert_eq!(told.len(), 2, "the digests of two destinations are two: {told:?}");
    let operation = keys::operation_key(
        &bench.db().row("SELECT message_key FROM processed_messages WHERE mailbox_id <> 'ringonce'", [])["message_key"]
            .as_str()
            .unwrap()
            .into(),
        keys::NOTIFY_OWNER,
    );
    let status =
        bench.db().row("SELECT status FROM notification_operations WHERE operation_key = ?1", [operation.as_str()]);
    assert_eq!(status["status"], "completed", "nothing is open of the mail itself");
    bench.assert_sound().await;
}

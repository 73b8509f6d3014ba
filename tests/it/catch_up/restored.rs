//! A history that was taken from a copy.

use ringonce_engine::model::mailbox::{Backfill, BackfillPurpose, FolderCursor};
use ringonce_engine::model::occasion::{Ended, Occasion};
use ringonce_engine::model::sighting::{CursorMove, Intent, Report, Sighting};
use ringonce_engine::store::table::{folder, mailbox, meta};
use ringonce_engine::{intake, source::Sink as _};

use crate::catch_up::bench::{Bench, CATCH_UP, NOW, account, sighting};

/// The copy was made an hour ago and put in place now.
async fn restored() -> Bench {
    let bench = Bench::new().await;
    bench
        .change(|tx| {
            meta::set(tx, "restored_at", &NOW.to_string()).unwrap();
            meta::set(tx, "restored_from_at", &(NOW - 3_600_000).to_string()).unwrap();
        })
        .await;
    bench
}

fn marks(bench: &Bench) -> i64 {
    bench.db().number("SELECT count(*) FROM meta WHERE key LIKE 'restored%'", [])
}

#[tokio::test]
async fn what_came_between_copy_and_restoring_is_one_digest_and_later_mail_rings() {
    for intent in [Intent::Arrival, CATCH_UP] {
        let bench = restored().await;
        bench.arrive(2, intent).await;
        let later = Sighting { intent: Intent::Arrival, ..sighting(3, NOW + 1) };
        bench.take(vec![later]).await;
        assert_eq!(bench.to_be_told().len(), 1, "what came after the restoring rings at once");
        bench.end(Occasion::CatchUp).await;
        let title = "2 new mails, maybe told before: the history is from a copy".to_owned();
        let body = "Sender 2 – Mail 2\nSender 1 – Mail 1".to_owned();
        assert!(bench.to_be_told().contains(&(title, body)), "{:?}", bench.to_be_told());
        assert_eq!(marks(&bench), 0, "the mailbox was looked through");
        bench.take(vec![sighting(4, NOW)]).await;
        assert_eq!(bench.to_be_told().len(), 3, "from now on all is as always");
        bench.assert_sound().await;
    }
}

#[tokio::test]
async fn the_marks_stay_until_every_mailbox_was_looked_through() {
    let bench = restored().await;
    bench.change(|tx| mailbox::put(tx, &account("a2"), NOW).unwrap()).await;
    bench.end(Occasion::CatchUp).await;
    assert_eq!(marks(&bench), 3);
    bench.take(vec![sighting(1, NOW)]).await;
    assert_eq!(bench.to_be_told().len(), 1, "this mailbox was looked through");
    let bench = bench.restart();
    let other = Sighting {
        account_id: "a2".into(),
        mailbox_id: "a2@example.com".into(),
        delivery_key: "other".into(),
        ..sighting(1, NOW)
    };
    assert_eq!(bench.take(vec![other]).await[0].decision, "hold", "and this one was not");
    let ended = Some(Ended { account_id: "a2".into(), occasion: Occasion::CatchUp });
    intake::take_in(&bench.kernel, Report { ended, ..Report::default() }).await.unwrap();
    assert_eq!((marks(&bench), bench.to_be_told().len()), (0, 2));
    bench.assert_sound().await;
}

#[tokio::test]
async fn a_folder_that_is_rebuilt_meanwhile_is_looked_through_first() {
    let bench = restored().await;
    let cursor = FolderCursor {
        uid_validity: 4,
        next_uid: 9,
        floor_uid: 9,
        backfill: Some(Backfill { from_uid: 1, to_uid: 8, purpose: BackfillPurpose::Rebuild, mails_left: 9 }),
        newest_known_at: None,
        last_check_at: Some(NOW),
    };
    let step = CursorMove { account_id: "a1".into(), folder: "INBOX".to_owned(), cursor };
    let at_work = step.clone();
    bench.change(move |tx| folder::put(tx, &at_work).unwrap()).await;
    bench.end(Occasion::CatchUp).await;
    assert_eq!(marks(&bench), 2, "the folder is still looked through");
    let rebuild = Intent::Rebuild { rings_from: NOW - 3_600_000 };
    bench.take(vec![Sighting { intent: rebuild, ..sighting(100, NOW - 3_600_001) }]).await;
    bench.arrive(2, rebuild).await;
    let over = CursorMove { cursor: FolderCursor { backfill: None, ..step.cursor }, ..step };
    bench.kernel.report(Report { cursor: Some(over), ..Report::default() }).await.unwrap();
    bench.end(Occasion::Rebuild).await;
    assert_eq!(marks(&bench), 0);
    assert_eq!(bench.to_be_told().len(), 1, "one digest: {:?}", bench.to_be_told());
    bench.assert_sound().await;
}

//! Pages of mails, and what goes wrong with them.

use crate::model::mailbox::{Backfill, BackfillPurpose, FolderCursor};
use crate::model::occasion::Occasion;
use crate::model::sighting::Intent;
use crate::net::guard::Violation;
use crate::source::imap::backfill;
use crate::source::imap::session::folder::{Numbers, examine};
use crate::source::imap::session::reply::ImapError;
use crate::source::imap::watched::Trouble;

use super::*;

fn broke(result: Result<u32, Trouble>) -> ImapError {
    match result {
        Err(Trouble::Line(error)) => error,
        other => panic!("expected a broken line: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_is_complete_whatever_way_the_server_tells_it() {
    let case = async |name: &str, uid_next: u32, script: Vec<String>, told: &[(u32, Intent)]| {
        let mut scene = scene(lines(&[&opened(6, uid_next), &script]));
        let result = scene.check(false).await;
        assert!(result.is_ok(), "{name}: {result:?}");
        assert_eq!(scene.told(), told, "{name}");
        assert_eq!(scene.next_uid(), uid_next, "{name}");
        scene.over().await;
    };
    let ok = || "S: $ OK done".to_owned();
    let arrived = |uids: &[u32]| uids.iter().map(|uid| (*uid, Intent::Arrival)).collect::<Vec<_>>();
    case("nothing new", 7, vec![], &[]).await;
    case("one mail", 8, vec![asks("7:7"), fresh(7), ok()], &arrived(&[7])).await;
    let flags = "S: * 1 FETCH (UID 7 FLAGS (\\Seen))".to_owned();
    case("two responses for one mail", 8, vec![asks("7:7"), fresh(7), flags.clone(), ok()], &arrived(&[7])).await;
    case("flags first", 8, vec![asks("7:7"), flags, fresh(7), ok()], &arrived(&[7])).await;
    case("out of order", 9, vec![asks("7:8"), fresh(8), fresh(7), ok()], &arrived(&[7, 8])).await;
    case("a foreign tag's NO", 8, vec![asks("7:7"), "S: X9 NO other".into(), fresh(7), ok()], &arrived(&[7])).await;
    case("the last mail again, though it is older", 8, vec![asks("7:7"), fresh(6), fresh(7), ok()], &arrived(&[7]))
        .await;
    let search = |set: &str, found: &str| {
        vec![format!("C: $ UID SEARCH UID {set}"), format!("S: * SEARCH{found}"), "S: $ OK done".to_owned()]
    };
    let missing =
        [vec![asks("7:9"), fresh(7), fresh(9), ok()], search("7:9", " 7 8 9"), vec![asks("8:8"), fresh(8), ok()]];
    case("one did not come", 10, missing.concat(), &arrived(&[7, 8, 9])).await;
    let gone = [vec![asks("7:9"), fresh(7), fresh(9), ok()], search("7:9", " 7 9")];
    case("one is gone", 10, gone.concat(), &arrived(&[7, 9])).await;
    let none = [vec![asks("7:7"), ok()], vec!["C: $ UID SEARCH UID 7:7".into(), ok()]];
    case("no SEARCH line at all", 8, none.concat(), &[]).await;
    let odd = "S: * 2 FETCH (UID 99999999999 BODY[]<0> {1}\r\nx)".to_owned();
    let no_uid = [vec![asks("7:8"), fresh(7), odd, ok()], search("7:8", " 7 8"), vec![asks("8:8"), fresh(8), ok()]];
    case("a response without UID", 9, no_uid.concat(), &arrived(&[7, 8])).await;
    let noise = ["S: * XYZZY 5 (", "S: * 2 FETCH (UID 8 INTERNALDATE NIL)", "S: * 3 FETCH (FLAGS (\"", "S: "];
    let noisy = [text(&[&asks("7:7")]), text(&noise), vec![fresh(7), ok()]];
    case("what cannot be understood is left out", 8, noisy.concat(), &arrived(&[7])).await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_fetch_is_not_no_mail() {
    for refusal in ["S: $ NO [SERVERBUG] Internal error", "S: $ BAD"] {
        let no = |set: &str| vec![asks(set), refusal.to_owned()];
        let search = |set: &str, found: &str| {
            text(&[&format!("C: $ UID SEARCH UID {set}"), &format!("S: * SEARCH{found}"), "S: $ OK done"])
        };
        let ok = |uids: &[u32], set: &str| {
            lines(&[&[asks(set)], &uids.iter().map(|uid| fresh(*uid)).collect::<Vec<_>>(), &text(&["S: $ OK done"])])
        };
        let script = [
            opened(9, 11),
            no("7:10"),
            search("7:10", " 7 8 9 10"),
            // The whole again, then halves.
            no("7:10"),
            ok(&[7, 8], "7:8"),
            no("9:10"),
            no("9:9"),
            no("9:9"),
            search("9:9", " 9"),
            ok(&[10], "10:10"),
        ];
        let mut scene = scene(script.concat());
        scene.check(false).await.unwrap();
        let expected = [(7, Intent::Arrival), (8, Intent::Arrival), (9, Intent::Unreadable), (10, Intent::Arrival)];
        assert_eq!(scene.told(), expected, "{refusal}");
        assert_eq!(scene.next_uid(), 11);
        scene.over().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_that_breaks_in_a_page_moves_nothing() {
    let case = async |script: Vec<String>, expected: ImapError| {
        let mut scene = scene(lines(&[&opened(6, 9), &[asks("7:8"), fresh(7)], &script]));
        let error = broke(scene.check(false).await);
        assert_eq!(error, expected);
        assert_eq!((scene.told().len(), scene.next_uid()), (0, 7), "{expected}");
        if expected != ImapError::Timeout {
            scene.over().await;
        }
    };
    case(vec![], ImapError::Eof).await;
    case(text(&["S~ * 2 FETCH (UID 8 BODY[]<0> {100}\r\nhalf"]), ImapError::Eof).await;
    case(text(&["HANG"]), ImapError::Timeout).await;
    let large = Violation::LiteralTooLarge { announced: 500_000_000, allowed: 266_240 };
    case(text(&["S: * 2 FETCH (UID 8 BODY[]<0> {500000000}", "S: xxx"]), ImapError::Guard(large)).await;
    case(vec![format!("S: * OK {}", "x".repeat(1 << 20))], ImapError::Guard(Violation::LineTooLong(1 << 20))).await;
    let mut scene = scene(lines(&[&opened(6, 9), &[asks("7:8")], &text(&["S: * BYE [UNAVAILABLE] later"])]));
    assert!(matches!(broke(scene.check(false).await), ImapError::Bye(words) if words.code == "UNAVAILABLE"));
}

#[tokio::test(start_paused = true)]
async fn a_mail_that_breaks_every_session_is_set_aside_and_the_others_are_read() {
    let poison = text(&["S: * 2 FETCH (UID 8 BODY[]<0> {500000000}"]);
    let search = |set: &str, found: &str| {
        text(&[&format!("C: $ UID SEARCH UID {set}"), &format!("S: * SEARCH{found}"), "S: $ OK done"])
    };
    let mut first = scene(lines(&[&opened(8, 10), &[asks("7:9"), fresh(7)], &poison]));
    broke(first.check(false).await);
    let (sink, watched) = first.over().await;
    let second = [
        opened(8, 10),
        vec![asks("7:7"), fresh(7), "S: $ OK".into()],
        search("8:9", " 8 9"),
        vec![asks("8:8")],
        poison,
    ];
    let mut second = next_scene(sink, Some(watched), second.concat());
    broke(second.check(false).await);
    assert_eq!(second.next_uid(), 8, "what came before it is stored");
    let (sink, watched) = second.over().await;
    let third = [opened(8, 10), search("8:9", " 8 9"), vec![asks("9:9"), fresh(9), "S: $ OK".into()]];
    let mut third = next_scene(sink, Some(watched), third.concat());
    third.check(false).await.unwrap();
    assert_eq!(third.told(), [(7, Intent::Arrival), (8, Intent::Unreadable), (9, Intent::Arrival)]);
    assert_eq!(third.next_uid(), 10);
    third.over().await;
}

#[tokio::test(start_paused = true)]
async fn a_wide_gap_is_crossed_by_asking_what_there_is() {
    let script = text(&[
        "C: $ UID SEARCH UID 7:2007",
        "S: $ OK none",
        "C: $ UID SEARCH UID 2008:6008",
        "S: * SEARCH 3000 3001",
        "S: $ OK done",
    ]);
    let rest = [
        vec![asks("3000:6008"), fresh(3000), fresh(3001), "S: $ OK".into()],
        text(&["C: $ UID SEARCH UID 6009:8009", "S: * SEARCH", "S: $ OK"]),
    ];
    let rest_end = text(&["C: $ UID SEARCH UID 8010:8999", "S: * SEARCH", "S: $ OK"]);
    let mut scene = scene([opened(8, 9000), script, rest.concat(), rest_end].concat());
    let before = NOW - DAY_MS;
    scene
        .sink
        .cursors
        .lock()
        .unwrap()
        .insert("INBOX".to_owned(), FolderCursor { last_check_at: Some(before), ..stored() });
    scene.check(false).await.unwrap();
    let caught_up = Intent::Gathered(Occasion::CatchUp);
    assert_eq!(scene.told(), [(3000, caught_up), (3001, caught_up)], "nobody looked for a day");
    assert_eq!(scene.next_uid(), 9000);
    let moves: Vec<Option<i64>> = {
        let reports = scene.sink.reports.lock().unwrap();
        reports.iter().filter_map(|report| report.cursor.as_ref()).map(|moved| moved.cursor.last_check_at).collect()
    };
    assert_eq!(moves, [Some(before), Some(NOW)], "only the last page ends the check");
    scene.over().await;
}

#[tokio::test(start_paused = true)]
async fn after_an_absence_a_folder_is_caught_up_and_between_two_polls_it_is_not() {
    let caught_up = Intent::Gathered(Occasion::CatchUp);
    let cases = [
        (600, false, Intent::Arrival),
        (601, false, caught_up),
        (1200, true, Intent::Arrival),
        (1201, true, caught_up),
    ];
    for (gap_s, in_session, expected) in cases {
        let first = [opened(1, 7), vec![]].concat();
        let script = if in_session { [first, reopened(2, 8)].concat() } else { opened(2, 8) };
        let mut scene = scene([script, vec![asks("7:7"), fresh(7), "S: $ OK".into()]].concat());
        if in_session {
            scene.check(false).await.unwrap();
        }
        scene.desk.context.clock.advance(gap_s * 1000);
        scene.check(false).await.unwrap();
        assert_eq!(scene.told(), [(7, expected)], "{gap_s} s since the last check, in one session: {in_session}");
        assert_eq!(scene.watched.end_catch_up(), expected == caught_up);
        assert!(!scene.watched.end_catch_up(), "it is caught up once");
        scene.over().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_page_that_may_ring_ends_the_looking_through_of_a_renumbered_folder() {
    let page = text(&["C: $ UID SEARCH UID 1:6", "S: * SEARCH 4 5 6", "S: $ OK"]);
    let mails = vec![
        asks("4:6"),
        mail(4, "31-Dec-2025 22:00:00 +0000"),
        mail(5, "31-Dec-2025 23:30:00 +0000"),
        fresh(6),
        "S: $ OK".into(),
    ];
    let mut scene = scene([opened(3, 7), page, mails].concat());
    let range = Backfill { from_uid: 1, to_uid: 6, purpose: BackfillPurpose::Rebuild, mails_left: 9 };
    let cursor = FolderCursor { backfill: Some(range), newest_known_at: Some(NOW), ..stored() };
    scene.sink.cursors.lock().unwrap().insert("INBOX".to_owned(), cursor);
    scene.check(false).await.unwrap();
    backfill::step(&mut scene.reader, &scene.desk, &mut scene.watched).await.unwrap();
    let rebuild = Intent::Rebuild { rings_from: NOW - 3_600_000 };
    assert_eq!(scene.told(), [4, 5, 6].map(|uid| (uid, rebuild)), "intake judges them by their time");
    let ended: Vec<Option<Occasion>> = {
        let reports = scene.sink.reports.lock().unwrap();
        reports.iter().map(|report| report.ended.as_ref().map(|ended| ended.occasion)).collect()
    };
    assert_eq!(ended, [Some(Occasion::Rebuild)], "with the page that was the last");
    scene.over().await;
}

#[tokio::test(start_paused = true)]
async fn old_means_older_than_the_last_check_by_far() {
    let page = vec![
        asks("7:8"),
        mail(7, "29-Dec-2025 23:59:59 +0000"),
        mail(8, "30-Dec-2025 00:00:00 +0000"),
        "S: $ OK".into(),
    ];
    let mut scene = scene([opened(6, 9), page].concat());
    scene.check(false).await.unwrap();
    assert_eq!(scene.told(), [(7, Intent::Old), (8, Intent::Arrival)]);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_set_back_makes_nothing_old() {
    let page = vec![asks("7:7"), fresh(7), "S: $ OK".into()];
    let sink = Arc::new(Recorder::default());
    let checked_ahead = FolderCursor { last_check_at: Some(NOW + 365 * 86_400_000), ..stored() };
    sink.cursors.lock().unwrap().insert("INBOX".to_owned(), checked_ahead);
    let mut scene = next_scene(sink, None, [opened(6, 8), page].concat());
    scene.check(false).await.unwrap();
    assert_eq!(scene.told(), [(7, Intent::Arrival)]);
}

#[tokio::test(start_paused = true)]
async fn a_mail_that_became_visible_late_is_taken_at_the_poll() {
    let script = text(&["C: $ UID SEARCH UID 5:6", "S: * SEARCH 5 6", "S: $ OK"]);
    let mut scene = scene([opened(6, 7), script, vec![asks("5:5"), fresh(5), "S: $ OK".into()]].concat());
    *scene.sink.unknown.lock().unwrap() = vec![scene.watched.place.delivery_key(3, 5)];
    scene.check(true).await.unwrap();
    assert_eq!(scene.told(), [(5, Intent::Arrival)]);
    assert_eq!(scene.next_uid(), 7);
    scene.over().await;
}

#[tokio::test(start_paused = true)]
async fn missing_numbers_are_asked_for() {
    let case = async |script: &[&str], expected: Numbers| {
        let mut all = text(&["C: $ EXAMINE \"A \\\"b\"", "S: * 5 EXISTS", "S: $ OK"]);
        all.extend(text(script));
        let (mut conn, server) = conn(all);
        assert_eq!(examine(&mut conn, "A \"b").await.unwrap(), expected, "{script:?}");
        drop(conn);
        server.await.unwrap();
    };
    let status = "C: $ STATUS \"A \\\"b\" (UIDNEXT UIDVALIDITY)";
    let numbers = |uid_next, uid_validity| Numbers { uid_validity, uid_next, exists: 5 };
    case(&[status, "S: * STATUS \"A \\\"b\" (UIDNEXT 9 UIDVALIDITY 4) ", "S: $ OK"], numbers(Some(9), Some(4))).await;
    let last = ["C: $ UID SEARCH UID *", "S: * SEARCH 12 ", "S: $ OK"];
    case(&[&[status, "S: * STATUS x ()", "S: $ OK"], &last[..]].concat(), numbers(Some(13), None)).await;
    case(&[&[status, "S: $ NO"], &["C: $ UID SEARCH UID *", "S: $ BAD"][..]].concat(), numbers(None, None)).await;
}

#[tokio::test(start_paused = true)]
async fn a_baseline_reads_headers_and_more_only_where_they_are_thin() {
    let headers = |uid: u32, header: &str| {
        format!(
            "S: * 1 FETCH (UID {uid} INTERNALDATE \"01-Jan-2026 00:00:00 +0000\" BODY[HEADER]<0> {{{}}}\r\n{header})",
            header.len()
        )
    };
    let good = "Subject: a\r\nMessage-ID: <a@x.example>\r\nDate: 1 Jan 2026 00:00:00 +0000\r\n\r\n";
    let header_page = |set: &str| format!("C: $ UID FETCH {set} (UID INTERNALDATE BODY.PEEK[HEADER]<0.262144>)");
    let script = [
        opened(4, 7),
        text(&["C: $ UID SEARCH UID 1:4", "S: * SEARCH 2 3 4", "S: $ OK"]),
        vec![
            header_page("2:4"),
            headers(2, good),
            headers(3, "Subject: b\r\n\r\n"),
            headers(4, good),
            "S: $ OK".into(),
        ],
        vec![asks("3:3"), fresh(3), "S: $ OK".into()],
    ];
    let mut scene = scene(script.concat());
    let backfill = Some(Backfill { from_uid: 1, to_uid: 4, purpose: BackfillPurpose::Baseline, mails_left: 9 });
    scene.watched.cursor = Some(FolderCursor { backfill, ..stored() });
    scene.check(false).await.unwrap();
    backfill::step(&mut scene.reader, &scene.desk, &mut scene.watched).await.unwrap();
    assert_eq!(scene.told(), [2, 3, 4].map(|uid| (uid, Intent::Baseline)));
    let bodies: Vec<bool> = scene.sightings().iter().map(|sighting| sighting.facts.body.is_some()).collect();
    assert_eq!(bodies, [false, true, false]);
    let cursor = scene.sink.cursors.lock().unwrap()["INBOX"].clone();
    assert_eq!((cursor.backfill, cursor.next_uid, cursor.newest_known_at), (None, 7, Some(NOW)));
    scene.over().await;
}

#[tokio::test(start_paused = true)]
async fn a_baseline_ends_at_its_window_and_moves_with_each_page() {
    let case = async |mails_left: u32, date: &str, told: usize, left: Option<(u32, u32)>| {
        let page: Vec<String> = (1001..=1200).map(|uid| mail(uid, date)).collect();
        let first = 1200 - mails_left.min(200) + 1;
        let script = [
            opened(2000, 1201),
            text(&["C: $ UID SEARCH UID 1:1200"]),
            vec![format!("S: * SEARCH {}", (1..=1200).map(|uid| uid.to_string()).collect::<Vec<_>>().join(" "))],
            text(&["S: $ OK", &format!("C: $ UID FETCH {first}:1200 (*")]),
            page,
            text(&["S: $ OK"]),
        ];
        let mut scene = scene(script.concat());
        let backfill = Some(Backfill { from_uid: 1, to_uid: 1200, purpose: BackfillPurpose::Baseline, mails_left });
        scene.watched.cursor = Some(FolderCursor { backfill, next_uid: 1201, ..stored() });
        scene.check(false).await.unwrap();
        backfill::step(&mut scene.reader, &scene.desk, &mut scene.watched).await.unwrap();
        assert_eq!(scene.told().len(), told, "{mails_left} {date}");
        let rest = scene.sink.cursors.lock().unwrap()["INBOX"].backfill;
        assert_eq!(rest.map(|range| (range.to_uid, range.mails_left)), left, "{mails_left} {date}");
        scene.over().await;
    };
    case(2000, "31-Dec-2025 00:00:00 +0000", 200, Some((1000, 1800))).await;
    case(200, "31-Dec-2025 00:00:00 +0000", 200, None).await;
    case(50, "31-Dec-2025 00:00:00 +0000", 50, None).await;
    case(2000, "30-Nov-2025 00:00:00 +0000", 0, None).await;
}

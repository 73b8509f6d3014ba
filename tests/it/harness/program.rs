//! Disks, mails and databases of the tests.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;

use crate::support::clock::WallClock;
use crate::support::db::Db;
use crate::support::mail;
use crate::support::program::Program;
use crate::support::tmpfs::SmallDisk;
use crate::support::wait::secs;

/// A program whose place `stand-in.sh` takes.
fn stand_in() -> Program {
    let mut program = Program::new();
    program.use_binary(&Path::new(env!("CARGO_MANIFEST_DIR")).join("it/harness/stand-in.sh"));
    program
}

#[test]
fn a_program_starts_stops_crashes_and_is_killed() {
    let mut program = stand_in();
    let mut running = program.start_headless();
    assert!(running.is_alive() && running.resident_kib() > 0, "it runs");
    assert!(running.stop().success(), "it stops when asked");
    assert_eq!((running.printed().as_str(), running.log().as_str()), ("ready\nstopped", "log line"), "all is read");

    let mut running = program.start_headless();
    running.kill9();
    assert!(!running.is_alive(), "a killed one is gone");

    program.crash_at(Some("before_commit"));
    let status = program.start(&["run", "--headless"]).wait_exit(secs(10));
    assert_eq!(status.signal(), Some(6), "it aborts at the point");
    program.crash_at(None);
    assert!(program.start_headless().stop().success(), "and runs again without it");
}

#[test]
fn a_command_gets_its_input_and_gives_all_it_printed() {
    let program = stand_in();
    let output = program.run(&["mailbox", "add"], "secret\n");
    let (dir, secrets) = (program.data_dir().display(), program.secrets_file());
    let expected = format!("secret\nargs: --data-dir {dir} --secrets file:{} mailbox add\n", secrets.display());
    assert_eq!((output.stdout, output.status.code()), (expected, Some(3)), "{}", output.stderr);
}

#[test]
fn the_program_under_test_is_found_and_answers() {
    let program = Program::new();
    assert_eq!(program.json(&["mailbox", "list"]), json!([]), "a new data folder has no mailbox");
    assert_eq!(program.run(&["no-such-command"], "").status.code(), Some(2), "wrong usage");
}

#[test]
fn a_small_disk_fills_up_and_is_released() {
    let Some(disk) = SmallDisk::mount(256) else {
        return;
    };
    disk.fill();
    let error = fs::write(disk.path().join("more"), [0; 4096]).expect_err("the disk is full");
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    disk.release();
    fs::write(disk.path().join("more"), [0; 4096]).expect("room again");
    let path = disk.path().to_owned();
    drop(disk);
    assert!(!path.exists(), "unmounted and gone");
}

#[test]
fn rows_come_as_objects_and_nothing_can_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Connection::open(dir.path().join("ringonce.db")).unwrap();
    writer
        .execute_batch("PRAGMA journal_mode=WAL; CREATE TABLE t(a, b); INSERT INTO t VALUES (1, x'00ff'), ('ä', NULL)")
        .unwrap();
    let db = Db::open(dir.path());
    assert_eq!(db.rows("SELECT * FROM t", []), [json!({"a": 1, "b": "00ff"}), json!({"a": "ä", "b": null})]);
    assert_eq!(db.number("SELECT count(*) FROM t WHERE a = ?1", [1]), 1);
    let written = std::panic::catch_unwind(|| Db::open(dir.path()).rows("DELETE FROM t RETURNING a", []));
    assert!(written.is_err(), "a test only looks");
    writer.execute("INSERT INTO t VALUES (2, 2)", []).unwrap();
    assert_eq!(db.number("SELECT count(*) FROM t", []), 3, "and sees what is committed");
}

#[test]
fn nasty_mails_differ_and_are_always_the_same() {
    let (first, second) = (mail::nasty(), mail::nasty());
    assert!(first.len() > 10, "a list worth its name");
    let random = |mails: &[(&str, Vec<u8>)]| mails.iter().find(|(name, _)| *name == "random bytes").unwrap().1.clone();
    assert_eq!(random(&first), random(&second), "a failure can be repeated");
    assert!(first.iter().any(|(_, bytes)| bytes.len() > 1 << 20), "one is large");
}

#[test]
fn a_wall_clock_jumps_for_one_program_only() {
    let mut program = Program::new();
    let clock = WallClock::of(&mut program);
    clock.set_offset(3600);
    let shown = std::process::Command::new("date").arg("+%s").envs(program.environment()).output().expect("date runs");
    let shown: i64 = String::from_utf8_lossy(&shown.stdout).trim().parse().expect("seconds");
    let ahead = shown - jiff::Timestamp::now().as_second();
    assert!((3590..=3610).contains(&ahead), "{ahead} s ahead, expected an hour");
}

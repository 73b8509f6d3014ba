//! Disks, mails and databases of the tests.

use rusqlite::Connection;
use serde_json::json;

use crate::support::clock::WallClock;
use crate::support::db::Db;
use crate::support::mail;
use crate::support::program::Program;
use crate::support::tmpfs::SmallDisk;

#[test]
fn a_small_disk_fills_up_and_is_released() {
    let Some(disk) = SmallDisk::mount(256) else {
        return;
    };
    disk.fill();
    let error = std::fs::write(disk.path().join("more"), [0; 4096]).expect_err("the disk is full");
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    disk.release();
    std::fs::write(disk.path().join("more"), [0; 4096]).expect("room again");
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

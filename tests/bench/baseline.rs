//! What the same disk and the same SQLite do with rows of that size when nothing is decided about them.

use std::path::Path;
use std::time::Instant;

use rusqlite::Connection;

/// Rows a second into one table with two indexes, as durable as the store and in transactions of `batch` rows; each row
/// has `bytes` bytes.
pub(crate) fn rows_a_second(folder: &Path, rows: usize, batch: usize, bytes: usize) -> f64 {
    let connection = Connection::open(folder.join("baseline.db")).expect("a database can be made");
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -2048;
             CREATE TABLE bare (id INTEGER PRIMARY KEY, message_key TEXT NOT NULL, other TEXT NOT NULL, rest BLOB) STRICT;
             CREATE UNIQUE INDEX bare_key ON bare (message_key);
             CREATE INDEX bare_other ON bare (other);",
        )
        .expect("a table can be made");
    let rest = vec![7_u8; bytes.saturating_sub(128)];
    let start = Instant::now();
    let mut number = 0;
    while number < rows {
        connection.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
        for _ in 0..batch.min(rows - number) {
            let key = spread(number);
            connection
                .prepare_cached("INSERT INTO bare (message_key, other, rest) VALUES (?1, ?2, ?3)")
                .expect("it is SQL")
                .execute((&key, spread(number + rows), &rest))
                .expect("the row is new");
            number += 1;
        }
        connection.execute_batch("COMMIT").expect("the disk takes it");
    }
    rows as f64 / start.elapsed().as_secs_f64()
}

/// 64 hex digits that lie as far apart as hashes do.
fn spread(number: usize) -> String {
    let mut state = number as u64;
    let mut text = String::with_capacity(64);
    for _ in 0..4 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        text.push_str(&format!("{:016x}", mixed ^ (mixed >> 31)));
    }
    text
}

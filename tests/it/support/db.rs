//! The program's database as a test sees it: read only, by SQL, at every border.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Params};
use serde_json::{Map, Value};

use crate::support::tls::hex;

/// The database of one data folder.
pub struct Db {
    connection: Connection,
}

impl Db {
    /// Opens `<data dir>/ringonce.db`; the program may be running.
    #[must_use]
    pub fn open(data_dir: &Path) -> Self {
        let path = data_dir.join("ringonce.db");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)
            .unwrap_or_else(|error| panic!("{} does not open: {error}", path.display()));
        connection.busy_timeout(Duration::from_secs(10)).expect("a limit for waiting");
        Self { connection }
    }

    /// Every row as an object; blobs as hex digits.
    #[track_caller]
    pub fn rows(&self, sql: &str, params: impl Params) -> Vec<Value> {
        self.try_rows(sql, params).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// The only row.
    ///
    /// # Panics
    /// There is none, or more than one.
    #[track_caller]
    pub fn row(&self, sql: &str, params: impl Params) -> Value {
        let mut rows = self.rows(sql, params);
        assert_eq!(rows.len(), 1, "{sql}: expected one row, found {rows:?}");
        rows.remove(0)
    }

    /// The only column of the only row, a number: `SELECT count(*) …`.
    #[track_caller]
    pub fn number(&self, sql: &str, params: impl Params) -> i64 {
        let row = self.row(sql, params);
        row.as_object()
            .and_then(|row| row.values().next())
            .and_then(Value::as_i64)
            .unwrap_or_else(|| panic!("{sql}: not a number: {row}"))
    }

    fn try_rows(&self, sql: &str, params: impl Params) -> rusqlite::Result<Vec<Value>> {
        let mut statement = self.connection.prepare(sql)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query(params)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let mut object = Map::new();
            for (index, name) in names.iter().enumerate() {
                object.insert(name.clone(), value(row.get_ref(index)?));
            }
            found.push(Value::Object(object));
        }
        Ok(found)
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => hex(bytes).into(),
    }
}

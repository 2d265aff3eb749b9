//! Reads and writes the lines of a dump one by one.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::error::StateError;

/// Format version of a dump.
pub(super) const FORM: u32 = 1;
/// Maximum length of a line. A cart with its stores' responses is far smaller.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// The table whose only row is created by a migration.
pub(super) const MADE: &str = "key_revision";
pub(super) const KEYS: &str = "keys";

#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum Line {
    Head { dump: u32, schema: i64 },
    Row { table: String, row: Map<String, Json> },
    End { end: End },
}

#[derive(Serialize, Deserialize)]
pub(super) struct End {
    pub(super) rows: u64,
}

pub(super) fn damaged(what: &'static str) -> StateError {
    StateError::Dump { what }
}

pub(super) fn write_line(out: &mut (dyn Write + Send), line: &Line) -> Result<(), StateError> {
    let mut text = serde_json::to_vec(line).map_err(|_| damaged("a row cannot be serialised"))?;
    text.push(b'\n');
    out.write_all(&text).map_err(StateError::DumpFile)
}

pub(super) fn next_line(dump: &mut (dyn BufRead + Send)) -> Result<Option<Line>, StateError> {
    let mut line = Vec::new();
    let mut bounded = std::io::Read::take(dump, LINE_BYTES_MAX);
    bounded.read_until(b'\n', &mut line).map_err(StateError::DumpFile)?;
    if line.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(&line)
        .map(Some)
        .map_err(|_| damaged("a line is not valid JSON"))
}

/// Later lines than those of the key table are not read.
pub(super) fn key_rows(dump: &mut (dyn BufRead + Send)) -> Result<Vec<Map<String, Json>>, StateError> {
    let mut rows = Vec::new();
    loop {
        match next_line(dump)? {
            Some(Line::Head { dump: FORM, .. }) => {}
            Some(Line::Row { table, row }) if table == KEYS => rows.push(row),
            Some(Line::Row { table, .. }) if table == MADE => {}
            Some(Line::Row { .. } | Line::End { .. }) => return Ok(rows),
            Some(Line::Head { .. }) | None => return Err(damaged("its rows of keys are missing")),
        }
    }
}

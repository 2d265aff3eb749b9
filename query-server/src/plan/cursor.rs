use api::QueryReader;

use crate::config::CursorKey;
use crate::cursor::{Cursor, FOREIGN};

/// Longest `cursor` parameter, in characters.
const CHARS_MAX: usize = 200;

/// Reads the `cursor` parameter. One that this server did not sign is a fault like any other, told with the others;
/// whether one that it did sign is of the list that is asked for is found out later, from the release.
pub(super) fn read(reader: &mut QueryReader<'_>, key: &CursorKey) -> Option<Cursor> {
    let text = reader.text("cursor", CHARS_MAX)?.into_owned();
    let cursor = Cursor::open(key, &text);
    if cursor.is_none() {
        reader.refuse("cursor", &FOREIGN, Some(text.into()));
    }
    cursor
}

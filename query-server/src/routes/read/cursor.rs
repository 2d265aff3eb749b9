use api::{QueryReader, Rule};

use crate::cursor::Cursor;
use crate::server::QueryServer;

/// Longest `cursor` parameter, in characters.
const CHARS_MAX: usize = 200;

/// The fault of a cursor that is not of the list that is asked for.
pub(in crate::routes) const FOREIGN: Rule = Rule::Value("not a cursor of this list; begin again without it");
/// The fault of a cursor of another release.
pub(in crate::routes) const EXPIRED: Rule =
    Rule::Value("a cursor of another release: what follows may have moved; begin again without it");

/// Reads the `cursor` parameter. One that this server did not sign is a fault like any other, told with the others;
/// whether one that it did sign is of the list that is asked for is found out later, from the release.
pub(in crate::routes) fn cursor(reader: &mut QueryReader<'_>, server: &QueryServer) -> Option<Cursor> {
    let text = reader.optional("cursor").text(CHARS_MAX)?;
    let cursor = server.cursor(&text);
    if cursor.is_none() {
        reader.refuse("cursor", &FOREIGN, Some(text.as_ref().into()));
    }
    cursor
}

use api::{QueryReader, Rule};

use crate::cursor::Cursor;
use crate::server::QueryServer;

/// Maximum length of the `cursor` parameter, in characters.
const CHARS_MAX: usize = 200;

/// Fault of a cursor that belongs to another list.
pub(in crate::routes) const FOREIGN: Rule =
    Rule::Value("the cursor does not belong to this list: start again without a cursor");
pub(in crate::routes) const EXPIRED: Rule =
    Rule::Value("the cursor belongs to another release, so the order may have changed: start again without a cursor");

/// Reads the `cursor` parameter. A cursor that this server did not sign is reported with the other faults. The list of
/// a signed cursor is checked later, because the check needs the release.
pub(in crate::routes) fn cursor(reader: &mut QueryReader<'_>, server: &QueryServer) -> Option<Cursor> {
    let text = reader.optional("cursor").text(CHARS_MAX)?;
    let cursor = server.cursor(&text);
    if cursor.is_none() {
        reader.refuse("cursor", &FOREIGN, Some(text.as_ref().into()));
    }
    cursor
}

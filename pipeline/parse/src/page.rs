use std::borrow::Cow;

use crate::cursor::Cursor;
use crate::error::{BadRecord, EXCERPT_BYTES_MAX, ParseError, excerpt};
use crate::raw::RawProduct;
use crate::record;

/// Maximum length of a body in bytes.
pub const PAGE_BYTES_MAX: usize = 256 << 20;

/// Maximum number of records read of one body. Shopify's pages have at most 250.
pub const RECORDS_MAX: usize = 25_000;

/// Maximum number of opening braces in one body. A page of 250 products, each with 250 images and 250 variants with
/// their own image, has three quarters as many. A small body of empty records must not become a large structure.
const BRACES_MAX: usize = 250_000;

/// Number of invalid characters that are replaced in any body. One more is allowed per `BYTES_PER_INVALID` bytes,
/// because some apps truncate texts within a character. A body with more has another encoding, so that every word might
/// be wrong.
const INVALID_MAX: usize = 32;
const BYTES_PER_INVALID: usize = 1000;

const BEGINNING_BYTES: usize = 80;

/// Records of one page, in the page's order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProductsPage<'a> {
    /// Parsed product or error for each record.
    pub records: Vec<Result<RawProduct<'a>, BadRecord>>,
}

/// Parses a catalogue page (`/products.json`, `/collections/{handle}/products.json`), the response for one product
/// (`/products/{handle}.json`), or a bare list of products. A bare list does not state the type of its items. It counts
/// as a list of products only if it is not empty and contains only objects.
///
/// # Errors
/// [`ParseError`] if the body as a whole is not a page, or is truncated. A bad record is not an error of the page.
pub fn parse_products_page(bytes: &[u8]) -> Result<ProductsPage<'_>, ParseError> {
    match page_text(bytes)? {
        Cow::Borrowed(text) => parse_products_text(text),
        Cow::Owned(text) => {
            let owned = |verdict: Verdict<'_>| verdict.map(RawProduct::into_owned);
            let records = records(&text, |cursor, position| judge(cursor, position).map(owned))?;
            Ok(ProductsPage { records })
        }
    }
}

/// Returns the text of a body, for [`parse_products_text`] and [`record_excerpts`]. A few invalid characters are
/// replaced.
///
/// # Errors
/// [`ParseError::TooLarge`], or [`ParseError::NotUtf8`] if too many characters are invalid.
pub fn page_text(bytes: &[u8]) -> Result<Cow<'_, str>, ParseError> {
    let body = trimmed(bytes);
    check_size(body)?;
    if let Ok(text) = std::str::from_utf8(body) {
        return Ok(Cow::Borrowed(text));
    }
    let invalid_max = INVALID_MAX + body.len() / BYTES_PER_INVALID;
    let broken = body.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty());
    let invalid = broken.take(invalid_max + 1).count();
    if invalid > invalid_max {
        let bytes = body.len();
        return Err(ParseError::NotUtf8 { invalid, bytes });
    }
    Ok(String::from_utf8_lossy(body))
}

/// Parses the [`page_text`] of a body as [`parse_products_page`] does. The text is borrowed, not copied.
///
/// # Errors
/// The errors of [`parse_products_page`].
pub fn parse_products_text(text: &str) -> Result<ProductsPage<'_>, ParseError> {
    Ok(ProductsPage {
        records: records(text, judge)?,
    })
}

/// Calls `read` with each record as [`parse_products_text`] would return it, so that only one is in memory. Returns the
/// number of records. If the page as a whole is bad, `read` has received its first records.
///
/// # Errors
/// The errors of [`parse_products_page`].
pub fn for_each_product<'a>(
    text: &'a str,
    mut read: impl FnMut(Result<RawProduct<'a>, BadRecord>),
) -> Result<usize, ParseError> {
    let records = records(text, |cursor, position| judge(cursor, position).map(&mut read))?;
    Ok(records.len())
}

/// Returns the texts of the records at `positions` (from 1) of a page of [`parse_products_text`]. Each text is
/// truncated to [`EXCERPT_BYTES_MAX`], and is empty if the record does not exist.
#[must_use]
pub fn record_excerpts(text: &str, positions: &[usize]) -> Vec<String> {
    let records = records(text, |cursor, _| cut(cursor)).unwrap_or_default();
    let record = |position: &usize| position.checked_sub(1).and_then(|index| records.get(index));
    let shown = |record: &&str| excerpt(record.as_bytes(), EXCERPT_BYTES_MAX);
    positions
        .iter()
        .map(|position| record(position).map(shown).unwrap_or_default())
        .collect()
}

type Verdict<'a> = Result<RawProduct<'a>, BadRecord>;

/// Parses the record at the cursor, at `position` (from 1) of its page. A bad record is skipped.
fn judge<'a>(cursor: &mut Cursor<'a>, position: usize) -> Result<Verdict<'a>, ParseError> {
    let mut behind = cursor.clone();
    match record::product(cursor) {
        Ok(product) => Ok(Ok(product)),
        Err(fault) => {
            let text = cut(&mut behind)?;
            cursor.go_to(&behind);
            let (id, reason) = (record::product_id(text), fault.to_string());
            Ok(Err(BadRecord {
                id,
                position,
                reason,
                excerpt: excerpt(text.as_bytes(), EXCERPT_BYTES_MAX),
            }))
        }
    }
}

fn cut<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, ParseError> {
    cursor.skip().map_err(|_| stuck(cursor, "a record"))
}

fn records<'a, T>(
    text: &'a str,
    mut read: impl FnMut(&mut Cursor<'a>, usize) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    let mut cursor = Cursor::new(text);
    let no_products = || ParseError::NoProducts {
        begins_with: excerpt(text.as_bytes(), BEGINNING_BYTES),
    };
    let records = match cursor.peek() {
        None => return Err(ParseError::Empty),
        Some(b'[') => {
            let mut read_object = |cursor: &mut Cursor<'a>, position| match cursor.peek() {
                Some(b'{') | None => read(cursor, position),
                Some(_) => Err(no_products()),
            };
            Some(list(&mut cursor, &mut read_object)?).filter(|records| !records.is_empty())
        }
        Some(b'{') => envelope(&mut cursor, &mut read)?,
        Some(_) => {
            return Err(ParseError::NotJson {
                begins_with: excerpt(text.as_bytes(), BEGINNING_BYTES),
            });
        }
    };
    if cursor.peek().is_some() {
        return Err(stuck(&cursor, "the end"));
    }
    records.ok_or_else(no_products)
}

fn envelope<'a, T>(
    cursor: &mut Cursor<'a>,
    read: &mut impl FnMut(&mut Cursor<'a>, usize) -> Result<T, ParseError>,
) -> Result<Option<Vec<T>>, ParseError> {
    let (mut records, mut failure) = (None, None);
    let read_members = cursor.members(|cursor, name| {
        let read = match (name, cursor.peek()) {
            ("products", Some(b'[')) => list(cursor, read).map(Some),
            ("product", Some(b'{')) => read(cursor, 1).map(|record| Some(vec![record])),
            _ => return cursor.skip().map(|_| ()),
        };
        read.map(|read| records = read).map_err(|error| {
            failure = Some(error);
            cursor.unexpected("records")
        })
    });
    match (read_members, failure) {
        (Ok(()), _) => Ok(records),
        (Err(_), Some(error)) => Err(error),
        (Err(_), None) => Err(stuck(cursor, "a member")),
    }
}

fn list<'a, T>(
    cursor: &mut Cursor<'a>,
    read: &mut impl FnMut(&mut Cursor<'a>, usize) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    let mut records = Vec::new();
    let opened = cursor.take(b'[');
    while opened && !cursor.take(b']') {
        if records.len() == RECORDS_MAX {
            return Err(ParseError::TooLarge {
                what: "records",
                found: RECORDS_MAX + 1,
                limit: RECORDS_MAX,
            });
        }
        records.push(read(cursor, records.len() + 1)?);
        if !cursor.take(b',') && cursor.peek() != Some(b']') {
            return Err(stuck(cursor, "a comma or the end of the array"));
        }
    }
    Ok(records)
}

/// Creates the error of a page whose JSON is invalid or truncated at the cursor.
fn stuck(cursor: &Cursor<'_>, expected: &'static str) -> ParseError {
    let mut cursor = cursor.clone();
    let ended = cursor.peek().is_none();
    let at = cursor.at();
    if ended {
        ParseError::Truncated { bytes: at }
    } else {
        ParseError::Malformed { offset: at, expected }
    }
}

fn check_size(body: &[u8]) -> Result<(), ParseError> {
    if body.len() > PAGE_BYTES_MAX {
        return Err(ParseError::TooLarge {
            what: "bytes",
            found: body.len(),
            limit: PAGE_BYTES_MAX,
        });
    }
    let braces = memchr::memchr_iter(b'{', body).count();
    if braces > BRACES_MAX {
        return Err(ParseError::TooLarge {
            what: "opening braces",
            found: braces,
            limit: BRACES_MAX,
        });
    }
    Ok(())
}

/// Returns the body without a byte order mark and surrounding white space.
pub(crate) fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii()
}

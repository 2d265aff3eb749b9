//! Reads only the page data that paging needs.

use std::fmt;

use pipeline_parse::{ParseError, for_each_product, page_text};
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::StoreFacts;

/// Page data that paging needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageScan {
    /// Number of records on the page.
    pub records: u32,
    /// Ids of the records. Some records have none.
    pub ids: Vec<u64>,
}

/// Page as parsed by its reader.
#[derive(Debug)]
pub struct ReadPage<T> {
    /// The data that paging needs.
    pub scan: PageScan,
    /// Data that the reader keeps for its caller. `None` if it keeps nothing.
    pub kept: Option<T>,
}

/// Function that parses product pages during the crawl, so that they need not be read again later. It may be slow. It
/// fails if the body is not a product page.
pub type PageReader<T> = dyn Fn(&StoreFacts, &[u8]) -> Result<ReadPage<T>, ParseError> + Send + Sync;

/// Reads only the data that paging needs.
///
/// # Errors
/// The body is not a product page.
pub fn scan_only<T>(body: &[u8]) -> Result<ReadPage<T>, ParseError> {
    let (scan, kept) = (scan_products(body)?, None);
    Ok(ReadPage { scan, kept })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Collection {
    pub(crate) handle: String,
    pub(crate) products: Option<u64>,
}

const COLLECTIONS_BYTES_MAX: usize = 8 << 20;
const COLLECTION_BYTES_MAX: usize = 256 << 10;

pub(crate) fn scan_products(page: &[u8]) -> Result<PageScan, ParseError> {
    let mut ids = Vec::new();
    let records = for_each_product(&page_text(page)?, |record| {
        ids.extend(record.map_or_else(|bad| bad.id, |product| Some(product.id)));
    })?;
    Ok(PageScan {
        records: u32::try_from(records).unwrap_or(u32::MAX),
        ids,
    })
}

/// Parses `{"collections":[…]}`. Returns the number of entries, and those with a handle. Returns `None` for any other
/// document.
pub(crate) fn scan_collections(page: &[u8]) -> Option<(usize, Vec<Collection>)> {
    let page = page
        .get(..COLLECTIONS_BYTES_MAX.min(page.len()))
        .filter(|cut| cut.len() == page.len())?;
    let page = data_model::mended(page);
    let CollectionsPage { collections } = serde_json::from_str(&page).ok()?;
    Some((collections.count, collections.usable))
}

#[derive(serde::Deserialize)]
struct CollectionsPage {
    collections: Entries,
}

/// List whose entries are parsed one by one.
#[derive(Default)]
struct Entries {
    count: usize,
    usable: Vec<Collection>,
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of collections")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Entries, A::Error> {
        let mut entries = Entries::default();
        while let Some(entry) = list.next_element::<&'de RawValue>()? {
            entries.count += 1;
            entries.usable.extend(collection(entry.get()));
        }
        Ok(entries)
    }
}

fn collection(entry: &str) -> Option<Collection> {
    let entry: Value = serde_json::from_str(entry.get(..COLLECTION_BYTES_MAX.min(entry.len()))?).ok()?;
    let handle = entry.get("handle")?.as_str().filter(|handle| !handle.is_empty())?;
    let products = entry.get("products_count").and_then(Value::as_u64);
    Some(Collection {
        handle: handle.to_owned(),
        products,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_any_shape_are_counted_and_ids_are_read_where_there_are_some() {
        let page = br#"{"products":[{"title":"A","id":7,"variants":[{"id":8}]},{"id":null},5,"x",[1],null]}"#;
        assert_eq!(
            scan_products(page).unwrap(),
            PageScan {
                records: 6,
                ids: vec![7]
            }
        );
        assert_eq!(
            scan_products(b"\xef\xbb\xbf{\"products\":[]}").unwrap(),
            PageScan::default()
        );
        assert!(scan_products(b"<html>").is_err());
    }

    #[test]
    fn collections_without_a_handle_are_left_out() {
        let page = br#"{"collections":[{"handle":"shoes","products_count":12},{"handle":""},{"handle":"tea","products_count":"x"},3]}"#;
        let shoes = Collection {
            handle: "shoes".into(),
            products: Some(12),
        };
        let tea = Collection {
            handle: "tea".into(),
            products: None,
        };
        assert_eq!(scan_collections(page), Some((4, vec![shoes, tea])));
        assert_eq!(scan_collections(b"{}"), None);
    }
}

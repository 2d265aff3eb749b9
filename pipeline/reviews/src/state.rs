//! Each store's review app, as far as it is known, and the place to which its reviews were read.

use std::collections::BTreeSet;
use std::io::Read;

use data_model::{StoreHost, Timestamp};
use data_storage::{Storage, StorageError, get_bytes, put_over};
use object_store::path::Path;
use pipeline_widgets::{Next, WidgetKey};
use serde::{Deserialize, Serialize};

/// Largest state that is read, unpacked.
const STATE_BYTES_MAX: u64 = 256 << 20;

/// The state of one store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StoreState {
    /// The app that it uses.
    pub(crate) widget: Option<WidgetKey>,
    /// The moment at which its pages were last looked at for it.
    pub(crate) looked_at: Option<Timestamp>,
    /// Looks in a row that did not find the app that is known.
    pub(crate) missed: u32,
    /// The moment at which it was last asked.
    pub(crate) asked_at: Option<Timestamp>,
    /// The moment at which the list of its reviews was last read to its end.
    pub(crate) swept_at: Option<Timestamp>,
    /// The validator of the first answer, while everything is in order.
    pub(crate) etag: Option<String>,
    /// The app's count when everything was last in order.
    pub(crate) known: Option<KnownCount>,
    /// Reviews that the app counts and the lake does not hold: of products that are not listed, or refused.
    pub(crate) aside: BTreeSet<String>,
    /// A reading of the list that is not at its end.
    pub(crate) walk: Option<Walk>,
    /// The end of the last reading that saw fewer reviews than the app counts: its count, and the number that was seen.
    pub(crate) short: Option<(u64, u64)>,
    /// Reviews that the last reading took away, where they were too many to be believed at once.
    pub(crate) steep: Option<u64>,
    /// Products whose ratings are to be asked for.
    pub(crate) pending: BTreeSet<u64>,
    /// The product whose ratings were asked for last: the next run goes on behind it.
    pub(crate) rated_to: Option<u64>,
    /// The beginning of the last reading of the whole list that came to its end: the landings since have all of it.
    pub(crate) whole_since: Option<Timestamp>,
}

/// An app's count, and the number that was held of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct KnownCount {
    /// Reviews by the app's count; `None` where it gives none.
    pub(crate) total: Option<u64>,
    /// Sum of their stars, where it says so.
    pub(crate) stars: Option<f64>,
    /// Reviews that the lake held then.
    pub(crate) kept: u64,
}

/// The stage of a reading of the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Walk {
    /// The page that comes next.
    pub(crate) next: Next,
    /// Reviews that were seen on the pages before.
    pub(crate) seen: BTreeSet<String>,
    /// It goes to the end of the list, whatever is known.
    pub(crate) sweeps: bool,
    /// The app's count with the last page.
    #[serde(default)]
    pub(crate) counted: Option<u64>,
    /// It counted fewer than before: pages have moved, and a review may stand on one that was read already.
    #[serde(default)]
    pub(crate) has_shrunk: bool,
    /// Its beginning.
    #[serde(default)]
    pub(crate) began_at: Option<Timestamp>,
}

impl Walk {
    pub(crate) fn new(sweeps: bool) -> Self {
        Self {
            next: Next::Page(1),
            seen: BTreeSet::new(),
            sweeps,
            counted: None,
            has_shrunk: false,
            began_at: None,
        }
    }

    /// True where a page was taken: the landing of a reading without one says nothing of where it began.
    pub(crate) fn has_begun(&self) -> bool {
        !self.seen.is_empty() || self.next != Next::Page(1)
    }

    /// True where as many were seen as the app counts.
    pub(crate) fn is_all(&self) -> bool {
        self.counted.is_some_and(|counted| self.seen.len() as u64 >= counted)
    }
}

fn at(store: &StoreHost) -> Path {
    Path::from_iter(["crawl-state", &format!("{store}-widget.json.zst")])
}

/// The state of the store; nothing, where it is missing or cannot be understood: the app will answer again.
pub(crate) async fn load(storage: &Storage, store: &StoreHost) -> Result<StoreState, StorageError> {
    let packed = get_bytes(storage, &at(store)).await?;
    Ok(packed.and_then(|packed| unpack(&packed)).unwrap_or_default())
}

fn unpack(packed: &[u8]) -> Option<StoreState> {
    let decoder = zstd::stream::Decoder::with_buffer(packed).ok()?;
    serde_json::from_reader(std::io::BufReader::new(decoder.take(STATE_BYTES_MAX))).ok()
}

/// Notes it, after the lake has what was read.
pub(crate) async fn save(storage: &Storage, store: &StoreHost, state: &StoreState) -> Result<(), StorageError> {
    let json = serde_json::to_vec(state).unwrap_or_default();
    // Packing bytes in memory does not fail; if it did, what was known would stand.
    match zstd::encode_all(json.as_slice(), 3) {
        Ok(packed) => put_over(storage, &at(store), packed).await,
        Err(_) => Ok(()),
    }
}

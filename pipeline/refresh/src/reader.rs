use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use data_lake::ProductColumns;
use data_model::{CurrencyCode, Product};
use pipeline_crawl::{PageReader, PageScan, RegisteredBrand, ScanOnly, StoreFacts};
use pipeline_normalise::{Gather, PageRead, StoreContext};
use pipeline_parse::ParseError;

/// Room for pages that were read while their store was being crawled, in bytes of their bodies.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    bytes_max: u64,
    used: Arc<AtomicU64>,
}

impl Room {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self {
            bytes_max,
            used: Arc::default(),
        }
    }

    fn take(&self, bytes: u64) -> bool {
        let add = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.bytes_max);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// About what a variant takes at least, once it is understood.
const VARIANT_BYTES: u64 = 600;

/// The products of a page in the lake's columns: what is read ahead takes less memory so, and is written as it is.
#[derive(Debug, Default)]
pub(crate) struct Columns(pub(crate) ProductColumns);

impl Gather for Columns {
    fn with_room(products: usize, page_bytes: usize) -> Self {
        Self(ProductColumns::with_room(products, page_bytes))
    }

    fn push(&mut self, product: Product) {
        self.0.push(product);
    }
}

/// Understands the pages of one store while they come in, as long as there is room; the others are read again from
/// the landing.
#[derive(Debug)]
pub(crate) struct StoreReader {
    registered: RegisteredBrand,
    currency_before: Option<CurrencyCode>,
    room: Room,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: u64,
    /// By the SHA-256 of their bodies.
    pages: HashMap<String, KeptPage>,
}

#[derive(Debug)]
struct KeptPage {
    /// What its prices were understood in.
    currency: CurrencyCode,
    page: PageRead<Columns>,
    /// The room that it takes.
    bytes: u64,
}

impl StoreReader {
    pub(crate) fn new(registered: RegisteredBrand, currency_before: Option<CurrencyCode>, room: Room) -> Self {
        Self {
            registered,
            currency_before,
            room,
            kept: Mutex::default(),
        }
    }

    /// A page that was read with this outcome, if it was kept and nobody took it before.
    pub(crate) fn take(&self, sha256: &str, context: &StoreContext) -> Option<PageRead<Columns>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.pages.remove(sha256)?;
        // Its room is given back with the reader: whoever takes the page keeps it about as long.
        (kept.currency == context.currency).then_some(kept.page)
    }
}

impl PageReader for StoreReader {
    fn scan(&self, facts: &StoreFacts, sha256: &str, body: &[u8]) -> Result<PageScan, ParseError> {
        let bytes = body.len() as u64;
        let context = context_of(&self.registered, facts, self.currency_before).ok();
        let Some(context) = context.filter(|_| self.room.take(bytes)) else {
            return ScanOnly.scan(facts, sha256, body);
        };
        let page = match PageRead::<Columns>::of(body, &context) {
            Ok(page) => page,
            Err(error) => {
                self.room.give_back(bytes);
                return Err(error);
            }
        };
        let scan = PageScan {
            records: u32::try_from(page.records()).unwrap_or(u32::MAX),
            ids: page.ids().to_vec(),
        };
        // Many small variants take more memory than the page that lists them.
        let more = (page.variants() as u64 * VARIANT_BYTES).saturating_sub(bytes);
        if !self.room.take(more) {
            self.room.give_back(bytes);
            return Ok(scan);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = bytes + more;
        kept.bytes += bytes;
        let page = KeptPage {
            currency: context.currency,
            page,
            bytes,
        };
        // The same page once more takes no more room.
        if let Some(same) = kept.pages.insert(sha256.to_owned(), page) {
            kept.bytes -= same.bytes;
            self.room.give_back(same.bytes);
        }
        Ok(scan)
    }

    fn forget(&self, sha256: &str) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = kept.pages.remove(sha256) {
            kept.bytes -= page.bytes;
            self.room.give_back(page.bytes);
        }
    }
}

impl Drop for StoreReader {
    fn drop(&mut self) {
        let kept = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.room.give_back(kept.bytes);
    }
}

/// Why it is not known what the prices of a store are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CurrencyFault {
    /// Nobody says.
    #[error("neither the store nor the registry says which currency its prices are in")]
    Unknown,
    /// The operator says something else than the pages.
    #[error("its pages show prices in {presented}, it is registered with {registered}")]
    Contradicted {
        /// What the pages say.
        presented: CurrencyCode,
        /// What the operator says.
        registered: CurrencyCode,
    },
}

/// What the pages of a store are understood by. The pages' own word on their amounts counts before what the store says
/// of itself. The operator's counts before that too, but not against the pages: to take amounts for those of another
/// currency is worse than to take none.
pub(crate) fn context_of(
    registered: &RegisteredBrand,
    facts: &StoreFacts,
    currency_before: Option<CurrencyCode>,
) -> Result<StoreContext, CurrencyFault> {
    let currency = match (registered.currency, facts.presented) {
        (Some(registered), Some(presented)) if registered != presented => {
            return Err(CurrencyFault::Contradicted { presented, registered });
        }
        // A store that describes itself only now and then has not changed its currency in between.
        (registered, _) => registered.or(facts.prices_in()).or(currency_before),
    };
    let currency = currency.ok_or(CurrencyFault::Unknown)?;
    Ok(StoreContext {
        store: registered.store.clone(),
        currency,
        base_url: registered.base_url_text().to_owned(),
    })
}

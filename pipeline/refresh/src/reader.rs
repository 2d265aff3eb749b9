use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use data_lake::ProductColumns;
use data_model::{CategoryId, CurrencyCode, Product};
use pipeline_crawl::{PageReader, PageScan, ReadPage, RegisteredBrand, StoreFacts, scan_only};
use pipeline_normalise::{Gather, PageRead, StoreContext};
use storefront::{MemoryBudget, Reservation};

use crate::omitted::OmittedVariants;

/// Memory for pages that are parsed while their store is being crawled.
#[derive(Debug, Clone)]
pub(crate) struct MemoryQuota {
    bytes_max: u64,
    used: Arc<AtomicU64>,
    memory: MemoryBudget,
}

/// Memory of one page in a [`MemoryQuota`], until it is dropped.
#[derive(Debug)]
struct Hold {
    used: Arc<AtomicU64>,
    bytes: u64,
    reservation: Option<Reservation>,
}

impl MemoryQuota {
    pub(crate) fn new(bytes_max: u64, memory: MemoryBudget) -> Self {
        Self {
            bytes_max,
            used: Arc::default(),
            memory,
        }
    }

    fn take(&self, bytes: u64) -> Option<Hold> {
        let add = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.bytes_max);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()?;
        let mut hold = Hold {
            used: Arc::clone(&self.used),
            bytes,
            reservation: None,
        };
        hold.reservation = Some(self.memory.try_rows(bytes)?);
        Some(hold)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Products of a page in the lake's column format, which needs less memory and can be written directly.
#[derive(Debug)]
pub(crate) struct Columns {
    rows: ProductColumns,
    bytes_max: u64,
    /// True if the products exceeded the size limit. None are then kept.
    is_over: bool,
}

impl Columns {
    /// Limits the columns to `bytes_max` bytes of memory.
    pub(crate) fn bounded(bytes_max: u64, page_bytes: usize) -> Self {
        Self {
            rows: ProductColumns::with_room(PRODUCTS_EXPECTED.min(page_bytes / RECORD_BYTES), page_bytes),
            bytes_max,
            is_over: false,
        }
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    pub(crate) fn into_rows(self) -> ProductColumns {
        self.rows
    }
}

impl Gather for Columns {
    fn with_room(_: usize, page_bytes: usize) -> Self {
        Self::bounded(u64::MAX, page_bytes)
    }

    fn push(&mut self, product: Product) {
        if self.is_over {
            return;
        }
        self.rows.push(product);
        if self.rows.memory_bytes() as u64 > self.bytes_max {
            (self.rows, self.is_over) = (ProductColumns::default(), true);
        }
    }

    fn file(&mut self, row: usize, category: Option<CategoryId>) {
        self.rows.set_category(row, category);
    }
}

/// Approximate number of products per page, and bytes of a product record.
const PRODUCTS_EXPECTED: usize = 250;
const RECORD_BYTES: usize = 2_000;

/// Returns the approximate bytes of a parsed page in memory.
pub(crate) fn page_memory(page: &PageRead<Columns>) -> u64 {
    (page.memory_bytes() + page.products().rows.memory_bytes()) as u64
}

/// Page that was parsed while its store was crawled.
#[derive(Debug)]
pub(crate) struct KeptPage {
    /// The page's prices were parsed in this currency.
    currency: CurrencyCode,
    page: PageRead<Columns>,
    hold: Hold,
}

impl KeptPage {
    /// Returns the page and its memory reservation, if its prices were parsed in the currency of `context`.
    pub(crate) fn taken(mut self, context: &StoreContext) -> Option<(PageRead<Columns>, Reservation)> {
        let reservation = self.hold.reservation.take()?;
        (self.currency == context.currency).then_some((self.page, reservation))
    }
}

/// Creates a reader that parses the pages of one store as they arrive, while memory is available. Pages that do not fit
/// are read later from the landing.
pub(crate) fn page_reader(
    registered: RegisteredBrand,
    currency_before: Option<CurrencyCode>,
    room: MemoryQuota,
    omitted: Arc<OmittedVariants>,
) -> Arc<PageReader<KeptPage>> {
    Arc::new(move |facts, body| {
        let context = context_of(&registered, facts, currency_before).ok();
        let taken = context.and_then(|context| Some((context, room.take(body.len() as u64)?)));
        let Some((context, hold)) = taken else {
            return scan_only(body);
        };
        let bytes_max = room.memory.scan_bytes_max(body.len() as u64);
        let columns = Columns::bounded(bytes_max, body.len());
        let page = PageRead::into(columns, body, &context, |id| omitted.of(id, context.currency))?;
        let scan = PageScan {
            records: u32::try_from(page.records()).unwrap_or(u32::MAX),
            ids: page.ids().to_vec(),
        };
        // The real size is known only now. Before, it was estimated from the body's size.
        drop(hold);
        let hold = room.take(page_memory(&page)).filter(|_| !page.products().is_over);
        let currency = context.currency;
        let kept = hold.map(|hold| KeptPage { currency, page, hold });
        Ok(ReadPage { scan, kept })
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CurrencyFault {
    /// Neither the store nor the operator states the currency.
    #[error("neither the store nor the registry states the currency of its prices")]
    Unknown,
    /// The operator and the pages state different currencies.
    #[error("the store's pages show prices in {presented}, but it is registered with {registered}")]
    Contradicted {
        /// Currency on the pages.
        presented: CurrencyCode,
        /// Currency of the operator.
        registered: CurrencyCode,
    },
}

/// Returns the context in which the pages of a store are parsed. The currency on the pages takes precedence over the
/// store's self-description. The operator's setting takes precedence over both, but must not contradict the pages,
/// because prices in a wrong currency are worse than none.
pub(crate) fn context_of(
    registered: &RegisteredBrand,
    facts: &StoreFacts,
    currency_before: Option<CurrencyCode>,
) -> Result<StoreContext, CurrencyFault> {
    let currency = match (registered.currency, facts.presented) {
        (Some(registered), Some(presented)) if registered != presented => {
            return Err(CurrencyFault::Contradicted { presented, registered });
        }
        // If the store temporarily does not describe itself, the earlier currency still applies.
        (registered, _) => registered.or(facts.prices_in()).or(currency_before),
    };
    let currency = currency.ok_or(CurrencyFault::Unknown)?;
    Ok(StoreContext {
        store: registered.store.clone(),
        currency,
        base_url: registered.base_url_text().to_owned(),
    })
}

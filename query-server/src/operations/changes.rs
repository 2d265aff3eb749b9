use api::EntityTag;
use data_index::columns::GoneRef;
use data_index::{Release, RowAddress};
use data_model::{BrandSlug, ProductIdent, Timestamp};

use super::browse::LIST_MAX;
use super::{Answer, Conditional, IfNoneMatch, Limit, OperationError, ParsedName};
use crate::cursor::{Cursor, Cursors};
use crate::render::{changes, json};
use crate::server::QueryServer;

/// Maximum number of rows that one page examines. In a market with few changes, a page may be short but is never slow.
const ROWS_MAX: usize = 250_000;

/// Request for changed products.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChangesRequest {
    /// Earliest observation time of a change.
    pub since: Timestamp,
    /// Brand of the products.
    pub brand: Option<ParsedName<BrandSlug>>,
    /// Maximum number of products on the page.
    pub limit: Limit<100, 500>,
    /// End of the previous page; see [`QueryServer::cursor`].
    pub cursor: Option<Cursor>,
}

impl ChangesRequest {
    /// Requests the first page of changes in all brands.
    #[must_use]
    pub fn since(since: Timestamp) -> Self {
        Self {
            since,
            brand: None,
            limit: Limit::default(),
            cursor: None,
        }
    }
}

impl QueryServer {
    /// Returns one page of changes: first the added or changed products in release order, then the removed products,
    /// the newest first.
    ///
    /// # Errors
    /// `BrandNotFound`, `ForeignCursor`, `ExpiredCursor`, `Overloaded`, `NotReady`.
    pub async fn changes(&self, request: ChangesRequest) -> Result<Answer, OperationError> {
        self.changes_unless(request, IfNoneMatch::NOTHING).await?.whole()
    }

    pub(crate) async fn changes_unless(
        &self,
        request: ChangesRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let served = self.served()?;
        let brand = request.brand.as_ref().map(|brand| {
            let slug = brand.known().ok_or(OperationError::BrandNotFound)?;
            let entry = served.release.brand_by_slug(slug);
            let store = entry.map(|entry| &entry.facts.brand.store);
            let position = store.and_then(|store| served.release.brand_index(store));
            position.ok_or(OperationError::BrandNotFound)
        });
        let brand = brand.transpose()?;
        let key = self.0.config.cursor_key.clone();
        let list = format!("{} {brand:?}", request.since.micros());
        let start = match &request.cursor {
            Some(cursor) => {
                let cursors = Cursors::new(&key, served.stamp(), &[b"changes", list.as_bytes()]);
                ChangesPlace::of(cursors.position(cursor)?)
            }
            None => ChangesPlace::default(),
        };
        let tag = EntityTag::following(&[served.stamp(), b"changes", key.bytes()], &request);
        if known.has(&tag) {
            return Ok(Conditional::NotModified(tag));
        }
        let walk = move || {
            let cursors = Cursors::new(&key, served.stamp(), &[b"changes", list.as_bytes()]);
            let page = ChangedRows::walk(&served.release, brand, start, &request);
            let next = page.next.map(|next| cursors.write(next.packed()));
            let ChangedRows {
                rows, gone, is_capped, ..
            } = page;
            json(
                4096,
                &changes::page(&served, &rows, &gone, request.since, next, is_capped),
            )
        };
        let json = self.0.searches.run(walk).await?;
        Ok(Conditional::Answer(Answer::made(tag, json)))
    }
}

/// Position in a list of changes at which a page begins.
#[derive(Debug, Clone, Copy, Default)]
struct ChangesPlace {
    /// Index over the rows of all parts, including deleted rows, and then over the removed products.
    position: usize,
    /// Number of products on the previous pages.
    told: usize,
}

impl ChangesPlace {
    const POSITION_BITS: u32 = 40;

    fn of(packed: usize) -> Self {
        Self {
            position: packed & ((1 << Self::POSITION_BITS) - 1),
            told: packed >> Self::POSITION_BITS,
        }
    }

    /// Packs both fields into one number for the cursor.
    fn packed(self) -> usize {
        self.told << Self::POSITION_BITS | self.position
    }
}

/// Products of one page.
struct ChangedRows<'a> {
    rows: Vec<RowAddress>,
    gone: Vec<GoneRef<'a>>,
    /// Position at which the next page begins.
    next: Option<ChangesPlace>,
    /// True if more products changed than a list can contain.
    is_capped: bool,
}

impl<'a> ChangedRows<'a> {
    /// Scans the live rows from `start`, and then the removed products.
    fn walk(release: &'a Release, brand: Option<usize>, start: ChangesPlace, request: &ChangesRequest) -> Self {
        let mut page = Self {
            rows: Vec::new(),
            gone: Vec::new(),
            next: None,
            is_capped: false,
        };
        let (mut first, end) = (0_usize, start.position.saturating_add(ROWS_MAX));
        for (at, part) in (0..).zip(release.parts()) {
            let begin = u32::try_from(start.position.saturating_sub(first)).unwrap_or(u32::MAX);
            for row in begin..part.rows() {
                let position = first + row as usize;
                if position >= end {
                    return page.ended(start, position);
                }
                let is_wanted = !part.dead().contains(row) && brand.is_none_or(|brand| part.brand_index(row) == brand);
                let newest = || part.price_history(row).next();
                if is_wanted && newest().is_some_and(|point| point.observed_at >= request.since) {
                    if page.is_full(start, request) {
                        return page.ended(start, position);
                    }
                    page.rows.push(RowAddress { part: at, row });
                }
            }
            first += part.rows() as usize;
        }
        let slug = brand.map(|brand| release.brands()[brand].facts.brand.slug.as_str());
        let all = release.gone().into_iter().flat_map(|gone| gone.iter());
        // The removed products are sorted, the newest first.
        let since = all.take_while(|product| product.gone_at() >= request.since);
        for (position, product) in (first..).zip(since).skip(start.position.saturating_sub(first)) {
            // A product that came back does not count as removed.
            let is_gone = || release.find(&ProductIdent::Id(product.id())).is_none();
            if slug.is_none_or(|slug| product.brand_slug() == slug) && is_gone() {
                if page.is_full(start, request) {
                    return page.ended(start, position);
                }
                page.gone.push(product);
            }
        }
        page
    }

    fn told(&self, start: ChangesPlace) -> usize {
        start.told + self.rows.len() + self.gone.len()
    }

    fn is_full(&self, start: ChangesPlace, request: &ChangesRequest) -> bool {
        let told = self.told(start);
        told - start.told == request.limit.get() || told >= LIST_MAX
    }

    /// Ends the page. The next page begins at `position`, unless the list ends here.
    fn ended(self, start: ChangesPlace, position: usize) -> Self {
        let told = self.told(start);
        Self {
            next: (told < LIST_MAX).then_some(ChangesPlace { position, told }),
            is_capped: told >= LIST_MAX,
            ..self
        }
    }
}

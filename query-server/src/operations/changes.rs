use api::EntityTag;
use data_index::columns::GoneRef;
use data_index::{Release, RowAddress};
use data_model::{BrandSlug, ProductIdent, Timestamp};

use super::{Answer, Conditional, IfNoneMatch, Limit, OperationError, ParsedName};
use crate::cursor::{Cursor, Cursors};
use crate::render::{changes, json};
use crate::server::QueryServer;

/// Most rows that one page looks at. A market without changes is walked in several pages, none of which is slow.
const ROWS_MAX: usize = 250_000;

/// A question for products that changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChangesRequest {
    /// Changes that were observed then or later.
    pub since: Timestamp,
    /// Only products of this brand.
    pub brand: Option<ParsedName<BrandSlug>>,
    /// Most products of the page.
    pub limit: Limit<100, 500>,
    /// The end of the page before; see [`QueryServer::cursor`].
    pub cursor: Option<Cursor>,
}

impl ChangesRequest {
    /// The first page of all brands.
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
    /// One page of the products that came or changed, in the order of the release, and then of those that went, the newest first.
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
            Some(cursor) => Cursors::new(&key, served.stamp(), &[b"changes", list.as_bytes()]).position(cursor)?,
            None => 0,
        };
        let tag = EntityTag::following(&[served.stamp(), b"changes", key.bytes()], &request);
        if known.has(&tag) {
            return Ok(Conditional::NotModified(tag));
        }
        let walk = move || {
            let cursors = Cursors::new(&key, served.stamp(), &[b"changes", list.as_bytes()]);
            let page = ChangedRows::walk(&served.release, brand, start, &request);
            let next = page.next.map(|next| cursors.write(next));
            json(4096, &changes::page(&served, &page, request.since, next))
        };
        let json = self.0.searches.run(walk).await?;
        Ok(Conditional::Answer(Answer::made(tag, json)))
    }
}

/// The products of one page.
pub(crate) struct ChangedRows<'a> {
    pub(crate) rows: Vec<RowAddress>,
    pub(crate) gone: Vec<GoneRef<'a>>,
    /// The position at which the next page begins.
    next: Option<u32>,
}

impl<'a> ChangedRows<'a> {
    /// Walks the live rows from the position `start` on, and the products that went behind them. A position counts the rows of
    /// all parts, dead ones included.
    fn walk(release: &'a Release, brand: Option<usize>, start: usize, request: &ChangesRequest) -> Self {
        let (mut rows, mut gone, mut first) = (Vec::new(), Vec::new(), 0_usize);
        let end = start.saturating_add(ROWS_MAX);
        for (at, part) in (0..).zip(release.parts()) {
            let begin = u32::try_from(start.saturating_sub(first)).unwrap_or(u32::MAX);
            for row in begin..part.rows() {
                let position = first + row as usize;
                if rows.len() == request.limit.get() || position >= end {
                    let next = u32::try_from(position).ok();
                    return Self { rows, gone, next };
                }
                let is_wanted = !part.dead().contains(row) && brand.is_none_or(|brand| part.brand_index(row) == brand);
                let newest = || part.price_history(row).next();
                if is_wanted && newest().is_some_and(|point| point.observed_at >= request.since) {
                    rows.push(RowAddress { part: at, row });
                }
            }
            first += part.rows() as usize;
        }
        let slug = brand.map(|brand| release.brands()[brand].facts.brand.slug.as_str());
        let all = release.gone().into_iter().flat_map(|gone| gone.iter());
        // The newest stand first.
        let since = all.take_while(|product| product.gone_at() >= request.since);
        for (position, product) in (first..).zip(since).skip(start.saturating_sub(first)) {
            if rows.len() + gone.len() == request.limit.get() {
                let next = u32::try_from(position).ok();
                return Self { rows, gone, next };
            }
            // One that is there again did not go.
            let is_gone = || release.find(&ProductIdent::Id(product.id())).is_none();
            if slug.is_none_or(|slug| product.brand_slug() == slug) && is_gone() {
                gone.push(product);
            }
        }
        Self { rows, gone, next: None }
    }
}

use std::sync::Arc;

use api::EntityTag;
use data_model::BrandSlug;

use super::{Answer, Conditional, IfNoneMatch, OperationError, ParsedName};
use crate::lookup::{LookupKey, Match, look_up};
use crate::render::{TIER, card, json, provenance};
use crate::schema::{Lookup, LookupAnswer};
use crate::server::QueryServer;

/// Request to look up products by external names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LookupRequest {
    keys: Vec<LookupKey>,
    brand: Option<ParsedName<BrandSlug>>,
}

impl LookupRequest {
    /// Maximum number of keys in one request.
    pub const KEYS_MAX: usize = 20;

    /// Creates a request; `None` if there are no keys or too many. `brand` is the brand of the handles, and limits SKUs
    /// to that brand.
    #[must_use]
    pub fn new(keys: Vec<LookupKey>, brand: Option<ParsedName<BrandSlug>>) -> Option<Self> {
        (1..=Self::KEYS_MAX)
            .contains(&keys.len())
            .then_some(Self { keys, brand })
    }
}

impl QueryServer {
    /// Returns cards of the products with exactly these URLs, SKUs and handles, in request order.
    ///
    /// # Errors
    /// `Overloaded`, `NotReady`, `Internal`.
    pub async fn lookup(&self, request: LookupRequest) -> Result<Answer, OperationError> {
        self.lookup_unless(request, IfNoneMatch::NOTHING).await?.whole()
    }

    pub(crate) async fn lookup_unless(
        &self,
        request: LookupRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let served = self.served()?;
        let tag = EntityTag::following(&[served.stamp(), b"lookup"], &request);
        if known.has(&tag) {
            return Ok(Conditional::NotModified(tag));
        }
        let held = Arc::clone(&served);
        let look = move || {
            let brand = request.brand.as_ref();
            let position = brand.and_then(ParsedName::known).and_then(|slug| {
                let entry = held.release.brand_by_slug(slug)?;
                held.release.brand_index(&entry.facts.brand.store)
            });
            // A lookup in an unknown brand finds nothing.
            let is_nowhere =
                |key: &LookupKey| brand.is_some() && position.is_none() && !matches!(key, LookupKey::Url(_));
            let found = request.keys.iter().map(|key| {
                let found = if is_nowhere(key) {
                    Match::default()
                } else {
                    look_up(&held, key, position)
                };
                let (by, value) = key.told();
                Lookup {
                    by: by.into(),
                    value: value.into(),
                    products: card::cards(&held, &found.rows),
                    more: found.more,
                }
            });
            let answer = LookupAnswer {
                data: found.collect(),
                provenance: provenance(held.id_text()),
                tier: TIER,
            };
            let rows: usize = answer.data.iter().map(|found| found.products.len() + 1).sum();
            json(rows * 640 + 256, &answer)
        };
        let json = self.0.searches.run(look).await?;
        Ok(Conditional::Answer(Answer::made(tag, json)))
    }
}

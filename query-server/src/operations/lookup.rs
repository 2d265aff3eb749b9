use std::sync::Arc;

use api::EntityTag;
use data_model::BrandSlug;

use super::{Answer, Known, Named, OperationError, Unless};
use crate::lookup::{LookupKey, Match, look_up};
use crate::render::{Written, card, envelope, json};
use crate::server::QueryServer;

/// Products that are looked for by what others call them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LookupRequest {
    keys: Vec<LookupKey>,
    brand: Option<Named<BrandSlug>>,
}

impl LookupRequest {
    /// Most that are looked for at once.
    pub const KEYS_MAX: usize = 20;

    /// These; `None` when there are none or too many. The brand is the one whose handles these are, and whose SKUs alone,
    /// where it is given.
    #[must_use]
    pub fn new(keys: Vec<LookupKey>, brand: Option<Named<BrandSlug>>) -> Option<Self> {
        (1..=Self::KEYS_MAX)
            .contains(&keys.len())
            .then_some(Self { keys, brand })
    }
}

impl QueryServer {
    /// Cards of the products that have exactly these addresses, SKUs and handles, in the order asked.
    ///
    /// # Errors
    /// `Overloaded`, `NotReady`, `Internal`.
    pub async fn lookup(&self, request: LookupRequest) -> Result<Answer, OperationError> {
        self.lookup_unless(request, Known::NOTHING).await?.whole()
    }

    pub(crate) async fn lookup_unless(
        &self,
        request: LookupRequest,
        known: Known<'_>,
    ) -> Result<Unless, OperationError> {
        let served = self.served()?;
        let tag = EntityTag::following(&[served.stamp(), b"lookup"], &request);
        if known.has(&tag) {
            return Ok(Unless::Known(tag));
        }
        let held = Arc::clone(&served);
        let look = move || -> Result<Written, OperationError> {
            let brand = request.brand.as_ref();
            let position = brand.and_then(Named::known).and_then(|slug| {
                let entry = held.release.brand_by_slug(slug)?;
                held.release.brand_index(&entry.facts.brand.store)
            });
            // A brand that is not there has nothing, whatever is looked for at it.
            let is_nowhere =
                |key: &LookupKey| brand.is_some() && position.is_none() && !matches!(key, LookupKey::Url(_));
            let found = request.keys.iter().map(|key| {
                if is_nowhere(key) {
                    return Ok((key, Match::default()));
                }
                Ok((key, look_up(&held, key, position)))
            });
            let found = found.collect::<Result<Vec<_>, OperationError>>()?;
            let data = |out: &mut Vec<u8>| {
                json::array(out, &found, |out, (key, found)| {
                    let (by, value) = key.told();
                    json::object(out, |object| {
                        object.text("by", by);
                        object.text("value", value);
                        object.array("products", &found.rows, |out, at| card::card(out, &held, *at));
                        object.flag("more", found.more);
                    });
                });
            };
            let rows: usize = found.iter().map(|(_, found)| found.rows.len() + 1).sum();
            Ok(envelope(rows * 640 + 256, held.id_text(), data, |_| {}))
        };
        let written = self.0.searches.run(look).await??;
        Ok(Unless::Answer(Answer::made(tag, written)))
    }
}

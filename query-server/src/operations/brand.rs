use api::EntityTag;
use data_model::BrandSlug;

use super::{Answer, Conditional, IfNoneMatch, OperationError, ParsedName};
use crate::render::{brand, json};
use crate::server::QueryServer;

/// Request for one brand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BrandRequest {
    /// Slug of the brand.
    pub brand: ParsedName<BrandSlug>,
}

impl QueryServer {
    /// Returns one brand with all its facts.
    ///
    /// # Errors
    /// `BrandNotFound`, `NotReady`.
    pub fn brand(&self, request: &BrandRequest) -> Result<Answer, OperationError> {
        self.brand_unless(request, IfNoneMatch::NOTHING)?.whole()
    }

    pub(crate) fn brand_unless(
        &self,
        request: &BrandRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let served = self.served()?;
        let slug = request.brand.known();
        let entry = slug.and_then(|slug| served.release.brand_by_slug(slug));
        let entry = entry.ok_or(OperationError::BrandNotFound)?;
        let checked = served.checked.load_full();
        let tag = EntityTag::following(&[served.stamp(), checked.stamp(), b"brand"], request);
        Conditional::known(known, tag, || {
            Ok(json(4096, &brand::detail(&served, &checked.checks, entry)))
        })
    }
}

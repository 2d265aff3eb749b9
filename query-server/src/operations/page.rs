use api::EntityTag;
use data_model::{BrandSlug, ProductIdent};

use super::{IfNoneMatch, OperationError, ParsedName};
use crate::page;
use crate::server::QueryServer;

/// HTML document, or a note that the caller's copy is current.
#[derive(Debug)]
pub(crate) enum Page {
    /// The caller's copy is still current.
    Known(EntityTag),
    Document(EntityTag, String),
}

impl QueryServer {
    pub(crate) fn product_page(&self, product: ProductIdent, known: IfNoneMatch<'_>) -> Result<Page, OperationError> {
        self.at_once(|served| {
            let at = served.find(&product)?;
            let tag = EntityTag::following(&[served.stamp(), b"product page"], &product);
            Ok(if known.has(&tag) {
                Page::Known(tag)
            } else {
                Page::Document(tag, page::product(served, at, &self.0.config.public_url))
            })
        })
    }

    pub(crate) fn brand_page(
        &self,
        brand: &ParsedName<BrandSlug>,
        known: IfNoneMatch<'_>,
    ) -> Result<Page, OperationError> {
        self.at_once(|served| {
            let entry = brand.known().and_then(|slug| served.release.brand_by_slug(slug));
            let entry = entry.ok_or(OperationError::BrandNotFound)?;
            let tag = EntityTag::following(&[served.stamp(), b"brand page"], brand);
            Ok(if known.has(&tag) {
                Page::Known(tag)
            } else {
                Page::Document(tag, page::brand(entry, &self.0.config.public_url))
            })
        })
    }
}

use std::collections::BTreeSet;

use data_model::BrandSlug;

use super::{RegisteredBrand, Registry};

/// Reason for having no brands to crawl.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRegistered {
    /// No brand is registered at all.
    #[error("no brand is registered")]
    Any,
    /// A named brand is not registered.
    #[error("no brand is registered as {0}")]
    Brand(BrandSlug),
}

impl Registry {
    /// Returns all brands, or only those in `only`, sorted by slug.
    ///
    /// # Errors
    /// The first slug in `only` that is not registered.
    pub fn selected(&self, only: Option<&[BrandSlug]>) -> Result<Vec<RegisteredBrand>, BrandSlug> {
        let Some(only) = only else {
            return Ok(self.brands().into_iter().cloned().collect());
        };
        let named: BTreeSet<&BrandSlug> = only.iter().collect();
        let brand = |slug: &BrandSlug| self.brand(slug).cloned().ok_or_else(|| slug.clone());
        named.into_iter().map(brand).collect()
    }

    /// Checks that at least one brand is registered, and that all `named` brands are.
    pub fn check_named<'a>(&self, named: impl IntoIterator<Item = &'a BrandSlug>) -> Result<(), NotRegistered> {
        if self.is_empty() {
            return Err(NotRegistered::Any);
        }
        match named.into_iter().find(|slug| self.brand(slug).is_none()) {
            Some(slug) => Err(NotRegistered::Brand(slug.clone())),
            None => Ok(()),
        }
    }
}

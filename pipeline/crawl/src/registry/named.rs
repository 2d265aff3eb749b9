use data_model::BrandSlug;

use super::Registry;

/// A crawl that has nothing to ask for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRegistered {
    /// No brand is registered at all.
    #[error("no brand is registered")]
    Any,
    /// A brand that was named is not.
    #[error("no brand is registered as {0}")]
    Brand(BrandSlug),
}

impl Registry {
    /// Refuses to crawl where no brand is registered, or one that is named is not.
    ///
    /// # Errors
    /// [`NotRegistered`].
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

use std::path::{Path, PathBuf};

use data_index::{BrandFacts, BuildError, BuildOptions};
use data_model::{PricePoint, Product};

use super::{PartBuilder, PartFiles};

/// Parts made by one [`PartsBuilder`].
pub type BuiltParts = Vec<PartFiles>;

/// Builds as many parts as the products of one [`PartPlan`](crate::PartPlan) need. One part is usually enough. A store
/// that is larger than a part, or that has more text than planned, needs several. The builder is `Send`, so that plans
/// can be built in parallel.
#[derive(Debug)]
pub struct PartsBuilder {
    dir: PathBuf,
    options: BuildOptions,
    part: Option<PartBuilder>,
    built: BuiltParts,
}

impl PartsBuilder {
    /// Creates a builder that writes files to `dir`.
    #[must_use]
    pub fn new(dir: &Path, options: &BuildOptions) -> Self {
        Self {
            dir: dir.to_owned(),
            options: options.clone(),
            part: None,
            built: Vec::new(),
        }
    }

    /// Adds the next product, with its price history, newest first. The products of a store must be consecutive. A full
    /// part is finished, and another one started.
    ///
    /// # Errors
    /// The errors of [`PartBuilder::push`].
    pub fn push(&mut self, product: &Product, facts: &BrandFacts, history: &[PricePoint]) -> Result<(), BuildError> {
        if self.part.as_ref().is_some_and(PartBuilder::is_full) {
            self.roll()?;
        }
        let mut part = match self.part.take() {
            Some(part) => part,
            None => PartBuilder::new(&self.dir, &self.options)?,
        };
        let pushed = part.push(product, facts, history);
        self.part = Some(part);
        pushed
    }

    /// Returns the number of rows so far, in all parts.
    #[must_use]
    pub fn rows(&self) -> u64 {
        let finished: u64 = self.built.iter().map(|part| u64::from(part.entry.rows)).sum();
        finished + self.part.as_ref().map_or(0, |part| u64::from(part.rows()))
    }

    fn roll(&mut self) -> Result<(), BuildError> {
        if let Some(part) = self.part.take() {
            self.built.extend(part.finish()?);
        }
        Ok(())
    }

    /// Finishes the last part and returns all parts.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self) -> Result<BuiltParts, BuildError> {
        self.roll()?;
        Ok(self.built)
    }
}

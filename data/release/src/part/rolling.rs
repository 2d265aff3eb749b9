use std::path::{Path, PathBuf};

use data_index::{BrandFacts, BuildError, BuildOptions};
use data_model::{PricePoint, Product};

use super::{PartBuilder, PartFiles};

/// The parts that one [`PartsBuilder`] made.
pub type BuiltParts = Vec<PartFiles>;

/// Builds as many parts as the products of one [`PartPlan`](crate::PartPlan) need: usually one, more when a store
/// is larger than a part or its texts need more memory than planned. It is `Send`: plans can be built in parallel.
#[derive(Debug)]
pub struct PartsBuilder {
    dir: PathBuf,
    options: BuildOptions,
    part: Option<PartBuilder>,
    built: BuiltParts,
}

impl PartsBuilder {
    /// A builder whose files will lie in `dir`. Nothing is written yet.
    #[must_use]
    pub fn new(dir: &Path, options: &BuildOptions) -> Self {
        Self {
            dir: dir.to_owned(),
            options: options.clone(),
            part: None,
            built: Vec::new(),
        }
    }

    /// Takes the next product, with the known course of its prices, newest first; those of a store come one after the other.
    ///
    /// # Errors
    /// See [`PartBuilder::push`]; a full part is finished and another started instead.
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

    /// Rows so far, in all parts.
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

    /// Finishes the last part and hands over all.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self) -> Result<BuiltParts, BuildError> {
        self.roll()?;
        Ok(self.built)
    }
}

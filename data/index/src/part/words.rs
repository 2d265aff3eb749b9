use std::collections::BTreeSet;

use data_model::{Brand, Product};

use crate::dictionary::DictionaryWriter;
use data_text::{code_of, indexed_words};

/// Maximum number of indexed SKUs of one product. The platform permits fewer variants.
const SKUS_MAX: usize = 2_048;

/// Dictionaries of the words that are looked up exactly as written. [`crate::terms`] has all other words.
#[derive(Debug, Default)]
pub(super) struct WrittenWords {
    pub(super) titles: DictionaryWriter,
    pub(super) brands: DictionaryWriter,
    pub(super) skus: DictionaryWriter,
}

impl WrittenWords {
    pub(super) const fn memory(&self) -> usize {
        self.titles.memory() + self.brands.memory() + self.skus.memory()
    }

    pub(super) fn push(&mut self, row: u32, product: &Product, brand: &Brand) {
        for word in indexed_words(&product.title) {
            self.titles.push(row, &word.text);
        }
        let vendor = product.vendor.as_deref();
        let vendor = vendor.filter(|vendor| !vendor.eq_ignore_ascii_case(&brand.name));
        for word in std::iter::once(&*brand.name).chain(vendor).flat_map(indexed_words) {
            self.brands.push(row, &word.text);
        }
        let skus: BTreeSet<&str> = product
            .variants
            .iter()
            .filter_map(|variant| variant.sku.as_deref())
            .collect();
        let codes = std::iter::once(&*product.handle).chain(skus.into_iter().take(SKUS_MAX));
        for code in codes.filter_map(code_of) {
            self.skus.push(row, &code);
        }
    }
}

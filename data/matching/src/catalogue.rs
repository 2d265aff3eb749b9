use data_model::Gtin;

use crate::item::Item;

/// Products of many stores, read on demand. Rows are numbered from 0.
pub trait Catalogue {
    /// The number of products.
    fn rows(&self) -> u32;
    /// The names of a product, which are looked at first.
    fn named(&self, row: u32) -> ProductNames<'_>;
    /// Numbers below the bar codes of a product's variants.
    fn barcodes(&self, row: u32, found: &mut dyn FnMut(Gtin));
    /// All that is compared of a product.
    fn item(&self, row: u32) -> Item<'_>;
    /// The cosine of the vectors of two products, where they have any.
    fn similarity(&self, one: u32, other: u32) -> Option<f32>;
}

/// The names of a product, which are looked at first.
#[derive(Debug, Clone, Copy)]
pub struct ProductNames<'a> {
    /// The number of the store that sells it.
    pub store: u32,
    /// Display name of its brand.
    pub brand: &'a str,
    /// Vendor, where stated.
    pub vendor: Option<&'a str>,
    /// Title.
    pub title: &'a str,
}

/// Bounds of the work of comparing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Products that share one number below a bar code and are all compared, at most. Of more each is compared with so many, where
    /// most share more than the number; else it was copied, and says nothing of any.
    pub barcode_rows_max: usize,
    /// The same within one store: what stands below everything in it was copied.
    pub barcode_store_rows_max: usize,
    /// Products of one maker that a word of their titles or a stock keeping unit leads to and that are all compared, at most. Of more
    /// each is compared with so many: those that say nearly the same.
    pub word_rows_max: usize,
    /// Words of a title that lead to others, and stock keeping units: its rarest within its maker's products.
    pub words_max: usize,
    /// Products that one leads to and is compared with at most.
    pub compared_max: usize,
    /// Stores that begin titles with a maker's name and name it nowhere as the maker, at most: what more begin titles with is a word
    /// that some store has put in a maker's place (`Everyday`), and their titles say nothing of who made them.
    pub title_stores_max: usize,
    /// Products that are held as they were read, at most; of a maker of more the others are read again where they are compared.
    pub held_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            barcode_rows_max: 32,
            barcode_store_rows_max: 3,
            word_rows_max: 64,
            words_max: 3,
            compared_max: 128,
            title_stores_max: 32,
            held_max: 16_384,
        }
    }
}

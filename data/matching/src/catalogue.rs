use data_model::Gtin;

use crate::item::Item;

/// Products of many stores, read on demand. Rows are numbered from 0.
pub trait Catalogue {
    /// Returns the number of products.
    fn rows(&self) -> u32;
    /// Returns the names of a product, which are compared first.
    fn named(&self, row: u32) -> ProductNames<'_>;
    /// Calls `found` with the barcodes of a product's variants.
    fn barcodes(&self, row: u32, found: &mut dyn FnMut(Gtin));
    /// Returns all data of a product that is compared.
    fn item(&self, row: u32) -> Item<'_>;
    /// Returns the cosine similarity of two products' vectors, if both have one.
    fn similarity(&self, one: u32, other: u32) -> Option<f32>;
}

/// Names of a product, which are compared first.
#[derive(Debug, Clone, Copy)]
pub struct ProductNames<'a> {
    /// Number of the store that sells the product.
    pub store: u32,
    /// Display name of the store's brand.
    pub brand: &'a str,
    /// Vendor of the product, if stated.
    pub vendor: Option<&'a str>,
    /// Title of the product.
    pub title: &'a str,
}

/// Limits on the work of comparing products.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of products with one barcode that are all compared with each other. Beyond it, each product is
    /// compared with at most this many others, if most of these share more than the barcode. Otherwise the barcode is
    /// treated as copied and ignored.
    pub barcode_rows_max: usize,
    /// Maximum number of products with one barcode within one store. A barcode on more products is treated as copied.
    pub barcode_store_rows_max: usize,
    /// Maximum number of a maker's products with a common title word or stock keeping unit that are all compared.
    /// Beyond it, each product is compared with this many of the most similar ones.
    pub word_rows_max: usize,
    /// Maximum number of title words and of stock keeping units per product for finding candidates. The rarest among
    /// the maker's products are used.
    pub words_max: usize,
    /// Maximum number of candidates with which a product is compared.
    pub compared_max: usize,
    /// Maximum number of stores whose titles begin with a maker's name without naming that maker elsewhere. With more
    /// stores, the name is probably a common word that some store entered as the maker (`Everyday`), and titles with it
    /// do not identify the maker.
    pub title_stores_max: usize,
    /// Maximum number of parsed products in memory. Further products of the same maker are parsed again for each
    /// comparison.
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

use data_model::{CategoryId, Product};
use rustc_hash::FxHashSet;

use super::head::Text;
use super::table::Table;
use super::{ReadProduct, Reading, StatedProduct, TAGS_MAX, believe, read, settle, vector};

/// Category rules without a catalogue, which measure the effect of single rules.
#[derive(Debug)]
pub struct CategoryRules(Table);

impl CategoryRules {
    /// Returns all rules except those of these phrases, as [`CategoryRules::fired`] spells them. The taxonomy's
    /// category names and the dictionary of nouns always stay.
    #[must_use]
    pub fn without(phrases: FxHashSet<String>) -> Self {
        Self(Table::without(phrases))
    }

    /// Returns the phrases that name a product's kind in its type, title or a tag.
    #[must_use]
    pub fn fired(&self, product: &Product) -> Vec<String> {
        let table = &self.0;
        let typed = product.product_type.as_deref().map(|text| Text::read(table, text));
        let title = Text::read(table, &product.title);
        let tags = product.tags.iter().take(TAGS_MAX).map(|tag| Text::read(table, tag));
        let tagged: Vec<Text> = tags.collect();
        let named = typed
            .iter()
            .chain([&title])
            .filter_map(|text| text.decisive(table).or_else(|| text.head(table)));
        let tagged = tagged.iter().filter_map(|text| text.whole(table, table.audience()));
        named.chain(tagged).map(|head| table.spelt(head.phrase())).collect()
    }

    /// Returns the categories of all products of one store. `path_of` returns the path that the store states for a
    /// product.
    #[must_use]
    pub fn categories<'p>(
        &self,
        products: &[Product],
        path_of: impl Fn(u64) -> Option<&'p str>,
    ) -> Vec<Option<CategoryId>> {
        let read_one = |product: &Product| {
            let mut reading = read(&self.0, product.product_type.as_deref(), &product.title, &product.tags);
            reading.note_kind(product.kind());
            reading
        };
        let mut readings: Vec<Reading> = products.iter().map(read_one).collect();
        let stated = readings.iter_mut().zip(products).filter_map(|(reading, product)| {
            let path = path_of(product.key.platform_id)?;
            Some(StatedProduct { reading, path })
        });
        believe(&self.0, stated.collect());
        let vectors = readings.iter().zip(products);
        let vectors =
            vectors.map(|(reading, product)| vector(reading, product.product_type.as_deref(), &product.title));
        let vectors: Vec<_> = vectors.collect();
        let products = readings.iter().zip(&vectors);
        let products = products.map(|(reading, vector)| ReadProduct {
            reading,
            vector: vector.as_ref(),
        });
        settle(&self.0, &products.collect::<Vec<_>>())
    }
}

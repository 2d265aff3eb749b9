use data_model::{CategoryId, Product};
use rustc_hash::FxHashSet;

use super::belief::Belief;
use super::head::Text;
use super::table::Table;
use super::{Reading, TAGS_MAX, read};

/// The rules of categories, apart from a catalogue, for the measurement of a rule's effect.
#[derive(Debug)]
pub struct CategoryRules(Table);

impl CategoryRules {
    /// All rules but those of these phrases, as [`CategoryRules::fired`] spells them. What the taxonomy itself calls its
    /// categories is no rule, nor is a dictionary of nouns.
    #[must_use]
    pub fn without(phrases: FxHashSet<String>) -> Self {
        Self(Table::without(phrases))
    }

    /// The phrases that name a product's kind, in its type, its title or a tag.
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

    /// The categories of all products of one store.
    #[must_use]
    pub fn categories(&self, products: &[Product]) -> Vec<Option<CategoryId>> {
        let read_one = |product: &Product| {
            let mut reading = read(&self.0, product.product_type.as_deref(), &product.title, &product.tags);
            reading.note_kind(product.kind());
            reading
        };
        let readings: Vec<Reading> = products.iter().map(read_one).collect();
        let belief = Belief::of(&self.0, readings.iter());
        readings.iter().map(|reading| belief.settle(reading)).collect()
    }
}

//! The full-text side of a part: which fields there are, how their text becomes terms, at build and query time alike.
//!
//! | field | holds | terms | positions |
//! |---|---|---|---|
//! | `title` | title | stemmed | yes |
//! | `title_exact` | title | plain | no |
//! | `brand` | brand name, vendor | plain | no |
//! | `category` | category path, product type | stemmed | no |
//! | `options` | option and attribute values | stemmed | no |
//! | `tags` | tags | stemmed | no |
//! | `description` | the description's first 8 KiB | stemmed | no |
//! | `code` | SKUs and the handle | one code a value | no |
//!
//! Terms: words of letters, digits and marks of any script, compatibility-normalised, lower case, Latin letters
//! without accents, `'s` joined (`men's` → `mens`). A number with a unit is one term however it was written
//! (`3 m`, `3m`, `3-metre`, `3 meters` → `3m`; `6\"`, `6 in.` → `6in`), a fraction is a decimal number (`1-1/2` → `1.5`);
//! the index also holds the pieces, `12x24` for `12 in. x 24 in.`, and `tshirt` for `t-shirt`.

mod analysis;
mod quantity;
mod units;
mod words;

pub use analysis::{Analysis, Term, analyse, code_of, letters_of};
pub(crate) use analysis::{Plain, title_words, tokenizers};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};

/// One field: where it is and how to search it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldSpec {
    /// The field's name.
    pub name: &'static str,
    /// Its handle, the same in every release of this layout.
    pub field: Field,
    /// How its text becomes terms.
    pub analysis: Analysis,
    /// Whether phrases can be searched in it.
    pub positions: bool,
    /// Its weight beside the others, a starting point for ranking.
    pub boost: f32,
}

/// The fields of the text index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fields {
    /// Title, stemmed, with positions.
    pub title: FieldSpec,
    /// Title, plain terms: exact forms.
    pub title_exact: FieldSpec,
    /// Brand name and vendor, plain terms.
    pub brand: FieldSpec,
    /// Category path and product type, stemmed.
    pub category: FieldSpec,
    /// Option and attribute values, stemmed.
    pub options: FieldSpec,
    /// Tags, stemmed.
    pub tags: FieldSpec,
    /// Description, stemmed.
    pub description: FieldSpec,
    /// SKUs and handle as codes.
    pub code: FieldSpec,
}

impl Fields {
    /// All of them, in schema order.
    #[must_use]
    pub const fn all(&self) -> [FieldSpec; 8] {
        [
            self.title,
            self.title_exact,
            self.brand,
            self.category,
            self.options,
            self.tags,
            self.description,
            self.code,
        ]
    }
}

/// The fields, by number in schema order; [`schema`] makes them in the same order.
pub(crate) const FIELDS: Fields = Fields {
    title: spec("title", 0, Analysis::Stemmed, true, 5.0),
    title_exact: spec("title_exact", 1, Analysis::Plain, false, 1.0),
    brand: spec("brand", 2, Analysis::Plain, false, 2.0),
    category: spec("category", 3, Analysis::Stemmed, false, 2.0),
    options: spec("options", 4, Analysis::Stemmed, false, 0.5),
    tags: spec("tags", 5, Analysis::Stemmed, false, 0.5),
    description: spec("description", 6, Analysis::Stemmed, false, 1.0),
    code: spec("code", 7, Analysis::Code, false, 8.0),
};

const fn spec(name: &'static str, id: u32, analysis: Analysis, positions: bool, boost: f32) -> FieldSpec {
    FieldSpec {
        name,
        field: Field::from_field_id(id),
        analysis,
        positions,
        boost,
    }
}

/// The schema of every part. Nothing is stored: the columns hold the data.
pub(crate) fn schema() -> Schema {
    let mut schema = Schema::builder();
    for spec in FIELDS.all() {
        let record = match (spec.positions, spec.analysis) {
            (true, _) => IndexRecordOption::WithFreqsAndPositions,
            (false, Analysis::Code) => IndexRecordOption::Basic,
            (false, _) => IndexRecordOption::WithFreqs,
        };
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(spec.analysis.tokenizer_name())
            .set_index_option(record)
            .set_fieldnorms(spec.analysis != Analysis::Code);
        schema.add_text_field(spec.name, TextOptions::default().set_indexing_options(indexing));
    }
    schema.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_the_fields_at_their_numbers() {
        let schema = schema();
        for spec in FIELDS.all() {
            assert_eq!(schema.get_field(spec.name).unwrap(), spec.field);
        }
    }
}

//! How text becomes terms, at build and query time alike, and the fields that are kept beside [`terms`](crate::terms):
//! those that are looked up as they are written.
//!
//! | field | holds | terms |
//! |---|---|---|
//! | `title_exact` | title | plain |
//! | `brand` | brand name, vendor | plain |
//! | `code` | SKUs and the handle | one code a value |
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSpec {
    /// The field's name.
    pub name: &'static str,
    /// Its handle, the same in every release of this layout.
    pub field: Field,
    /// How its text becomes terms.
    pub analysis: Analysis,
}

/// The fields of the text index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields {
    /// Title, plain terms: the words as they are written.
    pub title_exact: FieldSpec,
    /// Brand name and vendor, plain terms.
    pub brand: FieldSpec,
    /// SKUs and handle as codes.
    pub code: FieldSpec,
}

impl Fields {
    /// All of them, in schema order.
    #[must_use]
    pub const fn all(&self) -> [FieldSpec; 3] {
        [self.title_exact, self.brand, self.code]
    }
}

/// The fields, by number in schema order; [`schema`] makes them in the same order.
pub(crate) const FIELDS: Fields = Fields {
    title_exact: spec("title_exact", 0, Analysis::Plain),
    brand: spec("brand", 1, Analysis::Plain),
    code: spec("code", 2, Analysis::Code),
};

const fn spec(name: &'static str, id: u32, analysis: Analysis) -> FieldSpec {
    FieldSpec {
        name,
        field: Field::from_field_id(id),
        analysis,
    }
}

/// The schema of every part. Nothing is stored: the columns hold the data.
pub(crate) fn schema() -> Schema {
    let mut schema = Schema::builder();
    for spec in FIELDS.all() {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(spec.analysis.tokenizer_name())
            .set_index_option(IndexRecordOption::Basic)
            .set_fieldnorms(false);
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

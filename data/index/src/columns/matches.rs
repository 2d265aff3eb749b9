use std::sync::LazyLock;

use arrow::array::{Array, FixedSizeBinaryArray, RecordBatch, StringBuilder};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use data_model::{ProductId, VariantId};

use super::ipc;
use super::table::{Columns, List, columns, number};
use crate::error::BuildError;
use crate::manifest::NewFile;

/// Name of the file in the manifest and in errors.
pub(crate) const MATCHES: &str = "matches.arrow";

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(MatchColumns::schema);

columns! {
    /// Columns of the pairs, in both directions.
    MatchColumns, MatchColumnsWriter {
        id: [u8; 16],
        other_id: [u8; 16],
        variant_id: Option<u64>,
        other_variant_id: Option<u64>,
        confidence: f32,
        basis: String,
        reasons: List<String>,
    }
}

/// Pair of equal products of two different brands.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedPair {
    /// Id of the first product.
    pub id: ProductId,
    /// Id of the second product.
    pub other_id: ProductId,
    /// Variants of the two products that are equal, if known.
    pub variants: Option<(VariantId, VariantId)>,
    /// Confidence that the products are equal, at most 1.
    pub confidence: f32,
    /// Name of the deciding evidence.
    pub basis: &'static str,
    /// All evidence for the match, strongest first.
    pub reasons: Vec<String>,
}

/// Returns the file of pairs. The file contains each pair in both directions, sorted by ids.
///
/// # Errors
/// A column cannot be written.
pub fn matches_file(pairs: &[MatchedPair]) -> Result<NewFile, BuildError> {
    let bytes = encode(pairs).map_err(|source| BuildError::Columns { file: MATCHES, source })?;
    Ok(NewFile::new(MATCHES, bytes))
}

fn encode(pairs: &[MatchedPair]) -> Result<Vec<u8>, ArrowError> {
    let there = pairs.iter().map(|pair| (pair.id, pair.other_id, pair.variants, pair));
    let back = pairs.iter().map(|pair| {
        (
            pair.other_id,
            pair.id,
            pair.variants.map(|(one, other)| (other, one)),
            pair,
        )
    });
    let mut rows: Vec<_> = there.chain(back).collect();
    rows.sort_unstable_by(|left, right| {
        (left.0.as_bytes(), left.1.as_bytes()).cmp(&(right.0.as_bytes(), right.1.as_bytes()))
    });
    let mut columns = MatchColumnsWriter::default();
    for (id, other_id, variants, pair) in rows {
        columns.id.push(*id.as_bytes());
        columns.other_id.push(*other_id.as_bytes());
        columns.variant_id.push(variants.map(|(one, _)| one.0));
        columns.other_variant_id.push(variants.map(|(_, other)| other.0));
        columns.confidence.push(pair.confidence);
        columns.basis.append_value(pair.basis);
        columns.reasons.push(&pair.reasons, StringBuilder::append_value);
    }
    ipc::file(&MatchColumns::batch(&mut columns, &SCHEMA)?)
}

/// Pairs of equal products of different brands, read in place. Each direction of a pair has a row, sorted by ids.
#[derive(Debug)]
pub struct Matches(MatchColumns);

/// One product with one of its counterparts, read in place.
#[derive(Debug, Clone, Copy)]
pub struct MatchRef<'a> {
    columns: &'a MatchColumns,
    at: usize,
}

impl Matches {
    pub(crate) fn schema() -> &'static SchemaRef {
        &SCHEMA
    }

    pub(crate) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        MatchColumns::of(batch).map(Self)
    }

    /// Returns the number of rows, which is two per pair.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.id.len()
    }

    /// Returns true if there is no pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.id.is_empty()
    }

    /// Returns the row at this index.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<MatchRef<'_>> {
        (at < self.len()).then_some(MatchRef { columns: &self.0, at })
    }

    /// Returns the counterparts of a product.
    pub fn of_product(&self, id: ProductId) -> impl Iterator<Item = MatchRef<'_>> {
        let wanted = *id.as_bytes();
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.0.id.value(middle) < wanted.as_slice() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let own = (low..self.len()).take_while(move |at| self.0.id.value(*at) == wanted.as_slice());
        own.map(|at| MatchRef { columns: &self.0, at })
    }
}

impl<'a> MatchRef<'a> {
    /// Returns the id of the product.
    #[must_use]
    pub fn id(&self) -> ProductId {
        product(&self.columns.id, self.at)
    }

    /// Returns the id of the counterpart.
    #[must_use]
    pub fn other_id(&self) -> ProductId {
        product(&self.columns.other_id, self.at)
    }

    /// Returns the equal variants of the product and its counterpart, if known.
    #[must_use]
    pub fn variants(&self) -> Option<(VariantId, VariantId)> {
        let (one, other) = (&self.columns.variant_id, &self.columns.other_variant_id);
        let (one, other) = (number(one, self.at)?, number(other, self.at)?);
        Some((VariantId(one), VariantId(other)))
    }

    /// Returns the confidence that the products are equal, at most 1.
    #[must_use]
    pub fn confidence(&self) -> f32 {
        self.columns.confidence.value(self.at)
    }

    /// Returns the name of the deciding evidence.
    #[must_use]
    pub fn basis(&self) -> &'a str {
        self.columns.basis.value(self.at)
    }

    /// Returns all evidence for the match, strongest first.
    pub fn reasons(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        let reasons = &self.columns.reasons;
        reasons.span(self.at).map(move |at| reasons.items.value(at))
    }
}

pub(super) fn product(ids: &FixedSizeBinaryArray, at: usize) -> ProductId {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(ids.value(at));
    ProductId::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn id(number: u8) -> ProductId {
        ProductId::from_bytes([number; 16])
    }

    proptest! {
        #[test]
        fn pairs_are_found_from_both_sides(numbers in prop::collection::btree_set((0u8..12, 12u8..24), 0..30)) {
            let pair = |(one, other): &(u8, u8)| MatchedPair {
                id: id(*one),
                other_id: id(*other),
                variants: one.is_multiple_of(2).then_some((VariantId(1), VariantId(2))),
                confidence: 0.9,
                basis: "title",
                reasons: vec![format!("brand:{one}"); usize::from(*one % 3)],
            };
            let pairs: Vec<MatchedPair> = numbers.iter().map(pair).collect();
            let (batches, _) = ipc::read(Bytes::from(encode(&pairs).unwrap()), &SCHEMA).unwrap();
            let matches = Matches::of(&batches[0]).unwrap();
            prop_assert_eq!(matches.len(), 2 * pairs.len());
            for number in 0..24 {
                let wanted = pairs.iter().filter(|pair| pair.id == id(number) || pair.other_id == id(number));
                let found: Vec<_> = matches.of_product(id(number)).collect();
                prop_assert_eq!(found.len(), wanted.clone().count());
                for pair in wanted {
                    let other = if pair.id == id(number) { pair.other_id } else { pair.id };
                    let found = found.iter().find(|found| found.other_id() == other).unwrap();
                    prop_assert_eq!(found.id(), id(number));
                    prop_assert_eq!(found.reasons().collect::<Vec<_>>(), pair.reasons.clone());
                    let swapped = |(one, two)| if pair.id == id(number) { (one, two) } else { (two, one) };
                    prop_assert_eq!(found.variants(), pair.variants.map(swapped));
                }
            }
        }
    }
}

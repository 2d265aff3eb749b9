use std::sync::{Arc, LazyLock};

use sha2::{Digest, Sha256};

use crate::dot::add_scaled;
use crate::norm::norm;
use crate::pieces::WordPieces;
use crate::sign_code::DIMENSIONS_MAX;
use crate::{DocumentText, EmbedError, Embedder, EmbedderId, Segment, Vector};

/// The first bytes of every table.
const MAGIC: &[u8] = b"HAATEMB1";
/// More pieces of a query than anyone means.
const QUERY_TOKENS_MAX: usize = 64;
/// Changes when the same table makes other vectors: how texts are cut, added up, weighed.
const METHOD: &str = "1";

/// The shipped table: its vectors, its vocabulary.
static TABLE: &[u8] = include_bytes!("../../reference/embedding/table.bin");
static VOCABULARY: &str = include_str!("../../reference/embedding/vocab.txt");
static SHIPPED: LazyLock<Option<Arc<StaticTable>>> =
    LazyLock::new(|| StaticTable::new(TABLE, VOCABULARY).ok().map(Arc::new));

/// A vector for each piece of a vocabulary; a text's vector is the direction of its pieces' sum.
#[derive(Debug)]
pub struct StaticTable {
    id: EmbedderId,
    pieces: WordPieces,
    dimensions: usize,
    scales: Vec<f32>,
    /// One row of `dimensions` a piece; each byte an `i8`.
    rows: &'static [u8],
}

/// The fault of a table that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the embedding table is damaged: {0}")]
pub struct TableError(&'static str);

/// The table that is part of the program; read once, on first use. `None` when the program was built with a damaged
/// one, which its own test refuses.
#[must_use]
pub fn shipped() -> Option<Arc<dyn Embedder>> {
    SHIPPED.as_ref().map(|table| Arc::clone(table) as Arc<dyn Embedder>)
}

/// True for a lower-case word that the shipped vocabulary holds whole: a word that people write.
#[must_use]
pub fn is_word(word: &str) -> bool {
    SHIPPED.as_ref().is_some_and(|table| table.pieces.is_whole(word))
}

impl StaticTable {
    /// A table in the layout of `data/reference/embedding`: `HAATEMB1`, the number of pieces and of components, a
    /// scale for each piece, then the rows, all little-endian.
    ///
    /// # Errors
    /// [`TableError`] for anything else.
    pub fn new(table: &'static [u8], vocabulary: &'static str) -> Result<Self, TableError> {
        let body = table
            .strip_prefix(MAGIC)
            .ok_or(TableError("it begins with something else"))?;
        let short = || TableError("it is shorter than it says");
        let (pieces, body) = body.split_first_chunk::<4>().ok_or_else(short)?;
        let (dimensions, body) = body.split_first_chunk::<4>().ok_or_else(short)?;
        let pieces = u32::from_le_bytes(*pieces) as usize;
        let dimensions = u32::from_le_bytes(*dimensions) as usize;
        if !(1..=DIMENSIONS_MAX).contains(&dimensions) || pieces != vocabulary.lines().count() {
            return Err(TableError("it does not fit its vocabulary"));
        }
        let (scales, rows) = body.split_at_checked(pieces.saturating_mul(4)).ok_or_else(short)?;
        if Some(rows.len()) != pieces.checked_mul(dimensions) {
            return Err(TableError("it has more or fewer rows than it says"));
        }
        let (scales, _) = scales.as_chunks::<4>();
        let scales: Vec<f32> = scales.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if !scales.iter().all(|scale| scale.is_finite()) {
            return Err(TableError("a scale is no number"));
        }
        Ok(Self {
            id: id(table, vocabulary, dimensions),
            pieces: WordPieces::new(vocabulary),
            dimensions,
            scales,
            rows,
        })
    }

    /// Adds the vectors of a text's pieces to `sum`.
    fn add(&self, sum: &mut [f32], text: &str, tokens_max: usize) {
        self.pieces.each(text, tokens_max, |piece| {
            let from = piece as usize * self.dimensions;
            let row = self.rows.get(from..from + self.dimensions);
            if let (Some(row), Some(scale)) = (row, self.scales.get(piece as usize)) {
                add_scaled(sum, row, *scale);
            }
        });
    }

    fn document(&self, document: &DocumentText, sum: &mut [f32], of_segment: &mut [f32]) -> Option<Vector> {
        sum.fill(0.0);
        for (text, Segment { weight, tokens_max }) in document.segments() {
            of_segment.fill(0.0);
            self.add(of_segment, text, tokens_max);
            let norm = norm(of_segment);
            if norm > 0.0 {
                let share = weight / norm;
                for (component, of_segment) in sum.iter_mut().zip(&*of_segment) {
                    *component += share * of_segment;
                }
            }
        }
        Vector::new(sum)
    }
}

/// The id follows from the content and the method: another table under the same name is impossible.
fn id(table: &[u8], vocabulary: &str, dimensions: usize) -> EmbedderId {
    let mut digest = Sha256::new().chain_update(table).chain_update(vocabulary);
    for segment in [
        Segment::TITLE,
        Segment::CATEGORY,
        Segment::BRAND,
        Segment::OPTIONS,
        Segment::DESCRIPTION,
    ] {
        digest.update(segment.weight.to_le_bytes());
        digest.update((segment.tokens_max as u64).to_le_bytes());
    }
    digest.update((DocumentText::DESCRIPTION_BYTES as u64).to_le_bytes());
    digest.update(METHOD);
    let digest = hex::encode(digest.finalize());
    EmbedderId::from_trusted(format!("static-{dimensions}-{}", digest.get(..16).unwrap_or_default()))
}

impl Embedder for StaticTable {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vector>, EmbedError> {
        // Words of a script that the vocabulary knows by its letters alone: letters mean nothing.
        let mut known = false;
        let mut tell = |piece| known |= !self.pieces.is_letter(piece);
        self.pieces.each(text, QUERY_TOKENS_MAX, &mut tell);
        if !known {
            return Ok(None);
        }
        let mut sum = vec![0.0; self.dimensions];
        self.add(&mut sum, text, QUERY_TOKENS_MAX);
        Ok(Vector::new(&sum))
    }

    fn embed_documents(&self, documents: &[DocumentText]) -> Result<Vec<Option<Vector>>, EmbedError> {
        let (mut sum, mut of_segment) = (vec![0.0; self.dimensions], vec![0.0; self.dimensions]);
        let embedded = documents
            .iter()
            .map(|document| self.document(document, &mut sum, &mut of_segment));
        Ok(embedded.collect())
    }
}

#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use sha2::{Digest, Sha256};

use crate::dot::add_scaled;
use crate::norm::norm;
use crate::pieces::WordPieces;
use crate::sign_code::DIMENSIONS_MAX;
use crate::{DocumentText, EmbedError, Embedder, EmbedderId, Segment, Vector};

const MAGIC: &[u8] = b"HAATEMB1";
/// Maximum number of pieces read from a query, more than any real query has.
const QUERY_TOKENS_MAX: usize = 64;
/// Version of the method. It must change whenever the same table gives different vectors, because texts are split,
/// added or weighted differently.
const METHOD: &str = "1";

/// Embedding table that is compiled into the program.
static TABLE: &[u8] = include_bytes!("../../reference/embedding/table.bin");
static VOCABULARY: &str = include_str!("../../reference/embedding/vocab.txt");
static SHIPPED: LazyLock<Option<Arc<StaticTable>>> =
    LazyLock::new(|| StaticTable::new(TABLE, VOCABULARY).ok().map(Arc::new));

/// An embedder with a vector for each word piece of a vocabulary. The vector of a text is the direction of the sum of
/// its pieces' vectors.
#[derive(Debug)]
pub struct StaticTable {
    id: EmbedderId,
    pieces: WordPieces,
    dimensions: usize,
    scales: Vec<f32>,
    /// One row of `dimensions` bytes per word piece, in which every byte is an `i8`.
    rows: &'static [u8],
}

/// Error: the embedding table is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the embedding table is damaged: {0}")]
pub struct TableError(&'static str);

/// Returns the embedding table that is compiled into the program, parsed on first use. Returns `None` for a damaged
/// table, which a test rules out.
#[must_use]
pub fn shipped() -> Option<Arc<dyn Embedder>> {
    SHIPPED.as_ref().map(|table| Arc::clone(table) as Arc<dyn Embedder>)
}

/// Returns `true` for a lowercase word that is a single piece of the default vocabulary and therefore a common word.
#[must_use]
pub fn is_word(word: &str) -> bool {
    SHIPPED.as_ref().is_some_and(|table| table.pieces.is_whole(word))
}

impl StaticTable {
    /// Reads a table in the layout of `data/reference/embedding`: `HAATEMB1`, the numbers of pieces and components, a
    /// scale for each piece, then the rows, all little-endian.
    ///
    /// # Errors
    /// [`TableError`] if the layout is different.
    pub fn new(table: &'static [u8], vocabulary: &'static str) -> Result<Self, TableError> {
        let body = table
            .strip_prefix(MAGIC)
            .ok_or(TableError("it is not an embedding table"))?;
        let short = || TableError("it is shorter than its header states");
        let (pieces, body) = body.split_first_chunk::<4>().ok_or_else(short)?;
        let (dimensions, body) = body.split_first_chunk::<4>().ok_or_else(short)?;
        let pieces = u32::from_le_bytes(*pieces) as usize;
        let dimensions = u32::from_le_bytes(*dimensions) as usize;
        if !(1..=DIMENSIONS_MAX).contains(&dimensions) || pieces != vocabulary.lines().count() {
            return Err(TableError(
                "its number of rows or dimensions does not match its vocabulary",
            ));
        }
        let (scales, rows) = body.split_at_checked(pieces.saturating_mul(4)).ok_or_else(short)?;
        if Some(rows.len()) != pieces.checked_mul(dimensions) {
            return Err(TableError("its number of rows differs from its header"));
        }
        let (scales, _) = scales.as_chunks::<4>();
        let scales: Vec<f32> = scales.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if !scales.iter().all(|scale| scale.is_finite()) {
            return Err(TableError("a scale is not a finite number"));
        }
        Ok(Self {
            id: id(table, vocabulary, dimensions),
            pieces: WordPieces::new(vocabulary),
            dimensions,
            scales,
            rows,
        })
    }

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

/// The id depends on the content and the method, so that two different tables never have the same id.
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
        // Letters carry no meaning, so that words in scripts for which the vocabulary has only letters are ignored.
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

//! Semantic retrieval, which finds the products with vectors close to the query's vector.
//!
//! A query is embedded only by the embedder that the release records. Vectors of different embedders are not
//! comparable.

use std::borrow::Cow;
use std::sync::Arc;

use data_embedding::{Embedder, Vector};
use data_index::{Embedding, Release, RowAddress};

use crate::lexical::Narrowing;

/// Minimum similarity of a product, as a share of that of the nearest product. All similarity limits are tuned on
/// judged queries.
const SHARE_OF_BEST_MIN: f32 = 0.6;
/// Number of rows to retrieve if some are refused, as a factor and an addend. The refused products are often the
/// nearest.
const REFUSED_TIMES: usize = 3;
const REFUSED_MORE: usize = 100;

/// Reason for a search without meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DegradedReason {
    /// The release has no vectors.
    Vectors,
    /// The release's vectors come from another embedder than the server's.
    Embedder,
    /// The embedder returned an error.
    Answer,
    /// The embedder knows no word of the query.
    KnownWord,
}

impl DegradedReason {
    /// Returns the name in API responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Vectors => "no_vectors",
            Self::Embedder => "other_embedder",
            Self::Answer => "embedder_failed",
            Self::KnownWord => "no_known_word",
        }
    }
}

/// Embedder for queries to one release, or the reason for having none.
#[derive(Debug, Clone)]
pub struct Semantic(Result<Arc<dyn Embedder>, DegradedReason>);

impl Semantic {
    pub(crate) fn of(release: &Release, embedder: Option<&Arc<dyn Embedder>>) -> Self {
        let Some(recorded) = &release.manifest().embedding else {
            return Self(Err(DegradedReason::Vectors));
        };
        match embedder.filter(|embedder| Embedding::of(embedder.as_ref()) == *recorded) {
            Some(embedder) => Self(Ok(Arc::clone(embedder))),
            None => {
                tracing::warn!(
                    recorded = %recorded.embedder,
                    "the release's vectors were made by a different embedder: searches are lexical only"
                );
                Self(Err(DegradedReason::Embedder))
            }
        }
    }

    /// Returns the name of the embedder, or of the reason for having none. Search results depend on it.
    pub fn name(&self) -> &str {
        match &self.0 {
            Ok(embedder) => embedder.id().as_str(),
            Err(lacking) => lacking.as_str(),
        }
    }

    /// Returns true if embedding a query waits for something outside the processor.
    pub fn waits(&self) -> bool {
        self.0.as_ref().is_ok_and(|embedder| embedder.waits())
    }

    pub(crate) fn embed(&self, text: &str) -> Result<Vector, DegradedReason> {
        let embedder = self.0.as_ref().map_err(|lacking| *lacking)?;
        // A text of only numbers has no meaning. Its vector would be near to any text with numbers.
        if !text.chars().any(char::is_alphabetic) {
            return Err(DegradedReason::KnownWord);
        }
        match embedder.embed_query(&narrow(text)) {
            Ok(vector) => vector.ok_or(DegradedReason::KnownWord),
            Err(error) => {
                tracing::warn!(%error, "the embedding of a query failed");
                metrics::counter!("query_embedding_failures_total").increment(1);
                Err(DegradedReason::Answer)
            }
        }
    }
}

/// Converts full-width letters, which some keyboards produce, because the embedder does not know them.
fn narrow(text: &str) -> Cow<'_, str> {
    /// Unicode distance of a full-width letter from its usual form.
    const BEHIND: u32 = 0xfee0;
    let is_wide = |char: char| matches!(char, '\u{ff01}'..='\u{ff5e}' | '\u{3000}');
    if !text.contains(is_wide) {
        return text.into();
    }
    let narrow = |char: char| match char {
        '\u{3000}' => ' ',
        _ if is_wide(char) => char::from_u32(u32::from(char) - BEHIND).unwrap_or(char),
        _ => char,
    };
    text.chars().map(narrow).collect()
}

#[derive(Debug)]
pub(crate) struct Nearest<'a> {
    pub(crate) vector: &'a Vector,
    /// Product that the results must be similar to. It is excluded before the relative minimum similarity is computed.
    pub(crate) like: Option<RowAddress>,
    pub(crate) narrowing: Narrowing<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Near {
    pub(crate) at: RowAddress,
    pub(crate) cosine: f32,
}

impl Nearest<'_> {
    /// Returns the nearest products first, without those below `least` or much farther than the nearest. The nearest
    /// product is determined without the filter, so that the filter does not make distant products acceptable.
    pub(crate) fn search(&self, release: &Release, wanted: usize, least: f32) -> Vec<Near> {
        let mut found = self.in_order(release, wanted);
        let best = match found.first() {
            Some(_) if self.narrowing.is_narrower => {
                let before = Self {
                    narrowing: self.narrowing.scope(),
                    ..*self
                };
                before.in_order(release, 1).first().copied()
            }
            best => best.copied(),
        };
        let least = best.map_or(least, |best| least.max(best.cosine * SHARE_OF_BEST_MIN));
        found.truncate(found.partition_point(|near| near.cosine >= least));
        found
    }

    /// Returns the nearest products first, at any distance.
    pub(crate) fn in_order(&self, release: &Release, wanted: usize) -> Vec<Near> {
        let Narrowing { allowed, .. } = self.narrowing;
        let mut more = wanted + usize::from(self.like.is_some());
        if allowed.is_some() {
            more = more * REFUSED_TIMES + REFUSED_MORE;
        }
        let found = release.nearest(self.vector, more, self.narrowing.passing()).into_iter();
        let found = found.map(|(at, cosine)| Near { at, cosine });
        let mut found: Vec<Near> = found.filter(|near| Some(near.at) != self.like).collect();
        if allowed.is_some() {
            found.retain(|near| self.narrowing.allows(near.at));
            found.truncate(wanted);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::narrow;

    #[test]
    fn wide_letters_are_read_as_usual_ones() {
        assert_eq!(narrow("Ｃａｍｅｒａ　ｂａｇ！ カメラ"), "Camera bag! カメラ");
        assert_eq!(narrow("camera bag"), "camera bag");
    }
}

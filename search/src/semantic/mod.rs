//! Retrieval by meaning: which products' vectors point the way the query's does.
//!
//! A query is embedded by the embedder that the release records, or not at all: vectors of different embedders mean
//! nothing to each other.

use std::borrow::Cow;
use std::sync::Arc;

use data_embedding::{Embedder, Vector};
use data_index::{Embedding, Release, RowAddress};

use crate::lexical::Narrowing;

/// The least nearness of a product, as a share of the nearest's. Chosen on judged queries, as are all numbers of
/// nearness.
const SHARE_OF_BEST_MIN: f32 = 0.6;
/// The rows that are looked at where some are refused, as a multiple and as an addition: refused products are often the
/// nearest.
const REFUSED_TIMES: usize = 3;
const REFUSED_MORE: usize = 100;

/// The reason why a search goes without meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DegradedReason {
    /// The release has no vectors.
    Vectors,
    /// The release's vectors are of an embedder that this server is not configured for.
    Embedder,
    /// The embedder failed.
    Answer,
    /// The query has no word that the embedder knows.
    KnownWord,
}

impl DegradedReason {
    /// The name that answers spell it by.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Vectors => "no_vectors",
            Self::Embedder => "other_embedder",
            Self::Answer => "embedder_failed",
            Self::KnownWord => "no_known_word",
        }
    }
}

/// The embedder of queries to one release, or the reason why there is none.
#[derive(Debug, Clone)]
pub struct Semantic(Result<Arc<dyn Embedder>, DegradedReason>);

impl Semantic {
    /// `embedder` is the one that the server is configured for.
    pub(crate) fn of(release: &Release, embedder: Option<&Arc<dyn Embedder>>) -> Self {
        let Some(recorded) = &release.manifest().embedding else {
            return Self(Err(DegradedReason::Vectors));
        };
        match embedder.filter(|embedder| Embedding::of(embedder.as_ref()) == *recorded) {
            Some(embedder) => Self(Ok(Arc::clone(embedder))),
            None => {
                tracing::warn!(recorded = %recorded.embedder, "the release's vectors are of another embedder: lexical search only");
                Self(Err(DegradedReason::Embedder))
            }
        }
    }

    /// The name of the embedder, or of the reason why there is none: answers follow from it.
    pub fn name(&self) -> &str {
        match &self.0 {
            Ok(embedder) => embedder.id().as_str(),
            Err(lacking) => lacking.as_str(),
        }
    }

    /// True where embedding a query waits for something outside the processor.
    pub fn waits(&self) -> bool {
        self.0.as_ref().is_ok_and(|embedder| embedder.waits())
    }

    /// The vector of a query.
    pub(crate) fn embed(&self, text: &str) -> Result<Vector, DegradedReason> {
        let embedder = self.0.as_ref().map_err(|lacking| *lacking)?;
        // Numbers alone name something, or nothing: they are near to whatever has other numbers.
        if !text.chars().any(char::is_alphabetic) {
            return Err(DegradedReason::KnownWord);
        }
        match embedder.embed_query(&narrow(text)) {
            Ok(vector) => vector.ok_or(DegradedReason::KnownWord),
            Err(error) => {
                tracing::warn!(%error, "a query was not embedded");
                metrics::counter!("query_embedding_failures_total").increment(1);
                Err(DegradedReason::Answer)
            }
        }
    }
}

/// Letters as wide as Chinese ones, as some keyboards write them, in their usual form; vectors know no others.
fn narrow(text: &str) -> Cow<'_, str> {
    /// The distance of a wide letter from its usual form in Unicode.
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

/// A query by meaning.
#[derive(Debug)]
pub(crate) struct Nearest<'a> {
    pub(crate) vector: &'a Vector,
    /// The product that the query is like. Nothing is measured against it: nothing else is as near.
    pub(crate) like: Option<RowAddress>,
    pub(crate) narrowing: Narrowing<'a>,
}

/// A product, and how near it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Near {
    pub(crate) at: RowAddress,
    pub(crate) cosine: f32,
}

impl Nearest<'_> {
    /// The products nearest to a query, nearest first, without those that are too far from it to be meant: below `least`,
    /// or much farther than the nearest, whether or not the filter passes that: what would be left out without the filter is
    /// no better for it.
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

    /// The products nearest to a query, nearest first, however far they are.
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

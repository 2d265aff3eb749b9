use std::collections::BTreeSet;
use std::sync::Arc;

use data_index::Release;
use tantivy::InvertedIndexReader;
use tantivy::schema::Field;

use super::ReadError;
use super::categories::CategoryNames;
use super::synonyms::Synonyms;
use super::vocabulary::Vocabulary;
use super::whole::BrandNames;

/// What searching a release by words needs besides its parts' terms, prepared once.
pub(crate) struct TextIndex {
    pub(super) segments: Vec<Segment>,
    pub(super) code: Field,
    /// Products, dead ones included.
    pub(super) docs: f32,
    pub(super) vocabulary: Vocabulary,
    pub(super) synonyms: Synonyms,
    pub(super) brand_names: BrandNames,
    pub(super) category_names: CategoryNames,
}

/// One part's readers.
pub(super) struct Segment {
    pub(super) code: Arc<InvertedIndexReader>,
    pub(super) titles: Arc<InvertedIndexReader>,
    pub(super) reader: tantivy::SegmentReader,
}

impl std::fmt::Debug for TextIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextIndex")
            .field("segments", &self.segments.len())
            .finish_non_exhaustive()
    }
}

impl TextIndex {
    /// Prepares the text index of a release.
    pub(crate) fn open(release: &Release, synonyms: Synonyms) -> Result<Self, ReadError> {
        let specs = release.fields();
        let readers = release.searcher().segment_readers();
        let segments = readers.iter().map(|reader| {
            Ok(Segment {
                code: reader.inverted_index(specs.code.field)?,
                titles: reader.inverted_index(specs.title_exact.field)?,
                reader: reader.clone(),
            })
        });
        let segments = segments.collect::<Result<Vec<_>, ReadError>>()?;
        let mut vocabulary = Vocabulary::of(release)?;
        let is_held = |stem: &str| release.parts().iter().any(|part| part.holds(stem));
        vocabulary.add_spellings(synonyms.spellings(is_held));
        let docs: u64 = readers.iter().map(|reader| u64::from(reader.max_doc())).sum();
        Ok(Self {
            segments,
            code: specs.code.field,
            docs: as_float(docs.max(1)),
            vocabulary,
            synonyms,
            brand_names: BrandNames::of(release),
            category_names: CategoryNames::of(release),
        })
    }

    /// How many titles, brand names and names of categories hold a word.
    pub(crate) fn count(&self, word: &str) -> u32 {
        self.vocabulary.count(word)
    }

    /// Single words that shoppers use for this one.
    pub(crate) fn other_words(&self, word: &str) -> Vec<String> {
        self.synonyms.of_word(word).collect()
    }

    /// Words of titles that begin with a word that has digits, and go on: at most so many, in the order of the alphabet.
    pub(super) fn codes_beginning_with(&self, typed: &str, words_max: usize) -> Vec<String> {
        let mut codes = BTreeSet::new();
        for segment in &self.segments {
            let terms = segment.titles.terms().range().ge(typed.as_bytes());
            // What cannot be read begins nothing; a release is checked when it is opened.
            let Ok(mut terms) = terms.into_stream() else { continue };
            let mut met = 0;
            while met < words_max && terms.advance() && terms.key().starts_with(typed.as_bytes()) {
                met += 1;
                if let Ok(code) = std::str::from_utf8(terms.key()) {
                    codes.insert(code.to_owned());
                }
            }
        }
        codes.remove(typed);
        codes.into_iter().take(words_max).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a statistic is as good as its first 24 bits")]
pub(crate) const fn as_float(count: u64) -> f32 {
    count as f32
}

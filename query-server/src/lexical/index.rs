use std::sync::Arc;

use data_index::Release;
use tantivy::InvertedIndexReader;
use tantivy::schema::Field;

use super::ReadError;
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
}

/// One part's readers.
pub(super) struct Segment {
    pub(super) code: Arc<InvertedIndexReader>,
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
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a statistic is as good as its first 24 bits")]
pub(crate) const fn as_float(count: u64) -> f32 {
    count as f32
}

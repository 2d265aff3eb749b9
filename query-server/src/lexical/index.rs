use std::sync::Arc;

use data_index::Release;
use data_index::text::{Analysis, FieldSpec};
use tantivy::InvertedIndexReader;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::Field;

use super::ReadError;
use super::browse::Orders;
use super::vocabulary::Vocabulary;
use super::whole::BrandNames;

/// BM25's saturation of term frequency and weight of field length.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// How many fields are searched by words.
pub(super) const FIELDS: usize = 7;

/// The field that holds titles, the first of [`TextIndex`]'s.
pub(super) const TITLE: usize = 0;
/// The field that holds titles unstemmed.
pub(super) const TITLE_EXACT: usize = 1;
/// The field that holds brand names and vendors.
pub(super) const BRAND: usize = 2;

/// The weights of the fields: title, title unstemmed, brand, category, options, tags, description. Chosen on judged
/// queries; a long field weighs little because it holds many words by chance.
const BOOSTS: [f32; FIELDS] = [4.0, 1.5, 2.0, 2.0, 0.5, 0.5, 1.0];

/// A release's text index, prepared once: readers of each field of each part, and what BM25 needs of the whole.
pub(crate) struct TextIndex {
    pub(super) segments: Vec<Segment>,
    pub(super) fields: [SearchedField; FIELDS],
    pub(super) code: Field,
    /// Products, dead ones included, as tantivy counts them too.
    pub(super) docs: f32,
    pub(super) vocabulary: Vocabulary,
    pub(super) orders: Orders,
    pub(super) brand_names: BrandNames,
}

/// One part's readers.
pub(super) struct Segment {
    pub(super) fields: [FieldReaders; FIELDS],
    pub(super) code: Arc<InvertedIndexReader>,
    pub(super) reader: tantivy::SegmentReader,
}

pub(super) struct FieldReaders {
    pub(super) terms: Arc<InvertedIndexReader>,
    pub(super) norms: FieldNormReader,
}

/// What is the same of a field in every part.
pub(super) struct SearchedField {
    pub(super) field: Field,
    pub(super) analysis: Analysis,
    pub(super) boost: f32,
    /// BM25's length factor by the byte that stands for a field's length.
    pub(super) lengths: [f32; 256],
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
    pub(crate) fn open(release: &Release) -> Result<Self, ReadError> {
        let specs = release.fields();
        let searched: [FieldSpec; FIELDS] = [
            specs.title,
            specs.title_exact,
            specs.brand,
            specs.category,
            specs.options,
            specs.tags,
            specs.description,
        ];
        let readers = release.searcher().segment_readers();
        let segments = readers
            .iter()
            .map(|reader| Segment::open(reader, &searched, specs.code.field));
        let segments = segments.collect::<Result<Vec<_>, _>>()?;
        let docs: u64 = readers.iter().map(|reader| u64::from(reader.max_doc())).sum();
        let docs = as_float(docs.max(1));
        let mut at = 0;
        let fields = searched.map(|spec| {
            let tokens = segments
                .iter()
                .map(|segment| segment.fields[at].terms.total_num_tokens())
                .sum::<u64>();
            let boost = BOOSTS[at];
            at += 1;
            SearchedField {
                field: spec.field,
                analysis: spec.analysis,
                boost,
                lengths: lengths(as_float(tokens) / docs),
            }
        });
        let vocabulary = Vocabulary::of(&segments)?;
        let orders = Orders::of(release);
        Ok(Self {
            segments,
            fields,
            code: specs.code.field,
            docs,
            vocabulary,
            orders,
            brand_names: BrandNames::of(release),
        })
    }

    /// How much a term tells that `holding` products hold.
    pub(super) fn idf(&self, holding: u32) -> f32 {
        let holding = as_float(u64::from(holding));
        (1.0 + (self.docs - holding + 0.5).max(0.0) / (holding + 0.5)).ln() * (K1 + 1.0)
    }
}

impl Segment {
    fn open(reader: &tantivy::SegmentReader, specs: &[FieldSpec; FIELDS], code: Field) -> Result<Self, ReadError> {
        let fields = specs
            .iter()
            .map(|spec| {
                let (terms, norms) = (
                    reader.inverted_index(spec.field)?,
                    reader.get_fieldnorms_reader(spec.field)?,
                );
                Ok(FieldReaders { terms, norms })
            })
            .collect::<Result<Vec<_>, ReadError>>()?;
        let fields = fields
            .try_into()
            .map_err(|_| tantivy::TantivyError::InternalError("fields are lost".to_owned()))?;
        Ok(Self {
            fields,
            code: reader.inverted_index(code)?,
            reader: reader.clone(),
        })
    }
}

fn lengths(average: f32) -> [f32; 256] {
    let mut lengths = [0.0; 256];
    for (code, length) in (0..=u8::MAX).zip(&mut lengths) {
        let tokens = as_float(u64::from(FieldNormReader::id_to_fieldnorm(code)));
        *length = K1 * (1.0 - B + B * tokens / average.max(f32::MIN_POSITIVE));
    }
    lengths
}

#[expect(clippy::cast_precision_loss, reason = "a statistic is as good as its first 24 bits")]
pub(crate) const fn as_float(count: u64) -> f32 {
    count as f32
}

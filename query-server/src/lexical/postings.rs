use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, TERMINATED, Term};

use super::index::{FIELDS, TITLE, TITLE_EXACT, TextIndex};
use super::terms::{QueryTerm, QueryTerms};
use super::{ReadError, index};
use data_index::text::Analysis;

/// Where the terms of a query lie in each part, and what each is worth in each field.
pub(super) struct OpenTerms {
    /// By segment, then by term, then by field.
    infos: Vec<Vec<[Option<TermInfo>; FIELDS]>>,
    /// By term, then by field: idf × boost.
    weights: Vec<[f32; FIELDS]>,
    /// By term: whether any part holds it in any field.
    pub(super) known: Vec<bool>,
}

impl OpenTerms {
    pub(super) fn of(index: &TextIndex, terms: &QueryTerms) -> Result<Self, ReadError> {
        let mut held = vec![[0_u32; FIELDS]; terms.len()];
        let mut infos = Vec::with_capacity(index.segments.len());
        let keys: Vec<[Term; FIELDS]> = terms.iter().map(|term| keys(index, term)).collect();
        for segment in &index.segments {
            let mut of_segment = Vec::with_capacity(terms.len());
            for (keys, held) in keys.iter().zip(&mut held) {
                let mut of_term: [Option<TermInfo>; FIELDS] = Default::default();
                for (at, info) in of_term.iter_mut().enumerate() {
                    *info = segment.fields[at].terms.get_term_info(&keys[at])?;
                    held[at] += info.as_ref().map_or(0, |info| info.doc_freq);
                }
                of_segment.push(of_term);
            }
            infos.push(of_segment);
        }
        let weight = |held: &[u32; FIELDS]| {
            let mut weights = [0.0; FIELDS];
            for (at, weight) in weights.iter_mut().enumerate() {
                *weight = index.idf(held[at]) * index.fields[at].boost;
            }
            weights
        };
        let known = held.iter().map(|held| held.iter().any(|count| *count > 0)).collect();
        Ok(Self {
            infos,
            weights: held.iter().map(weight).collect(),
            known,
        })
    }

    /// The same terms, each worth what all of them together are: for words that stand for one.
    pub(super) fn weighed_as_one(mut self, index: &TextIndex) -> Self {
        let mut held = [0_u32; FIELDS];
        for (at, info) in self
            .infos
            .iter()
            .flatten()
            .flat_map(|of_term| of_term.iter().enumerate())
        {
            let more = info.as_ref().map_or(0, |info| info.doc_freq);
            held[at] = held[at].saturating_add(more);
        }
        let weights = std::array::from_fn(|at| index.idf(held[at]) * index.fields[at].boost);
        self.weights.fill(weights);
        self
    }

    /// Products that hold a term in a segment, counted once a field.
    pub(super) fn postings_count(&self, segment: usize, term: usize) -> u64 {
        let infos = self.infos.get(segment).and_then(|terms| terms.get(term));
        infos
            .into_iter()
            .flatten()
            .flatten()
            .map(|info| u64::from(info.doc_freq))
            .sum()
    }

    /// Opens a term in a segment; `None` when the segment does not hold it.
    pub(super) fn cursors<'a>(
        &self,
        index: &'a TextIndex,
        segment: usize,
        term: usize,
    ) -> Result<Option<TermCursors<'a>>, ReadError> {
        let (Some(infos), Some(readers)) = (self.infos.get(segment), index.segments.get(segment)) else {
            return Ok(None);
        };
        let (Some(infos), Some(weights)) = (infos.get(term), self.weights.get(term)) else {
            return Ok(None);
        };
        let mut fields = Vec::with_capacity(FIELDS);
        for (at, info) in infos.iter().enumerate() {
            let Some(info) = info else { continue };
            let field = &readers.fields[at];
            let postings = field
                .terms
                .read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
            fields.push(FieldCursor {
                postings,
                norms: &field.norms,
                lengths: &index.fields[at].lengths,
                weight: weights[at],
                field: at,
                count: info.doc_freq,
            });
        }
        // The field that most products hold the term in decides most matches.
        fields.sort_by_key(|cursor| std::cmp::Reverse(cursor.count));
        Ok((!fields.is_empty()).then_some(TermCursors { fields }))
    }
}

fn keys(index: &TextIndex, term: &QueryTerm) -> [Term; FIELDS] {
    std::array::from_fn(|at| {
        let field: &index::SearchedField = &index.fields[at];
        let text = if field.analysis == Analysis::Plain {
            &term.plain
        } else {
            &term.stemmed
        };
        Term::from_field_text(field.field, text)
    })
}

/// One term in one field of one segment.
pub(super) struct FieldCursor<'a> {
    pub(super) postings: SegmentPostings,
    norms: &'a FieldNormReader,
    lengths: &'a [f32; 256],
    weight: f32,
    pub(super) field: usize,
    count: u32,
}

impl FieldCursor<'_> {
    /// BM25 of the product that the cursor stands at.
    pub(super) fn score(&self) -> f32 {
        let doc = self.postings.doc();
        let frequency = index::as_float(u64::from(self.postings.term_freq()));
        let length = self.lengths[usize::from(self.norms.fieldnorm_id(doc))];
        self.weight * frequency / (frequency + length)
    }
}

/// One term in all fields of one segment, walked as one list of products.
pub(super) struct TermCursors<'a> {
    pub(super) fields: Vec<FieldCursor<'a>>,
}

/// What a product's score for one term is made of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TermScore {
    pub(super) score: f32,
    pub(super) in_title: bool,
    pub(super) in_title_exactly: bool,
}

impl TermCursors<'_> {
    pub(super) fn count(&self) -> u64 {
        self.fields.iter().map(|cursor| u64::from(cursor.count)).sum()
    }

    /// The product that the list stands at.
    pub(super) fn doc(&self) -> DocId {
        self.fields
            .iter()
            .map(|cursor| cursor.postings.doc())
            .min()
            .unwrap_or(TERMINATED)
    }

    /// Moves to the first product from `target` on that holds the term. Stops early on a match: fields that the
    /// match does not need are left behind and catch up in [`TermCursors::score`].
    pub(super) fn seek(&mut self, target: DocId) -> DocId {
        let mut first = TERMINATED;
        for cursor in &mut self.fields {
            let mut doc = cursor.postings.doc();
            if doc < target {
                doc = cursor.postings.seek(target);
            }
            if doc == target {
                return target;
            }
            first = first.min(doc);
        }
        first
    }

    /// Moves beyond `doc`.
    pub(super) fn pass(&mut self, doc: DocId) {
        for cursor in &mut self.fields {
            if cursor.postings.doc() == doc {
                cursor.postings.advance();
            } else if cursor.postings.doc() < doc {
                cursor.postings.seek(doc + 1);
            }
        }
    }

    /// Scores the product `doc`, which no cursor has passed.
    pub(super) fn score(&mut self, doc: DocId) -> TermScore {
        let mut sum = TermScore::default();
        for cursor in &mut self.fields {
            let mut at = cursor.postings.doc();
            if at < doc {
                at = cursor.postings.seek(doc);
            }
            if at == doc {
                sum.score += cursor.score();
                sum.in_title |= cursor.field == TITLE;
                sum.in_title_exactly |= cursor.field == TITLE_EXACT;
            }
        }
        sum
    }
}

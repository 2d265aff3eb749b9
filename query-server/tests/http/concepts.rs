use std::sync::Arc;

use data_embedding::{DocumentText, EmbedError, Embedder, EmbedderId, Vector};

/// Words with the same meaning, one concept per line.
const CONCEPTS: [&[&str]; 5] = [
    &["coffee", "espresso", "caffeine", "brew"],
    &["shirt", "garment", "clothing"],
    &["apron", "kitchenwear"],
    &["kettle", "boiler"],
    &["filter", "strainer"],
];
const DIMENSIONS: usize = 16;

/// Embedder that knows a few concepts, so that results are predictable and do not depend on the shipped embedding
/// table. The letters of a word have a small effect, so that no two titles are equal.
#[derive(Debug)]
pub(crate) struct Concepts(EmbedderId);

impl Concepts {
    pub(crate) fn named(id: &str) -> Arc<dyn Embedder> {
        Arc::new(Self(id.parse().unwrap()))
    }
}

fn vector(text: &str) -> Option<Vector> {
    let mut sum = [0.0_f32; DIMENSIONS];
    let words = text.split(|char: char| !char.is_alphanumeric()).map(str::to_lowercase);
    let mut known = false;
    for word in words.filter(|word| !word.is_empty()) {
        if let Some(concept) = CONCEPTS.iter().position(|words| words.contains(&word.as_str())) {
            sum[concept] += 1.0;
            known = true;
        }
        let own = word
            .bytes()
            .fold(7_usize, |state, byte| (state * 31 + usize::from(byte)) % 11);
        sum[CONCEPTS.len() + own] += 0.2;
    }
    known.then(|| Vector::new(&sum)).flatten()
}

impl Embedder for Concepts {
    fn id(&self) -> &EmbedderId {
        &self.0
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vector>, EmbedError> {
        if text == "unreachable coffee" {
            return Err(EmbedError::Unreachable("no answer".to_owned()));
        }
        Ok(vector(text))
    }

    fn embed_documents(&self, documents: &[DocumentText]) -> Result<Vec<Option<Vector>>, EmbedError> {
        Ok(documents.iter().map(|document| vector(&document.title)).collect())
    }
}

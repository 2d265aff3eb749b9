use std::collections::BTreeSet;
use std::sync::Arc;

use data_embedding::{DocumentText, Embedder, Query, Vector, stride};
use data_model::{Brand, Product};

use super::cluster;
use super::file::Vectors;
use crate::error::BuildError;
use crate::taxonomy;

/// Products embedded at once: what asks another machine asks seldom.
const BATCH: usize = 128;
/// More text of options and attributes than tells anything.
const OPTIONS_BYTES_MAX: usize = 512;

/// Embeds the products of a part while it is built.
#[derive(Debug)]
pub(crate) struct VectorsWriter {
    embedder: Arc<dyn Embedder>,
    waiting: Vec<DocumentText>,
    /// One stored row a vector.
    stored: Vec<u8>,
    /// Which rows have a vector.
    present: Vec<bool>,
}

impl VectorsWriter {
    pub(crate) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self {
            embedder,
            waiting: Vec::with_capacity(BATCH),
            stored: Vec::new(),
            present: Vec::new(),
        }
    }

    /// About how much memory a row takes.
    pub(crate) fn row_bytes(&self) -> usize {
        // Once as written, once sorted into lists.
        2 * stride(self.embedder.dimensions())
    }

    /// Takes the next row.
    pub(crate) fn push(&mut self, product: &Product, brand: &Brand) -> Result<(), BuildError> {
        self.waiting.push(document(product, brand));
        if self.waiting.len() < BATCH {
            return Ok(());
        }
        self.embed()
    }

    fn embed(&mut self) -> Result<(), BuildError> {
        let dimensions = self.embedder.dimensions();
        let vectors = self.embedder.embed_documents(&self.waiting)?;
        let fits = |vector: &Vector| vector.dimensions() == dimensions;
        if vectors.len() != self.waiting.len() || !vectors.iter().flatten().all(fits) {
            let what = format!("not {} vectors of {dimensions} components", self.waiting.len());
            return Err(BuildError::Embed(data_embedding::EmbedError::Answer(what)));
        }
        for vector in &vectors {
            self.present.push(vector.is_some());
            if vector.is_some() {
                Query::store(vector.as_ref(), dimensions, &mut self.stored);
            }
        }
        self.waiting.clear();
        Ok(())
    }

    /// The bytes of the file.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, BuildError> {
        if !self.waiting.is_empty() {
            self.embed()?;
        }
        let dimensions = self.embedder.dimensions();
        let lists = cluster::lists(&self.stored, dimensions);
        Vectors::write(dimensions, &self.present, &self.stored, &lists).ok_or(BuildError::PartFull {
            rows: u32::try_from(self.present.len()).unwrap_or(u32::MAX),
        })
    }
}

/// What an embedder is told of a product.
fn document(product: &Product, brand: &Brand) -> DocumentText {
    let mut category = String::new();
    if let Some(filed) = product.category.and_then(taxonomy::by_id) {
        category.push_str(filed.name);
    }
    if let Some(product_type) = &product.product_type {
        add(&mut category, product_type, usize::MAX);
    }
    let mut made_by = brand.name.clone();
    if let Some(vendor) = &product.vendor
        && !vendor.eq_ignore_ascii_case(&brand.name)
    {
        add(&mut made_by, vendor, usize::MAX);
    }
    let options = product.options.iter().flat_map(|option| &option.values);
    let attributes = product.attributes.iter().flat_map(|attribute| &attribute.values);
    let (mut seen, mut values) = (BTreeSet::new(), String::new());
    for value in options.chain(attributes) {
        if values.len() >= OPTIONS_BYTES_MAX {
            break;
        }
        if seen.insert(value) {
            add(&mut values, value, OPTIONS_BYTES_MAX);
        }
    }
    let mut description = String::new();
    add(&mut description, &product.description, DocumentText::DESCRIPTION_BYTES);
    DocumentText {
        title: product.title.clone(),
        category,
        brand: made_by,
        options: values,
        description,
    }
}

/// Adds the beginning of a text after a space.
fn add(to: &mut String, text: &str, bytes_max: usize) {
    if !to.is_empty() {
        to.push(' ');
    }
    to.push_str(text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default());
}

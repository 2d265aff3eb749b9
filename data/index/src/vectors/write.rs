use std::collections::BTreeSet;
use std::sync::Arc;

use data_embedding::{
    BLOCK_ROWS, DIMENSIONS_MAX, DocumentText, EmbedError, Embedder, Query, Vector, block_bytes, sign_code, stride,
};
use data_model::{Brand, Product};

use super::file::{Layout, header};
use crate::error::BuildError;
use crate::taxonomy;

/// Batch size for embedding. Large batches need few requests to an embedder on another machine.
const BATCH: usize = 128;
const OPTIONS_BYTES_MAX: usize = 512;

#[derive(Debug)]
pub(crate) struct VectorsWriter {
    embedder: Arc<dyn Embedder>,
    waiting: Vec<DocumentText>,
    rows: u32,
    present: Vec<u8>,
    sign_codes: Vec<u8>,
    vectors: Vec<u8>,
}

impl VectorsWriter {
    pub(crate) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self {
            embedder,
            waiting: Vec::with_capacity(BATCH),
            rows: 0,
            present: Vec::new(),
            sign_codes: Vec::new(),
            vectors: Vec::new(),
        }
    }

    pub(crate) fn row_bytes(&self) -> usize {
        let dimensions = self.embedder.dimensions();
        stride(dimensions) + block_bytes(dimensions) / BLOCK_ROWS
    }

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
        let all = vectors.len() == self.waiting.len() && vectors.iter().flatten().all(fits);
        if !all || !(1..=DIMENSIONS_MAX).contains(&dimensions) {
            let what = format!(
                "expected {} vectors of {dimensions} components, got something else",
                self.waiting.len()
            );
            return Err(BuildError::Embed(EmbedError::Answer(what)));
        }
        for vector in &vectors {
            self.add(vector.as_ref(), dimensions);
        }
        self.waiting.clear();
        Ok(())
    }

    fn add(&mut self, vector: Option<&Vector>, dimensions: usize) {
        let row = self.rows as usize;
        if row.is_multiple_of(8) {
            self.present.push(0);
        }
        if row.is_multiple_of(BLOCK_ROWS) {
            self.sign_codes
                .resize(self.sign_codes.len() + block_bytes(dimensions), 0);
        }
        if let Some(vector) = vector {
            if let Some(byte) = self.present.last_mut() {
                *byte |= 1 << (row % 8);
            }
            let block = self.sign_codes.len() - block_bytes(dimensions);
            sign_code(vector, row, &mut self.sign_codes[block..]);
        }
        Query::store(vector, dimensions, &mut self.vectors);
        self.rows += 1;
    }

    pub(crate) fn finish(mut self) -> Result<Vec<u8>, BuildError> {
        if !self.waiting.is_empty() {
            self.embed()?;
        }
        let dimensions = self.embedder.dimensions();
        let layout = Layout::of(self.rows, dimensions).ok_or(BuildError::PartFull { rows: self.rows })?;
        let mut out = header(self.rows, dimensions);
        out.reserve(layout.vectors.end);
        for (section, bytes) in [
            (layout.present, &self.present),
            (layout.sign_codes, &self.sign_codes),
            (layout.vectors, &self.vectors),
        ] {
            out.resize(section.start, 0);
            out.extend_from_slice(bytes);
        }
        Ok(out)
    }
}

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
    DocumentText {
        title: product.title.clone(),
        category,
        brand: made_by,
        options: values,
        description: description_start(&product.description),
    }
}

/// Returns the start of a description. List bullets carry no meaning and are left out.
fn description_start(text: &str) -> String {
    let mut start = String::new();
    for line in text.lines() {
        let line = line.strip_prefix("• ").unwrap_or(line);
        let room = DocumentText::DESCRIPTION_BYTES.saturating_sub(start.len());
        if room == 0 {
            break;
        }
        add(&mut start, line, room);
    }
    start
}

fn add(to: &mut String, text: &str, bytes_max: usize) {
    if !to.is_empty() {
        to.push(' ');
    }
    to.push_str(text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default());
}

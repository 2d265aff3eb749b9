//! Measures tantivy over the release's products in this process, as a comparison with another search index for the same
//! queries.

use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use data_index::{Release, taxonomy};
use data_release::ReleaseStore;
use data_storage::Storage;
use tantivy::collector::TopDocs;
use tantivy::directory::RamDirectory;
use tantivy::query::QueryParser;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, TantivyDocument};

use crate::setup::still;

/// Searched text fields of a product, with their weights.
const FIELDS: [(&str, f32); 6] = [
    ("title", 5.0),
    ("brand", 2.0),
    ("category", 2.0),
    ("options", 0.5),
    ("tags", 0.5),
    ("description", 1.0),
];

/// Indexes the release's products with tantivy: English stemming, one segment, in memory.
fn indexed(release: &Release) -> anyhow::Result<Index> {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("en_stem")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let options = TextOptions::default().set_indexing_options(indexing);
    let fields = FIELDS.map(|(name, _)| schema.add_text_field(name, options.clone()));
    let mut writer = Index::builder()
        .schema(schema.build())
        .single_segment_index_writer(RamDirectory::create(), 256 << 20)?;
    for part in release.parts() {
        for row in (0..part.rows()).filter(|row| !part.dead().contains(*row)) {
            let product = part.product(row);
            let brand = release.brands().get(part.brand_index(row)).context("brand")?;
            let category = product
                .category
                .and_then(taxonomy::by_id)
                .map_or("", |category| category.path);
            let options = product.options.iter().flat_map(|option| option.values.clone());
            let texts = [
                product.title,
                format!("{} {}", brand.facts.brand.name, product.vendor.unwrap_or_default()),
                format!("{category} {}", product.product_type.unwrap_or_default()),
                options.collect::<Vec<_>>().join(" "),
                product.tags.join(" "),
                product.description,
            ];
            let mut document = TantivyDocument::new();
            for (field, text) in fields.iter().zip(&texts) {
                document.add_text(*field, text);
            }
            writer.add_document(document)?;
        }
    }
    Ok(writer.finalize()?)
}

/// Returns the times of the queries with tantivy's query parser and top-20 collector over the same products.
pub(crate) fn times(home: &Path, queries: &[String]) -> anyhow::Result<Vec<f64>> {
    let index = indexed(&open(home)?)?;
    let searcher = index.reader()?.searcher();
    let fields: Vec<Field> = index.schema().fields().map(|(field, _)| field).collect();
    let mut parser = QueryParser::for_index(&index, fields.clone());
    parser.set_conjunction_by_default();
    for (field, (_, boost)) in fields.into_iter().zip(FIELDS) {
        parser.set_field_boost(field, boost);
    }
    let mut times = Vec::with_capacity(queries.len());
    for query in queries.iter().take(200).chain(queries) {
        let begun = Instant::now();
        let parsed = parser.parse_query(query)?;
        searcher.search(&parsed, &TopDocs::with_limit(20).order_by_score())?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times.split_off(queries.len().min(200)))
}

fn open(home: &Path) -> anyhow::Result<Release> {
    let releases = ReleaseStore::new(Storage::from_path(home)?.child("releases"), still());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let current = releases.current().await?.context("no release")?;
        let manifest = releases.manifest(current.id).await?;
        let local = releases.fetch(&manifest, &home.join("cache")).await?;
        Ok(local.open()?)
    })
}

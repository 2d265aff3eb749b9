use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;
use tantivy::directory::{ManagedDirectory, MmapDirectory, RamDirectory, TerminatingWrite};
use tantivy::fastfield::write_alive_bitset;
use tantivy::index::Index;
use tantivy::schema::Schema;
use tantivy::{BitSet, Directory, ReloadPolicy, Searcher, TantivyError};

use super::Part;
use super::directory::ReleaseDirectory;
use crate::part::TEXT_FILE_PREFIX;
use crate::text;

/// What tantivy's `meta.json` says of an index.
#[derive(Serialize)]
struct Meta<'a> {
    index_settings: tantivy::IndexSettings,
    segments: Vec<SegmentMeta>,
    schema: &'a Schema,
    opstamp: u64,
}

#[derive(Serialize)]
struct SegmentMeta {
    segment_id: String,
    max_doc: u32,
    deletes: Option<Deletes>,
}

#[derive(Serialize)]
struct Deletes {
    num_deleted_docs: u32,
    opstamp: u64,
}

/// The operation that "deleted" the dead rows; any number does.
const DEAD_OPSTAMP: u64 = 1;

/// Opens one index over the segments of all parts, in their order.
pub(super) fn open(parts: &[Part], files: &MmapDirectory) -> Result<Searcher, TantivyError> {
    let composed = RamDirectory::create();
    let mut names = FxHashMap::default();
    let mut segments = Vec::with_capacity(parts.len());
    for part in parts {
        let segment_id = part.entry.id.segment_id();
        for file in &part.entry.files {
            if let Some(extension) = file.name.strip_prefix(TEXT_FILE_PREFIX) {
                names.insert(format!("{segment_id}.{extension}"), file.sha256.to_string());
            }
        }
        let deletes = if part.dead.is_empty() {
            None
        } else {
            Some(mask(part, &segment_id, &composed)?)
        };
        segments.push(SegmentMeta {
            segment_id,
            max_doc: part.entry.rows,
            deletes,
        });
    }
    let (settings, schema) = (crate::part::index_settings(), text::schema());
    let meta = Meta {
        index_settings: settings,
        segments,
        schema: &schema,
        opstamp: 0,
    };
    let meta = serde_json::to_vec(&meta).map_err(|error| TantivyError::InternalError(error.to_string()))?;
    composed
        .atomic_write(&PathBuf::from("meta.json"), &meta)
        .map_err(|error| TantivyError::IoError(Arc::new(error)))?;
    let directory = ReleaseDirectory {
        composed,
        files: files.clone(),
        names: Arc::new(names),
    };
    let mut index = Index::open(Box::new(directory) as Box<dyn Directory>)?;
    index.set_tokenizers(text::tokenizers());
    // Nothing is stored, so a store block is never read: no cache for them.
    let reader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .doc_store_cache_num_blocks(1)
        .try_into()?;
    Ok(reader.searcher())
}

/// Writes the bit set of live rows where tantivy looks for deletions.
fn mask(part: &Part, segment_id: &str, composed: &RamDirectory) -> Result<Deletes, TantivyError> {
    let mut alive = BitSet::with_max_value_and_full(part.entry.rows);
    part.dead.iter().for_each(|row| alive.remove(row));
    // The managed directory appends the footer that every tantivy file ends with.
    let managed = ManagedDirectory::wrap(Box::new(composed.clone()))?;
    let mut file = managed.open_write(&PathBuf::from(format!("{segment_id}.{DEAD_OPSTAMP}.del")))?;
    write_alive_bitset(&alive, &mut file)?;
    file.terminate()?;
    let dead = u32::try_from(part.dead.len()).unwrap_or(u32::MAX);
    Ok(Deletes {
        num_deleted_docs: dead,
        opstamp: DEAD_OPSTAMP,
    })
}

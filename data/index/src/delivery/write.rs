use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt16Array, UInt32Array};
use arrow::error::ArrowError;
use data_model::{DeliverySample, DeliveryZone};

use super::{DELIVERY, SCHEMA, zones};
use crate::columns::ipc;
use crate::digest;
use crate::error::BuildError;
use crate::manifest::FileEntry;

/// Writes what is known of delivery by one brand, sorted by pincode and each pincode once, to `dir` under the hash of
/// its content; `None` when nothing is known.
///
/// # Errors
/// The file cannot be written.
pub fn write_delivery(dir: &Path, samples: &[DeliverySample]) -> Result<Option<FileEntry>, BuildError> {
    write_delivery_zones(dir, samples, &[])
}

/// As [`write_delivery`], with the zones of the brand.
///
/// # Errors
/// The file cannot be written.
pub fn write_delivery_zones(
    dir: &Path,
    samples: &[DeliverySample],
    zones: &[DeliveryZone],
) -> Result<Option<FileEntry>, BuildError> {
    if samples.is_empty() && zones.is_empty() {
        return Ok(None);
    }
    let columns = |source| BuildError::Columns { file: DELIVERY, source };
    let notes = zones::notes(zones).map_err(columns)?;
    let bytes = encode(samples, notes).map_err(columns)?;
    let mut hasher = digest::Hasher::default();
    hasher.update(&bytes);
    let (sha256, size_bytes) = hasher.finish();
    let path = dir.join(sha256.to_string());
    let written = File::create(&path).and_then(|mut file| file.write_all(&bytes));
    written.map_err(|source| BuildError::File { path, source })?;
    Ok(Some(FileEntry {
        name: DELIVERY.to_owned(),
        size_bytes,
        sha256,
    }))
}

fn encode(samples: &[DeliverySample], notes: HashMap<String, String>) -> Result<Vec<u8>, ArrowError> {
    let pincodes = samples.iter().map(|sample| sample.pincode.number());
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt32Array::from_iter_values(pincodes)),
        Arc::new(
            samples
                .iter()
                .map(|sample| sample.serviceable)
                .collect::<BooleanArray>(),
        ),
        Arc::new(
            samples
                .iter()
                .map(|sample| sample.zone.as_deref())
                .collect::<StringArray>(),
        ),
        Arc::new(samples.iter().map(|sample| sample.days_min).collect::<UInt16Array>()),
        Arc::new(samples.iter().map(|sample| sample.days_max).collect::<UInt16Array>()),
        Arc::new(Int64Array::from_iter_values(
            samples.iter().map(|sample| sample.sampled_at.micros()),
        )),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&SCHEMA), columns)?;
    let schema = SCHEMA.as_ref().clone().with_metadata(notes);
    let mut writer = ipc::writer(Vec::new(), &schema)?;
    writer.write(&batch)?;
    writer.into_inner()
}

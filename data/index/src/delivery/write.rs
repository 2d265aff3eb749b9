use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt16Array, UInt32Array};
use arrow::error::ArrowError;
use data_model::{DeliverySample, DeliveryZone};

use super::{DELIVERY, SCHEMA, zones};
use crate::columns::ipc;
use crate::error::BuildError;
use crate::manifest::NewFile;

/// Returns the file of a brand's zones and samples, or `None` when nothing is known. The samples are sorted by
/// pincode, and each pincode occurs once.
///
/// # Errors
/// A column cannot be written.
pub fn delivery_file(samples: &[DeliverySample], zones: &[DeliveryZone]) -> Result<Option<NewFile>, BuildError> {
    if samples.is_empty() && zones.is_empty() {
        return Ok(None);
    }
    let bytes = zones::notes(zones).and_then(|notes| encode(samples, notes));
    let bytes = bytes.map_err(|source| BuildError::Columns { file: DELIVERY, source })?;
    Ok(Some(NewFile::new(DELIVERY, bytes)))
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

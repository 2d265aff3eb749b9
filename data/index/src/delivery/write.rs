use std::collections::HashMap;
use std::sync::Arc;

use arrow::error::ArrowError;
use data_model::{DeliverySample, DeliveryZone};

use super::{DELIVERY, SCHEMA, SampleColumns, SampleColumnsWriter, zones};
use crate::columns::ipc;
use crate::columns::table::Columns;
use crate::error::BuildError;
use crate::manifest::NewFile;

/// Returns the file of a brand's zones and samples, or `None` without data. `samples` must be sorted by pincode without
/// duplicates.
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
    let mut columns = SampleColumnsWriter::default();
    for sample in samples {
        columns.pincode.push(sample.pincode.number());
        columns.serviceable.push(sample.serviceable);
        columns.zone.append_option(sample.zone.as_deref());
        columns.days_min.push(sample.days_min);
        columns.days_max.push(sample.days_max);
        columns.sampled_at.push(sample.sampled_at.micros());
    }
    let schema = SCHEMA.as_ref().clone().with_metadata(notes);
    ipc::file(&SampleColumns::batch(&mut columns, &Arc::new(schema))?)
}

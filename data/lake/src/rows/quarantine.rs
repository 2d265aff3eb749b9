use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Builder, Int64Builder, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_model::{BrandRefresh, Quarantined, Timestamp};

use super::columns::{Columns, moments};
use super::{batch, count};
use crate::{LakeError, TableName};

/// Rows of `quarantine` on their way into a batch.
#[derive(Debug, Default)]
pub(crate) struct QuarantineRows {
    bucket: Int32Builder,
    store: StringBuilder,
    position: Int64Builder,
    subject: StringBuilder,
    reason: StringBuilder,
    excerpt: StringBuilder,
    observed_at: Vec<Option<Timestamp>>,
    run_id: StringBuilder,
}

impl QuarantineRows {
    pub(crate) fn push<P>(&mut self, bucket: i32, refresh: &BrandRefresh<P>) {
        for (position, record) in refresh.quarantined.iter().enumerate() {
            self.bucket.append_value(bucket);
            self.store.append_value(refresh.brand.store.as_str());
            self.position.append_value(count(position));
            self.subject.append_value(&record.subject);
            self.reason.append_value(&record.reason);
            self.excerpt.append_value(&record.excerpt);
            self.observed_at.push(Some(refresh.observed_at));
            self.run_id.append_value(refresh.run.as_str());
        }
    }

    pub(crate) fn finish(mut self) -> Result<RecordBatch, LakeError> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.bucket.finish()),
            Arc::new(self.store.finish()),
            Arc::new(self.position.finish()),
            Arc::new(self.subject.finish()),
            Arc::new(self.reason.finish()),
            Arc::new(self.excerpt.finish()),
            moments(self.observed_at),
            Arc::new(self.run_id.finish()),
        ];
        batch(TableName::Quarantine, columns)
    }
}

/// The records of a batch of `quarantine`.
pub(crate) fn records(batch: &RecordBatch) -> Result<Vec<Quarantined>, LakeError> {
    let columns = Columns::new(TableName::Quarantine, batch);
    let (store, subject) = (columns.text("store")?, columns.text("subject")?);
    let (reason, excerpt) = (columns.text("reason")?, columns.text("excerpt")?);
    let record = |row| {
        Ok(Quarantined {
            store: columns.parse("store", store.value(row))?,
            subject: subject.value(row).to_owned(),
            reason: reason.value(row).to_owned(),
            excerpt: excerpt.value(row).to_owned(),
        })
    };
    (0..batch.num_rows()).map(record).collect()
}

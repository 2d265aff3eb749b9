use arrow::array::{Int32Builder, Int64Builder, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_model::{BrandRefresh, Quarantined, StoreHost, Timestamp};

use super::build::table_rows;
use super::columns::Columns;
use super::count;
use super::record::{ReadRecord, read_record};
use super::widgets::Place;
use crate::{LakeError, TableName};

/// First position of refused review-app records. Crawls quarantine far fewer records than this.
pub(crate) const REFUSED_FROM: i64 = 1_000_000;
/// Run id of rows that no run wrote.
const NO_RUN: &str = "reviews";

table_rows! {
    QuarantineRows of Quarantine {
        bucket: Int32Builder,
        store: StringBuilder,
        position: Int64Builder,
        subject: StringBuilder,
        reason: StringBuilder,
        excerpt: StringBuilder,
        observed_at: Vec<Option<Timestamp>>,
        run_id: StringBuilder,
        brand_slug: StringBuilder,
    }
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
            self.brand_slug.append_value(refresh.brand.slug.as_str());
        }
    }

    pub(crate) fn push_refused(&mut self, place: Place<'_>, position: i64, record: &Quarantined) {
        self.bucket.append_value(place.bucket);
        self.store.append_value(place.store.as_str());
        self.position.append_value(position);
        self.subject.append_value(&record.subject);
        self.reason.append_value(&record.reason);
        self.excerpt.append_value(&record.excerpt);
        self.observed_at.push(Some(place.at));
        self.run_id.append_value(NO_RUN);
        self.brand_slug.append_value(place.slug.as_str());
    }
}

read_record! {
    Quarantined { store: StoreHost, subject: String, reason: String, excerpt: String, }
}

pub(crate) fn records(batch: &RecordBatch) -> Result<Vec<Quarantined>, LakeError> {
    Quarantined::read_all(TableName::Quarantine, batch)
}

pub(crate) type PlacedRecord = (i64, Quarantined);

pub(crate) fn refused(batch: &RecordBatch) -> Result<Vec<PlacedRecord>, LakeError> {
    let position = Columns::new(TableName::Quarantine, batch).int("position")?;
    let placed = records(batch)?.into_iter().enumerate();
    let placed = placed.map(|(row, record)| (position.value(row), record));
    Ok(placed.filter(|(place, _)| *place >= REFUSED_FROM).collect())
}

/// Returns each row's store and its key for row-by-row changes. Rows of crawls have an empty key.
pub(crate) fn keys(batch: &RecordBatch) -> Result<Vec<(String, String)>, LakeError> {
    let columns = Columns::new(TableName::Quarantine, batch);
    let (store, subject) = (columns.text("store")?, columns.text("subject")?);
    let position = columns.int("position")?;
    let key = |row| match position.value(row) >= REFUSED_FROM {
        true => subject.value(row).to_owned(),
        false => String::new(),
    };
    Ok((0..batch.num_rows())
        .map(|row| (store.value(row).to_owned(), key(row)))
        .collect())
}

//! Delivery facts of each brand by pincode. Each brand has one small file, so that new answers rewrite only that file
//! and no product is indexed again.

mod matrix;
mod write;
mod zones;

#[cfg(test)]
mod tests;

pub use matrix::{DeliveryMatrix, DeliveryRef};
pub use write::delivery_file;
pub use zones::ReleasedZone;

use std::sync::LazyLock;

use arrow::datatypes::SchemaRef;

use crate::columns::table::{Columns, columns};

/// Name of the file in the manifest and in errors.
pub(crate) const DELIVERY: &str = "delivery.arrow";

pub(crate) static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(SampleColumns::schema);

columns! {
    /// Answers for single pincodes.
    SampleColumns, SampleColumnsWriter {
        pincode: u32,
        serviceable: Option<bool>,
        zone: Option<String>,
        days_min: Option<u16>,
        days_max: Option<u16>,
        sampled_at: i64,
    }
}

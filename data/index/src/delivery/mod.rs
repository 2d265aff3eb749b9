//! Delivery facts of each brand by pincode. Each brand has one small file, so new answers for a brand rewrite only that
//! file and no product is reindexed.

mod matrix;
mod write;
mod zones;

#[cfg(test)]
mod tests;

pub use matrix::{DeliveryMatrix, DeliveryRef};
pub use write::delivery_file;
pub use zones::ReleasedZone;

use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

/// Name of the file in the manifest and in errors.
pub(crate) const DELIVERY: &str = "delivery.arrow";

pub(crate) static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("pincode", DataType::UInt32, false),
        Field::new("serviceable", DataType::Boolean, true),
        Field::new("zone", DataType::Utf8, true),
        Field::new("days_min", DataType::UInt16, true),
        Field::new("days_max", DataType::UInt16, true),
        Field::new("sampled_at", DataType::Int64, false),
    ]))
});

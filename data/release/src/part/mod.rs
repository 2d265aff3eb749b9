mod builder;
mod rolling;
mod summary;

pub use builder::{PartBuilder, PartFiles};
pub use rolling::{BuiltParts, PartsBuilder};
pub use summary::StoreSummary;
pub(crate) use summary::fingerprint;

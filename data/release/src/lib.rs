//! Releases: plan and build their parts, publish, list, roll back, collect garbage, fetch, open.
//!
//! In: [`Product`](data_model::Product)s grouped by store and the facts of their brands. Out: immutable files named by their
//! SHA-256 and a [`Manifest`](data_index::Manifest) that names them, in a [`ReleaseStore`]; on the reading side a
//! [`Release`](data_index::Release), memory-mapped.
//! It never reads the lake, and never changes a file once written. `data-index` knows what is in the files.

mod assemble;
mod checks;
mod damage;
mod error;
mod files;
mod local;
mod part;
mod plan;
mod store;

pub use assemble::{AssembleError, Assembly, assemble};
pub use checks::{CheckOptions, Violation};
pub use damage::{Damage, DamageKind};
pub use error::ReleaseError;
pub use files::{write_delivery, write_gone, write_matches, write_reviews};
pub use local::LocalRelease;
pub use part::{BuiltParts, PartBuilder, PartFiles, PartsBuilder, StoreSummary};
pub use plan::{BuildPlan, LakeStore, PartPlan, PlanOptions, plan};
pub use store::{
    Current, FetchReport, GcOptions, GcReport, ListedRelease, Listing, LogEvent, LogRepair, MendedObject, Pin,
    PinnedBy, Publication, Published, REASON_BYTES_MAX, Refusal, ReleaseStore, RolledBack, Unreadable,
};

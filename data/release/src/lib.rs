//! Releases: plans and builds their parts, publishes, lists, rolls back, garbage-collects, fetches and opens them.
//!
//! Input: [`Product`](data_model::Product)s grouped by store, and the facts of their brands. Output: immutable files
//! named by their SHA-256 and a [`Manifest`](data_index::Manifest) that lists them, in a [`ReleaseStore`]. For readers,
//! the output is a memory-mapped [`Release`](data_index::Release). The crate never reads the lake, and never changes a
//! file once it is written. The crate `data-index` defines the contents of the files.

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

//! Adds recently removed products to a release that is assembled but not published yet.

use std::path::Path;

use data_index::Manifest;
use data_index::columns::{GoneKind, GoneProduct};
use data_lake::{GoneRow, LakeSnapshot};
use data_release::{AssembleError, write_gone};

use crate::error::ReleaseBuildError;

/// Maximum number of removed products in a release. The most recently removed are kept.
const GONE_MAX: usize = 20_000;

pub(crate) async fn with_gone(
    manifest: Manifest,
    snapshot: &LakeSnapshot,
    files: &Path,
) -> Result<Manifest, ReleaseBuildError> {
    let rows = snapshot
        .gone_products(GONE_MAX)
        .await
        .map_err(ReleaseBuildError::Snapshot)?;
    let products: Vec<GoneProduct> = rows.into_iter().map(gone).collect();
    let file = write_gone(files, &products).map_err(ReleaseBuildError::Gone)?;
    let with_them = manifest.with_gone(file);
    with_them.map_err(|error| ReleaseBuildError::Assemble(AssembleError::Json(error)))
}

fn gone(row: GoneRow) -> GoneProduct {
    GoneProduct {
        id: row.id,
        title: row.title,
        brand_slug: row.brand_slug,
        kind: if row.by_crawl {
            GoneKind::Delisted
        } else {
            GoneKind::BrandRemoved
        },
        gone_at: row.gone_at,
    }
}

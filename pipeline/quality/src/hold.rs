use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_lake::{AsOf, Lake, LakeSnapshot, TableName};
use data_model::Timestamp;
use data_reports::{Finding, QualityConfig};
use data_storage::Storage;

use crate::error::QualityError;
use crate::kept::kept;
use crate::look::{Before, Look, look};

/// When a release is held back.
#[derive(Debug, Clone)]
pub struct Gate {
    /// The home: it has the record of checks, and what was counted before.
    pub storage: Storage,
    /// The thresholds.
    pub config: QualityConfig,
    /// How old a brand's last good check may be, in milliseconds.
    pub check_age_ms_max: i64,
    /// Whether the operator says that the data is right as it is: what is found is warned of, and holds nothing back.
    pub accepted: bool,
}

/// What holds a release back.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("data quality holds it back: {}", data_reports::summary(.findings))]
pub struct Held {
    /// What is beyond a threshold, at least one.
    pub findings: Vec<Finding>,
}

/// Looks whether a release of `now` is to be held back, beside the state that the release before was made of. A state
/// that has nothing new is not looked at.
///
/// # Errors
/// See [`QualityError`].
#[boxed]
pub async fn hold(
    gate: &Gate,
    lake: &Lake,
    now: &LakeSnapshot,
    released: Option<&BTreeMap<String, u64>>,
    at: Timestamp,
) -> Result<Option<Held>, QualityError> {
    if !gate.config.hold {
        return Ok(None);
    }
    let is_same = |versions: &BTreeMap<String, u64>| {
        let version = |of: &BTreeMap<String, u64>| of.get(TableName::Brands.as_str()).copied();
        version(versions).is_some() && version(versions) == version(now.versions())
    };
    if released.is_some_and(is_same) {
        return Ok(None);
    }
    let before = match released {
        Some(versions) => match lake.snapshot_at(&AsOf::Versions(versions.clone())).await {
            Ok(state) => Some(Before {
                state,
                called: "the current release".to_owned(),
            }),
            Err(error) => {
                // A release of before a table was added, or one whose manifest says nothing of the lake.
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "what the current release was made of cannot be compared with");
                None
            }
        },
        None => None,
    };
    let (known, checks) = (kept(&gate.storage).await?, data_checks::load(&gate.storage).await?);
    let wanted = Look {
        now,
        before: before.as_ref(),
        changed_only: true,
        known: &known,
        checks: &checks,
        check_age_ms_max: gate.check_age_ms_max,
        config: &gate.config,
        at,
    };
    // Boxed: it reads two states of a lake.
    let findings = Box::pin(look(wanted)).await?.findings;
    if findings.is_empty() {
        return Ok(None);
    }
    let held = Held { findings };
    if gate.accepted {
        tracing::warn!("{held}: accepted, as was asked for");
        return Ok(None);
    }
    Ok(Some(held))
}

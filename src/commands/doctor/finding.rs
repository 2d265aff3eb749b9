use std::borrow::Cow;

use serde::Serialize;

use super::advice;
use crate::exit::{Outcome, plain};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Severity {
    /// The subject works and needs no action.
    Ok,
    /// The subject works but needs the operator.
    Warning,
    /// The subject does not work, or gets no newer data.
    Broken,
}

/// Result of one check.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) subject: &'static str,
    ok: bool,
    pub(super) severity: Severity,
    pub(super) found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<Cow<'static, str>>,
}

impl Finding {
    fn new(severity: Severity, subject: &'static str, found: String, advice: Option<Cow<'static, str>>) -> Self {
        Self {
            subject,
            ok: severity == Severity::Ok,
            severity,
            found,
            advice,
        }
    }

    pub(super) fn fine(subject: &'static str, found: String) -> Self {
        Self::new(Severity::Ok, subject, found, None)
    }

    /// Creates a finding that is no fault but worth mentioning.
    pub(super) fn noted(subject: &'static str, found: String, advice: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Severity::Ok, subject, found, Some(advice.into()))
    }

    pub(super) fn warning(subject: &'static str, found: String, advice: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Severity::Warning, subject, found, Some(advice.into()))
    }

    pub(super) fn wrong(subject: &'static str, found: String, advice: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Severity::Broken, subject, found, Some(advice.into()))
    }

    pub(super) fn broken(subject: &'static str, error: &anyhow::Error, advice: impl Into<Cow<'static, str>>) -> Self {
        Self::wrong(subject, plain(error), advice)
    }

    /// Creates a finding about unusable data under the home. `advice` is about the data; a fault of the disk gets other
    /// advice.
    pub(super) fn unusable(subject: &'static str, error: &anyhow::Error, advice: &'static str) -> Self {
        Self::broken(subject, error, advice::of_disk(error).unwrap_or(advice))
    }
}

/// Returns the exit outcome of `haat doctor` with these findings.
pub(super) fn outcome(findings: &[Finding]) -> Outcome {
    match findings.iter().map(|finding| finding.severity).max() {
        Some(Severity::Broken) => Outcome::Failed,
        Some(Severity::Warning) => Outcome::Partial,
        Some(Severity::Ok) | None => Outcome::Done,
    }
}

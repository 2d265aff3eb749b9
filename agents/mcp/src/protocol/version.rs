/// Revisions that begin with `initialize`, the oldest first.
pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// Revisions without sessions, in which each request contains all its metadata.
pub(crate) const MODERN: [&str; 1] = ["2026-07-28"];

/// Era of revisions, which determines how messages are parsed and answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// Returns the revision for the response to `initialize`: the requested one if supported, else the newest with
/// `initialize`.
pub(crate) fn negotiated(asked: &str) -> &'static str {
    let newest = LEGACY[LEGACY.len() - 1];
    LEGACY.into_iter().find(|known| *known == asked).unwrap_or(newest)
}

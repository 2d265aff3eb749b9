/// Revisions that begin with `initialize`, the oldest first.
pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// Revisions without sessions, in which each request contains all of its metadata.
pub(crate) const MODERN: [&str; 1] = ["2026-07-28"];

/// Version family, which determines how a message is parsed and answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// A revision that begins with `initialize`.
    Legacy,
    /// A revision without sessions.
    Modern,
}

/// Returns the revision for the response to `initialize`. The response has the requested revision if supported,
/// otherwise the newest revision with `initialize`.
pub(crate) fn negotiated(asked: &str) -> &'static str {
    let newest = LEGACY[LEGACY.len() - 1];
    LEGACY.into_iter().find(|known| *known == asked).unwrap_or(newest)
}

/// Revisions that begin with `initialize`, the oldest first.
pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// Revisions without sessions, in which each request says all about itself.
pub(crate) const MODERN: [&str; 1] = ["2026-07-28"];

/// The version family that decides how a message is read and answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// A revision that begins with `initialize`.
    Legacy,
    /// A revision without sessions.
    Modern,
}

/// The revision that `initialize` is answered with: the one asked for where it is known, else the newest that has
/// `initialize`.
pub(crate) fn negotiated(asked: &str) -> &'static str {
    let newest = LEGACY[LEGACY.len() - 1];
    LEGACY.into_iter().find(|known| *known == asked).unwrap_or(newest)
}

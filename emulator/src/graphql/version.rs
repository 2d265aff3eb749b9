/// Supported API versions, the oldest first. A new version comes every quarter and is supported for at least a year.
/// The oldest supported version handles requests to an expired one, and `X-Shopify-API-Version` states it.
const VERSIONS: &[&str] = &["2025-10", "2026-01", "2026-04", "2026-07", "2026-10"];

/// Name of the version under development.
const UNSTABLE: &str = "unstable";

/// Newest version that is no release candidate.
const LATEST: &str = "2026-07";

/// Returns the version that handles a path such as `/api/2026-04/graphql.json`, or `None` for a path without a version.
pub(super) fn of(path: &str) -> Option<&'static str> {
    let asked = path
        .strip_prefix("/api/")?
        .strip_suffix("graphql.json")?
        .trim_end_matches('/');
    if asked == UNSTABLE {
        return Some(UNSTABLE);
    }
    if let Some(known) = VERSIONS.iter().find(|known| **known == asked) {
        return Some(known);
    }
    let oldest = VERSIONS.first()?;
    (asked.is_empty() || is_quarter(asked) && asked < *oldest).then_some(oldest)
}

/// True for a year and the first month of a quarter.
fn is_quarter(text: &str) -> bool {
    let parts = text.split_once('-');
    parts.is_some_and(|(year, month)| {
        year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()) && matches!(month, "01" | "04" | "07" | "10")
    })
}

/// Returns every version with its display name, and true if it is supported.
pub(super) fn all() -> impl Iterator<Item = (&'static str, String, bool)> {
    let known = VERSIONS.iter().map(|version| match *version {
        LATEST => (*version, format!("{version} (Latest)"), true),
        newer if newer > LATEST => (*version, format!("{version} (Release candidate)"), false),
        _ => (*version, (*version).to_owned(), true),
    });
    known.chain([(UNSTABLE, UNSTABLE.to_owned(), false)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expired_versions_fall_forward_and_unknown_ones_are_not_found() {
        let of = |version: &str| of(&format!("/api/{version}/graphql.json"));
        for version in ["2025-10", "2026-01", "2026-04", "2026-07", "2026-10", "unstable"] {
            assert_eq!(of(version), Some(version));
        }
        assert_eq!(of("2025-07"), Some("2025-10"));
        assert_eq!(of("2019-04"), Some("2025-10"));
        assert_eq!(super::of("/api/graphql.json"), Some("2025-10"));
        assert_eq!(
            (of("2027-01"), of("2026-05"), of("latest"), of("a/b")),
            (None, None, None, None)
        );
    }
}

//! Reads the tab-separated tables in `data`.

/// Returns the cells of each row, without lines that start with `#`.
pub(crate) fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect())
}

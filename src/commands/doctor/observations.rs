use data_observations::{list, read};
use data_storage::Storage;

use super::finding::Finding;
use crate::output::counted;

const SUBJECT: &str = "live prices";
/// Maximum number of files to read, the oldest first.
const FILES_MAX: usize = 1_000;

/// Checks the live responses of stores that are not yet merged into the price history.
pub(super) async fn look(storage: &Storage) -> Finding {
    let files = match list(storage, FILES_MAX, |_| true).await {
        Ok(files) => files,
        Err(error) => return Finding::unusable(SUBJECT, &error.into(), "restore it from a copy of observations/"),
    };
    let mut damaged = Vec::new();
    for file in &files {
        match read(storage, file).await {
            Ok(_) => {}
            Err(error) if error.is_damage() => damaged.push(error),
            Err(error) => {
                return Finding::unusable(SUBJECT, &error.into(), "restore it from a copy of observations/");
            }
        }
    }
    let Some(first) = damaged.first() else {
        let found = format!("{} waiting for the next crawl", counted(files.len(), "file"));
        return Finding::fine(SUBJECT, found);
    };
    let found = match damaged.len() {
        1 => first.to_string(),
        more => format!("{}, among them: {first}", counted(more, "damaged file")),
    };
    Finding::warning(
        SUBJECT,
        found,
        "crawls skip it, and the price history lacks its content: restore it from a copy, or delete it",
    )
}

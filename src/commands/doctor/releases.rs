use std::collections::HashSet;

use data_release::{ReleaseStore, Unreadable};
use data_storage::Storage;

use super::finding::Finding;
use crate::output::counted;
use crate::wiring::Context;

/// Checks the release log and every manifest, because all other code skips damaged ones. With `thorough`, also checks
/// every file of older releases.
pub(super) async fn look(context: &Context, storage: &Storage, thorough: bool) -> Vec<Finding> {
    let releases = context.releases(storage);
    let Ok(unreadable) = releases.unreadable().await else {
        return Vec::new();
    };
    let is_entry = |unreadable: &&Unreadable| unreadable.object.starts_with("log/");
    let (entries, manifests): (Vec<_>, Vec<_>) = unreadable.iter().partition(is_entry);
    let mut findings = Vec::new();
    findings.extend(damaged(
        "release log",
        &entries,
        "`haat lake repair` restores it from its copy or, if that is lost too, from the manifests; `--dry-run` shows \
         how. Until then `haat release gc` keeps every release that it may name",
    ));
    findings.extend(damaged(
        "manifests",
        &manifests,
        "restore it from a copy, or discard the release with `haat release gc --drop-damaged`. Until then `haat \
         release gc` removes no files. For the current release, run `haat release build --full`",
    ));
    if thorough {
        findings.extend(earlier(&releases).await);
    }
    let current = releases.current().await.ok().flatten();
    if let Some(pin) = current.and_then(|current| current.pinned) {
        findings.push(Finding::noted(
            "pin",
            format!("the current release is {pin}"),
            "builds publish no newer release until `haat release unpin`",
        ));
    }
    findings
}

/// Checks the files of the releases that a rollback could use.
async fn earlier(releases: &ReleaseStore) -> Option<Finding> {
    const SUBJECT: &str = "earlier releases";
    const ADVICE: &str = "`haat release rollback` to them fails: choose an intact release from `haat release list`, \
                          or restore the file from a copy";
    // The check of the current release reports an unreadable log and faults of that release's files.
    let (listing, manifests) = releases.listing_of_manifests().await.ok()?;
    let current = listing.current.map(|current| current.id);
    let (current, mut earlier): (Vec<_>, Vec<_>) =
        manifests.into_iter().partition(|manifest| Some(manifest.id) == current);
    if earlier.is_empty() {
        return None;
    }
    let known: HashSet<_> = current
        .iter()
        .flat_map(|manifest| manifest.files().map(|file| file.sha256))
        .collect();
    for part in earlier.iter_mut().flat_map(|manifest| &mut manifest.parts) {
        part.files.retain(|file| !known.contains(&file.sha256));
    }
    let damage = match releases.verify_all(&earlier).await {
        Ok(damage) => damage,
        Err(error) => return Some(Finding::unusable(SUBJECT, &error.into(), ADVICE)),
    };
    Some(match damage.first() {
        None => {
            let count = counted(earlier.len(), "release");
            Finding::fine(SUBJECT, format!("{count}; the hash of every file is correct"))
        }
        Some((release, first)) => {
            let more = match damage.len() {
                1 => String::new(),
                many => format!(", and {} more", counted(many - 1, "damaged file")),
            };
            Finding::warning(SUBJECT, format!("{release}: {first}{more}"), ADVICE)
        }
    })
}

fn damaged(subject: &'static str, unreadable: &[&Unreadable], advice: &'static str) -> Option<Finding> {
    let first = unreadable.first()?;
    let found = match unreadable.len() {
        1 => first.to_string(),
        more => {
            format!("{}, among them: {first}", counted(more, "damaged object"))
        }
    };
    Some(Finding::wrong(subject, found, advice))
}

use std::collections::HashSet;

use data_release::{ReleaseStore, Unreadable};
use data_storage::Storage;

use super::finding::Finding;
use crate::output::counted;
use crate::wiring::Context;

/// Checks the release log and every manifest, because all other code skips damaged ones. With `thorough`, also checks
/// every file of earlier releases.
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
        "`haat lake repair` writes it again from its copy or, where that is lost too, as the manifests tell; `--dry-run` says \
         how. Until then `haat release gc` keeps the releases that it may stand for",
    ));
    findings.extend(damaged(
        "manifests",
        &manifests,
        "put it back from a copy; or `haat release gc --drop-damaged` gives the release up. Until then `haat release gc` \
         removes no file. That of the current release: `haat release build --full`",
    ));
    if thorough {
        findings.extend(earlier(&releases).await);
    }
    let current = releases.current().await.ok().flatten();
    if let Some(pin) = current.and_then(|current| current.pinned) {
        findings.push(Finding::noted(
            "pin",
            format!("the current release is {pin}"),
            "builds publish nothing over it until `haat release unpin`",
        ));
    }
    findings
}

/// Checks the files of the releases that a rollback could go to.
async fn earlier(releases: &ReleaseStore) -> Option<Finding> {
    const SUBJECT: &str = "earlier releases";
    const ADVICE: &str = "`haat release rollback` to them fails: name a whole one of `haat release list`, or put the file \
                          back from a copy";
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
            Finding::fine(SUBJECT, format!("{count}, every file as its hash says"))
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

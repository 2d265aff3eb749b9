use data_index::Unreadable;
use data_storage::Storage;

use super::finding::Finding;
use crate::output::counted;
use crate::wiring::Context;

/// Looks at the log of releases and at every manifest: what is damaged there is skipped by everything
/// else. A log whose newest entry is damaged is told where the current release is looked at.
pub(super) async fn look(context: &Context, storage: &Storage) -> Vec<Finding> {
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
        "put it back from a copy; or `haat release gc --drop-damaged` removes it. Until then `haat release gc` keeps the \
         releases that it may stand for",
    ));
    findings.extend(damaged(
        "manifests",
        &manifests,
        "put it back from a copy; or `haat release gc --drop-damaged` gives the release up. Until then `haat release gc` \
         removes no file. That of the current release: `haat release build --full`",
    ));
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

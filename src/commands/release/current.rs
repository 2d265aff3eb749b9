//! Commands that change the current release: rollback, pin and unpin.

use anyhow::Context as _;
use data_model::ReleaseId;
use data_release::{Listing, Pin, PinnedBy, Published, ReleaseError, ReleaseStore};
use serde_json::{Value, json};

use super::warn_of;
use crate::exit::{lost_race, usage};
use crate::wiring::Context;

/// Returns the target of a rollback without a release id. If the current manifest is lost, the releases before it are
/// unknown, and any existing release is accepted.
fn back(listing: &Listing) -> anyhow::Result<ReleaseId> {
    let listed = &listing.releases;
    let is_listed = |id: ReleaseId| listed.iter().any(|release| release.id == id);
    let lost = listing.current.map(|current| current.id).filter(|id| !is_listed(*id));
    let Some(lost) = lost else {
        return listing
            .back
            .context("no release is older than the current one; name the release to roll back to");
    };
    let newest = listed.iter().max_by_key(|release| release.built_at);
    let newest = newest.with_context(|| {
        format!(
            "the manifest of the current release {lost} is missing, and there is no other release: run `haat release \
             build`"
        )
    })?;
    tracing::warn!(
        "the manifest of the current release {lost} is missing; {} is the newest release with a manifest",
        newest.id
    );
    Ok(newest.id)
}

/// Returns the error for a damaged release, with the first intact release as an alternative.
async fn instead(releases: &ReleaseStore, listing: &Listing, to: ReleaseId, damaged: ReleaseError) -> anyhow::Error {
    let current = listing.current.map(|current| current.id);
    let others = listing.releases.iter().map(|release| release.id);
    for other in others.filter(|other| *other != to && Some(*other) != current) {
        let Ok(manifest) = releases.manifest(other).await else {
            continue;
        };
        if releases.verify(&manifest).await.is_ok_and(|damage| damage.is_empty()) {
            return anyhow::anyhow!("{damaged}; {other} is intact: `haat release rollback {other}`");
        }
    }
    anyhow::anyhow!(
        "{damaged}; no other earlier release is intact: `haat release build --full` builds one from the lake"
    )
}

fn parsed(id: &str) -> anyhow::Result<ReleaseId> {
    id.parse().context("release id").map_err(usage)
}

/// Returns the current release after a change. Fails if another writer was faster.
fn changed(published: Published) -> anyhow::Result<data_release::Current> {
    match published {
        Published::Published(current) | Published::Unchanged(current) | Published::Pinned(current) => Ok(current),
        Published::Lost(_) => Err(lost_race(
            "another writer changed the current release first; check it and try again",
        )),
    }
}

pub(super) async fn rollback(
    context: &Context,
    releases: &ReleaseStore,
    id: Option<String>,
    pin: bool,
    dry_run: bool,
) -> anyhow::Result<()> {
    let listing = releases.listing().await?;
    warn_of(&listing.unreadable);
    let (before, from) = (listing.current, listing.current.map(|current| current.id));
    let to = match id {
        Some(id) => parsed(&id)?,
        None => back(&listing)?,
    };
    if from != Some(to) {
        // An absent release needs no further check.
        releases.manifest(to).await?;
    }
    let pinned = if dry_run {
        let damage = releases.verify(&releases.manifest(to).await?).await?;
        if !damage.is_empty() {
            let damaged = ReleaseError::Damaged { id: to, damage };
            return Err(instead(releases, &listing, to, damaged).await);
        }
        before.and_then(|before| before.pinned)
    } else {
        let going = if pin {
            releases.pin(to, PinnedBy::Rollback).await
        } else {
            releases.rollback(to).await
        };
        match going {
            Ok(published) => changed(published)?.pinned,
            Err(damaged @ ReleaseError::Damaged { .. }) => {
                return Err(instead(releases, &listing, to, damaged).await);
            }
            Err(error) => return Err(error.into()),
        }
    };
    let mut document = json!({ "from": from, "to": to, "changed": !dry_run && from != Some(to) });
    if !listing.unreadable.is_empty() {
        super::add_unreadable(&mut document, &listing.unreadable);
    }
    if let Some(pinned) = pinned {
        document["pinned"] = json!(pinned);
    }
    context.output.print(&document, |out| {
        let verb = if dry_run { "would be" } else { "is" };
        match from {
            Some(from) if from == to => writeln!(out, "{to} is already the current release")?,
            Some(from) => writeln!(out, "{to} {verb} the current release instead of {from}")?,
            None => writeln!(out, "{to} {verb} the current release")?,
        }
        writeln!(out, "{}", outlook(pinned))
    })
}

/// Describes what the next build will do.
fn outlook(pinned: Option<Pin>) -> String {
    match pinned {
        Some(pin) => format!("{pin}: builds publish no newer release until `haat release unpin`"),
        None => "the next build publishes the lake's data; `haat release pin` keeps this release current".to_owned(),
    }
}

fn document(current: &data_release::Current, changed: bool) -> Value {
    json!({
        "release": current.id, "published_at": current.published_at, "pinned": current.pinned, "changed": changed,
    })
}

pub(super) async fn pin(context: &Context, releases: &ReleaseStore, id: Option<String>) -> anyhow::Result<()> {
    let before = releases.current().await?;
    let id = match id {
        Some(id) => parsed(&id)?,
        None => before.ok_or(data_release::ReleaseError::NoRelease)?.id,
    };
    let current = changed(releases.pin(id, PinnedBy::Pin).await?)?;
    context
        .output
        .print(&document(&current, before != Some(current)), |out| {
            let left = before.map(|before| before.id).filter(|before| *before != id);
            match left {
                Some(left) => writeln!(out, "{id} is the current release instead of {left}")?,
                None => writeln!(out, "{id} is the current release")?,
            }
            writeln!(out, "{}", outlook(current.pinned))
        })
}

pub(super) async fn unpin(context: &Context, releases: &ReleaseStore) -> anyhow::Result<()> {
    let before = releases.current().await?;
    let current = changed(releases.unpin().await?)?;
    context
        .output
        .print(&document(&current, before != Some(current)), |out| {
            let was = if before == Some(current) {
                "was not pinned"
            } else {
                "is no longer pinned"
            };
            writeln!(out, "{} {was}: builds may replace it", current.id)
        })
}

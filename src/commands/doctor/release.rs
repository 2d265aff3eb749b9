use anyhow::Context as _;
use data_embedding::EmbedderId;
use data_index::Manifest;
use data_release::ReleaseStore;
use data_storage::Storage;
use pipeline_release::{Lag, lag};

use super::finding::Finding;
use crate::exit::plain;
use crate::output::counted;
use crate::wiring::Context;

const SUBJECT: &str = "release";
const HELD_NAMED_MAX: usize = 5;
/// Finding if the current release is unknown.
const LOG: &str = "the name of the current release cannot be read";

/// Checks the current release: its files are complete, it has the lake's data, and no newer build was refused.
pub(super) async fn look(context: &Context, storage: &Storage) -> Vec<Finding> {
    let releases = context.releases(storage);
    let manifest = match current(context, storage, &releases).await {
        Ok(manifest) => manifest,
        Err(error) if error.to_string() == LOG => {
            return vec![Finding::unusable(
                SUBJECT,
                &error,
                "check why releases/log/ cannot be read",
            )];
        }
        Err(error) => {
            return vec![Finding::unusable(
                SUBJECT,
                &error,
                "`haat release build --full` rebuilds every file",
            )];
        }
    };
    let refused = refused(&releases).await;
    let is_refused = refused.is_some();
    let mut findings = vec![match &manifest {
        Some(manifest) => whole(context, manifest),
        None => unreleased(context, storage).await,
    }];
    findings.extend(refused);
    findings.extend(manifest.as_ref().and_then(held));
    // A refused build already has a finding of its own.
    if let Some(manifest) = manifest.filter(|_| !is_refused) {
        findings.extend(behind(context, storage, &releases, &manifest).await);
    }
    findings
}

/// Returns the manifest of the current release, if each of its files exists and can be opened.
async fn current(context: &Context, storage: &Storage, releases: &ReleaseStore) -> anyhow::Result<Option<Manifest>> {
    let Some(current) = releases.current().await.context(LOG)? else {
        return Ok(None);
    };
    let manifest = releases.manifest(current.id).await?;
    // The files are read from the object store, because a server's cache may contain good copies of damaged files.
    let damage: Vec<_> = releases
        .verify(&manifest)
        .await?
        .iter()
        .map(|damage| format!("{} ({})", damage.name, damage.kind))
        .collect();
    anyhow::ensure!(
        damage.is_empty(),
        "release {} is damaged: {}",
        current.id,
        damage.join(", ")
    );
    let local = releases.fetch(&manifest, &context.cache_dir(storage)).await?;
    tokio::task::spawn_blocking(move || local.open()).await??;
    Ok(Some(manifest))
}

fn whole(context: &Context, manifest: &Manifest) -> Finding {
    let found = format!(
        "{} with {}; the hash of every file is correct",
        manifest.id,
        counted(manifest.counts.products, "product")
    );
    // A fault of the configured embedder has a finding of its own.
    let configured = context.embedder().ok().flatten();
    let configured: Option<&EmbedderId> = configured.as_ref().map(|embedder| embedder.id());
    if manifest.embedding.as_ref().map(|embedding| &embedding.embedder) == configured {
        Finding::fine(SUBJECT, found)
    } else {
        Finding::warning(
            SUBJECT,
            found,
            "its vectors were made by another embedder than the configured one (embedding.*): searches use words \
             alone until `haat release build`",
        )
    }
}

/// Reports the brands of which the release has an older state.
fn held(manifest: &Manifest) -> Option<Finding> {
    let first = manifest.held.first()?;
    let told = manifest.held.iter().take(HELD_NAMED_MAX);
    let told: Vec<_> = told
        .map(|brand| format!("{} (since {}): {}", brand.slug, brand.since, brand.reasons.join("; ")))
        .collect();
    let advice = format!(
        "check the store and `haat quality`; crawl it again once the store is right, or publish the lake's data: \
         `haat release build --accept-brand {}`",
        first.slug
    );
    let brands = counted(manifest.held.len(), "brand");
    Some(Finding::warning(
        SUBJECT,
        format!("{brands} held at earlier data: {}", told.join(", ")),
        advice,
    ))
}

/// Reports that there is no release, which is normal before the first crawl and a fault after it.
async fn unreleased(context: &Context, storage: &Storage) -> Finding {
    let counted = async {
        let brands = context.lake_in(storage).await?.snapshot().await?.brands().await?;
        anyhow::Ok(brands.iter().map(|row| row.product_count).sum::<u64>())
    };
    match counted.await {
        Ok(products) if products > 0 => {
            let products = crate::output::counted(products, "product");
            Finding::warning(
                SUBJECT,
                format!("no release yet, although the lake has {products}"),
                "`haat release build`",
            )
        }
        // The check of the lake reports an unreadable lake.
        _ => Finding::noted(SUBJECT, "none yet".into(), "`haat crawl --release`"),
    }
}

/// Reports the last build, if it was refused or failed and no later build succeeded.
async fn refused(releases: &ReleaseStore) -> Option<Finding> {
    let refusal = match releases.refused().await {
        Ok(refusal) => refusal?,
        Err(error) => {
            return Some(Finding::unusable(
                SUBJECT,
                &error.into(),
                "`haat lake repair` moves it to releases/damaged/: the next build that is refused creates it again",
            ));
        }
    };
    let of = |counts: &data_index::Counts| counted(counts.products, "product");
    let counts = match (&refusal.counts, &refusal.current_counts) {
        (Some(refused), Some(served)) => format!(" (it has {}, the current release has {})", of(refused), of(served)),
        (Some(refused), None) => format!(" (it has {})", of(refused)),
        (None, _) => String::new(),
    };
    let falls = |served: &data_index::Counts, refused: &data_index::Counts| {
        served.products > refused.products || served.brands > refused.brands
    };
    let is_fall = match (&refusal.counts, &refusal.current_counts) {
        (Some(refused), Some(served)) => falls(served, refused),
        (Some(refused), None) => refused.products == 0,
        (None, _) => false,
    };
    let reason = plain(&anyhow::anyhow!(refusal.reason));
    let found = format!("the build of {} was not published: {reason}{counts}", refusal.at);
    Some(if refusal.release.is_some() && is_fall {
        Finding::wrong(
            SUBJECT,
            found,
            "no newer release is served until you decide: check the lake with `haat sql`. If its data is right, run \
             `haat release build --accept-collapse`; otherwise crawl again, then run `haat release build`",
        )
    } else {
        Finding::wrong(SUBJECT, found, "correct this error, then run `haat release build`")
    })
}

/// Reports data of the lake that the release lacks.
async fn behind(context: &Context, storage: &Storage, releases: &ReleaseStore, manifest: &Manifest) -> Option<Finding> {
    // The check of the lake reports an unreadable lake.
    let lake = context.lake_in(storage).await.ok()?;
    let lag = lag(&lake, manifest).await.ok().filter(|lag| !lag.is_none())?;
    let found = told(&lag, manifest);
    let is_pinned = releases
        .current()
        .await
        .ok()
        .flatten()
        .is_some_and(|current| current.pinned.is_some());
    Some(if is_pinned {
        // The operator pinned the release on purpose, so this is no fault.
        Finding::noted(
            SUBJECT,
            found,
            "the current release is pinned: run `haat release unpin`, then `haat release build`",
        )
    } else {
        let advice = "`haat release build` publishes the lake's data; after a rollback, correct the lake first";
        Finding::warning(SUBJECT, found, advice)
    })
}

fn told(lag: &Lag, manifest: &Manifest) -> String {
    let groups = [
        ("added", &lag.added),
        ("changed", &lag.changed),
        ("removed", &lag.removed),
    ];
    let groups = groups.iter().filter(|(_, slugs)| !slugs.is_empty());
    let groups: Vec<_> = groups
        .map(|(what, slugs)| match slugs.first() {
            Some(only) if slugs.len() == 1 => format!("{only} was {what}"),
            first => format!(
                "{} were {what}, among them {}",
                counted(slugs.len(), "brand"),
                first.map_or("", |slug| slug.as_str())
            ),
        })
        .collect();
    let since = lag.since.map_or_else(String::new, |since| format!(" since {since}"));
    format!(
        "the lake is newer than release {}{since}: {}; the lake has {}, the release {}",
        manifest.id,
        groups.join("; "),
        counted(lag.lake_products, "product"),
        counted(manifest.counts.products, "product")
    )
}

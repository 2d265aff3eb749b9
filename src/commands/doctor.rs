use anyhow::Context as _;
use data_model::StoreHost;
use data_storage::Storage;
use object_store::path::Path;
use pipeline_crawl::Registry;
use serde::Serialize;

use crate::cli::DoctorArgs;
use crate::exit::Outcome;
use crate::wiring::Context;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    subject: &'static str,
    ok: bool,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'static str>,
}

impl Finding {
    fn fine(subject: &'static str, found: String) -> Self {
        Self {
            subject,
            ok: true,
            found,
            advice: None,
        }
    }

    fn broken(subject: &'static str, error: &anyhow::Error, advice: &'static str) -> Self {
        Self {
            subject,
            ok: false,
            found: format!("{error:#}"),
            advice: Some(advice),
        }
    }
}

/// `haat doctor`: looks at everything a run needs; exit code 1 when something is broken.
pub(crate) async fn run(args: DoctorArgs, context: Context) -> anyhow::Result<Outcome> {
    let mut findings = Vec::new();
    match storage(&context).await {
        Ok((storage, found)) => {
            findings.push(Finding::fine("storage", found));
            findings.push(registry(&storage).await);
            findings.push(lake(&context, &storage, args.thorough).await);
            findings.push(held(&storage).await);
            findings.push(release(&context, &storage).await);
        }
        Err(error) => {
            findings.push(Finding::broken(
                "storage",
                &error,
                "set home, and s3.* where it is an S3 address; see `haat config`",
            ));
        }
    }
    findings.push(embedding(&context).await);
    findings.push(match context.synonyms() {
        Ok(_) => Finding::fine("synonyms", "every line can be read".into()),
        Err(error) => Finding::broken("synonyms", &error, "see query_server.synonyms in `haat config`"),
    });
    if context.config.storefront.allow_loopback {
        let found = "stores on this machine may be crawled (storefront.allow_loopback)".to_owned();
        findings.push(Finding {
            advice: Some("right for emulated stores, wrong in production"),
            ..Finding::fine("storefront", found)
        });
    }
    let healthy = findings.iter().all(|finding| finding.ok);
    context.output.print(
        &serde_json::json!({ "healthy": healthy, "findings": findings }),
        |out| {
            for finding in &findings {
                let mark = if finding.ok { "ok  " } else { "FAIL" };
                writeln!(out, "{mark} {:10} {}", finding.subject, finding.found)?;
                if let Some(advice) = finding.advice {
                    writeln!(out, "     {:10} {advice}", "")?;
                }
            }
            Ok(())
        },
    )?;
    Ok(if healthy { Outcome::Done } else { Outcome::Failed })
}

/// Writes a small object, reads it back and removes it.
async fn storage(context: &Context) -> anyhow::Result<(Storage, String)> {
    let storage = context.storage()?;
    let path = Path::from(format!("doctor/{}", context.clock.now().micros()));
    let bytes = b"haat doctor".as_slice();
    data_storage::put_over(&storage, &path, bytes.to_vec()).await?;
    let read = data_storage::get_bytes(&storage, &path)
        .await?
        .context("what was written cannot be read")?;
    anyhow::ensure!(read == bytes, "what was written is read back different");
    object_store::ObjectStoreExt::delete(storage.store().as_ref(), &path).await?;
    let found = format!("{} takes, gives back and removes an object", storage.url());
    Ok((storage, found))
}

async fn registry(storage: &Storage) -> Finding {
    match Registry::load(storage).await {
        Ok(registry) if registry.is_empty() => {
            let advice = Some("`haat brands add DOMAIN`, or `haat demo` to look around");
            Finding {
                advice,
                ..Finding::fine("brands", "none registered".into())
            }
        }
        Ok(registry) => Finding::fine("brands", format!("{} registered", registry.len())),
        Err(error) => Finding::broken("brands", &error.into(), "restore registry/ from a backup"),
    }
}

async fn lake(context: &Context, storage: &Storage, thorough: bool) -> Finding {
    let looked = async {
        let lake = context.lake_in(storage).await?;
        // Counts every table's rows: a table whose log or files are damaged is found here, not by the next crawl.
        super::lake::tables(&lake).await?;
        if let Some(tick) = lake.unfinished_tick().await {
            anyhow::bail!("tick {tick} was begun and cannot be finished; the log says why");
        }
        let damaged = lake.snapshot().await?.damaged_files(thorough).await?;
        if let Some(first) = damaged.first() {
            anyhow::bail!("{} damaged data files, among them {first}", damaged.len());
        }
        let brands = lake.snapshot().await?.brands().await?;
        let products: u64 = brands.iter().map(|row| row.product_count).sum();
        let registry = Registry::load(storage).await?;
        let registered = registry.brands();
        let is_registered = |store: &StoreHost| registered.iter().any(|brand| brand.store == *store);
        let orphans: Vec<&str> = brands
            .iter()
            .filter(|row| !is_registered(&row.brand.store))
            .map(|row| row.brand.slug.as_str())
            .collect();
        if let Some(first) = orphans.first() {
            let count = orphans.len();
            anyhow::bail!("{count} brands of the lake are not registered and never crawled, among them {first}");
        }
        let oldest = brands.iter().map(|row| row.refreshed_at).min();
        let oldest = oldest.map_or_else(String::new, |oldest| format!(", oldest content of {oldest}"));
        anyhow::Ok(format!("{} brands, {products} products{oldest}", brands.len()))
    };
    match looked.await {
        Ok(found) => Finding::fine("lake", found),
        Err(error) => Finding::broken(
            "lake",
            &error,
            "where the disk is full, make room; put a damaged file back from a copy of the lake, nothing writes it anew; \
             `haat brands add` registers a brand again",
        ),
    }
}

async fn held(storage: &Storage) -> Finding {
    match pipeline_refresh::held_back(storage).await {
        Ok(held) if held.is_empty() => Finding::fine("held back", "none".into()),
        Ok(held) => {
            let slugs: Vec<_> = held.iter().map(|held| held.slug.to_string()).collect();
            let advice =
                Some("crawl again, or `haat crawl --brand SLUG --confirm SLUG` where the catalogue really shrank");
            Finding {
                advice,
                ..Finding::fine("held back", slugs.join(", "))
            }
        }
        Err(error) => Finding::broken("held back", &error.into(), "remove the damaged file in held/"),
    }
}

/// What is wrong when nobody can tell which release is current.
const LOG: &str = "which release is current cannot be read";

async fn release(context: &Context, storage: &Storage) -> Finding {
    let releases = context.releases(storage);
    let looked = async {
        let Some(current) = releases.current().await.context(LOG)? else {
            return anyhow::Ok(None);
        };
        let manifest = releases.manifest(current.id).await?;
        // From the store itself: a server's cache may hold good copies of what is damaged there.
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
        tokio::task::spawn_blocking(move || data_index::Release::open(local)).await??;
        let found = format!(
            "{} with {} products, every file as its hash says",
            current.id, manifest.counts.products
        );
        Ok(Some((found, manifest.embedding.map(|embedding| embedding.embedder))))
    };
    match looked.await {
        Ok(Some((found, embedder))) => {
            // What is wrong with the configured one is told by its own finding.
            let configured = context.embedder().ok().flatten();
            let configured = configured.as_ref().map(|embedder| embedder.id());
            let agree = embedder.as_ref() == configured;
            Finding {
                advice: (!agree).then_some(
                    "its vectors are of another embedder than embedding.* names: searches go by words alone until `haat release build`",
                ),
                ..Finding::fine("release", found)
            }
        }
        Ok(None) => Finding {
            advice: Some("`haat release build`"),
            ..Finding::fine("release", "none yet".into())
        },
        Err(error) if error.to_string() == LOG => Finding::broken(
            "release",
            &error,
            "an entry of releases/log/ that is damaged: put it back from a copy, or, the newest, remove it: the one before it is current then",
        ),
        Err(error) => Finding::broken("release", &error, "`haat release build --full` writes every file anew"),
    }
}

/// Embeds a word with what is configured: a model that cannot be read or reached is told before a build needs it.
async fn embedding(context: &Context) -> Finding {
    let embedder = match context.embedder() {
        Ok(Some(embedder)) => embedder,
        Ok(None) => return Finding::fine("embedding", "none: search by words alone".into()),
        Err(error) => return Finding::broken("embedding", &error, "see `haat config` for embedding.*"),
    };
    let id = embedder.id().clone();
    match tokio::task::spawn_blocking(move || embedder.embed_query("lamp")).await {
        Ok(Ok(_)) => Finding::fine("embedding", format!("{id} answers")),
        Ok(Err(error)) => Finding::broken(
            "embedding",
            &error.into(),
            "start the server that embedding.endpoint names",
        ),
        Err(error) => Finding::broken("embedding", &error.into(), "see the log"),
    }
}

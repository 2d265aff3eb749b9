mod advice;
mod lake;
mod releases;

use anyhow::Context as _;
use data_storage::Storage;
use object_store::path::Path;
use pipeline_crawl::Registry;
use serde::Serialize;

use crate::cli::DoctorArgs;
use crate::exit::{Outcome, plain};
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
            found: plain(error),
            advice: Some(advice),
        }
    }

    /// Something under home that cannot be used: `advice` is for what lies there, unless the disk itself is at fault.
    fn unusable(subject: &'static str, error: &anyhow::Error, advice: &'static str) -> Self {
        Self::broken(subject, error, advice::of_disk(error).unwrap_or(advice))
    }
}

/// For how long requests are tried again.
const RETRY_TIMEOUT_S_MAX: u64 = 5;

/// `haat doctor`: looks at everything a run needs; exit code 1 when something is broken.
pub(crate) async fn run(args: DoctorArgs, mut context: Context) -> anyhow::Result<Outcome> {
    // Whoever asks what is wrong does not wait until a store may answer again.
    let retry_timeout_s = &mut context.config.s3.retry_timeout_s;
    *retry_timeout_s = RETRY_TIMEOUT_S_MAX.min(*retry_timeout_s);
    let mut findings = Vec::new();
    let reachable = match context.storage() {
        Ok(storage) => {
            let tried = try_out(&context, &storage).await;
            // What cannot be written may still be read, and looked at.
            let readable = tried
                .as_ref()
                .err()
                .is_none_or(|error| advice::of_disk(error).is_some());
            findings.push(match tried {
                Ok(found) => Finding::fine("storage", found),
                Err(error) => Finding::unusable("storage", &error, SET_HOME),
            });
            Some(storage).filter(|_| readable)
        }
        Err(error) => {
            findings.push(Finding::unusable("storage", &error, SET_HOME));
            None
        }
    };
    if let Some(storage) = reachable {
        findings.push(registry(&storage).await);
        findings.extend(lake::look(&context, &storage, args.thorough).await);
        findings.push(held(&storage).await);
        findings.push(release(&context, &storage).await);
        findings.extend(releases::look(&context, &storage).await);
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

const SET_HOME: &str = "set home, and s3.* where it is an S3 address; see `haat config`";

/// Writes a small object, reads it back and removes it.
async fn try_out(context: &Context, storage: &Storage) -> anyhow::Result<String> {
    let folder = Path::from("doctor");
    let path = folder.clone().join(context.clock.now().micros().to_string());
    let tried = async {
        let bytes = b"haat doctor".as_slice();
        data_storage::put_over(storage, &path, bytes.to_vec()).await?;
        let read = data_storage::get_bytes(storage, &path)
            .await?
            .context("what was written cannot be read")?;
        anyhow::ensure!(read == bytes, "what was written is read back different");
        object_store::ObjectStoreExt::delete(storage.store().as_ref(), &path).await?;
        Ok(format!("{} takes, gives back and removes an object", storage.url()))
    };
    let tried = tried.await;
    storage.remove_empty_folder(&folder);
    tried
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
        Err(error) => Finding::unusable("brands", &error.into(), "put it back from a copy of registry/"),
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
        Err(error) => Finding::unusable("held back", &error.into(), "remove the damaged file in held/"),
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
        Err(error) if error.to_string() == LOG => Finding::unusable(
            "release",
            &error,
            "an entry of releases/log/ that is damaged: put it back from a copy, or, the newest, remove it: the one before it is current then",
        ),
        Err(error) => Finding::unusable("release", &error, "`haat release build --full` writes every file anew"),
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

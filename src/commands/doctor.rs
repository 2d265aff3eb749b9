mod advice;
mod backups;
mod crawls;
mod finding;
mod lake;
mod observations;
mod release;
mod releases;

use anyhow::Context as _;
use data_storage::Storage;
use object_store::path::Path;
use pipeline_crawl::Registry;
use sql::AllowedKeys;

use self::finding::{Finding, Severity, outcome};
use crate::access::check_settings;
use crate::cli::DoctorArgs;
use crate::discover;
use crate::exit::Outcome;
use crate::listeners::aside_address;
use crate::live::NO_MASTER_KEY;
use crate::state::StateFound;
use crate::wiring::Context;

/// Maximum time for retries of a request, in seconds.
const RETRY_TIMEOUT_S_MAX: u64 = 5;

/// Runs `haat doctor`, which checks everything that the market needs and gives advice on each fault.
pub(crate) async fn run(args: DoctorArgs, mut context: Context) -> anyhow::Result<Outcome> {
    // The diagnosis must not wait long for an object store that is not available.
    let retry_timeout_s = &mut context.config.s3.retry_timeout_s;
    *retry_timeout_s = RETRY_TIMEOUT_S_MAX.min(*retry_timeout_s);
    let mut findings = Vec::new();
    let (reachable, is_home) = home(&context, &mut findings).await;
    if let Some(storage) = reachable {
        findings.extend(room(&storage));
        findings.extend(registry(&storage).await);
        findings.extend(crawls::look(&context, &storage).await);
        findings.extend(lake::look(&context, &storage, args.thorough).await);
        findings.push(observations::look(&storage).await);
        findings.extend(release::look(&context, &storage).await);
        findings.extend(releases::look(&context, &storage, args.thorough).await);
        findings.push(state(&context).await);
        findings.extend(backups::look(&storage).await);
    }
    findings.extend(servers(&context));
    findings.push(embedding(&context).await);
    findings.push(match context.synonyms() {
        Ok(_) => Finding::fine("synonyms", "every line is valid".into()),
        Err(error) => Finding::broken("synonyms", &error, "see query_server.synonyms in `haat config`"),
    });
    if context.config.storefront.allow_loopback {
        findings.push(Finding::noted(
            "storefront",
            "stores on this machine may be crawled (storefront.allow_loopback)".into(),
            "use this for emulated stores only, not in production",
        ));
    }
    if let Some(warning) = context.unnamed_crawler() {
        let set = "set user_agent under [storefront] in the configuration file, or HAAT_STOREFRONT__USER_AGENT";
        findings.push(Finding::warning("storefront", warning.to_owned(), set));
    }
    print(&context, &findings)?;
    Ok(if is_home {
        outcome(&findings)
    } else {
        // A mistyped path is the most likely cause.
        Outcome::Usage
    })
}

fn print(context: &Context, findings: &[Finding]) -> anyhow::Result<()> {
    let healthy = outcome(findings) == Outcome::Done;
    let document = serde_json::json!({ "healthy": healthy, "findings": findings });
    context.output.print(&document, |out| {
        for finding in findings {
            let mark = match finding.severity {
                Severity::Ok => "ok  ",
                Severity::Warning => "WARN",
                Severity::Broken => "FAIL",
            };
            writeln!(out, "{mark} {:10} {}", finding.subject, finding.found)?;
            if let Some(advice) = &finding.advice {
                writeln!(out, "     {:10} {advice}", "")?;
            }
        }
        Ok(())
    })
}

/// Tests the storage. Returns it if its content can be examined, and true if a home exists.
async fn home(context: &Context, findings: &mut Vec<Finding>) -> (Option<Storage>, bool) {
    let storage = match context.storage() {
        Ok(storage) => storage,
        Err(error) => {
            findings.push(Finding::unusable("storage", &error, SET_HOME));
            return (None, Outcome::of(&error) != Outcome::Usage);
        }
    };
    // A folder with other content stays unchanged. An empty bucket is tested nevertheless.
    let is_folder = storage.local_dir().is_some();
    if is_folder && let Err(error) = context.require_home().await {
        findings.push(Finding::broken("home", &error, SET_HOME));
        return (None, Outcome::of(&error) != Outcome::Usage);
    }
    let tried = try_out(context, &storage).await;
    // A home that cannot be written may still be readable.
    let readable = tried
        .as_ref()
        .err()
        .is_none_or(|error| advice::of_disk(error).is_some());
    findings.push(match tried {
        Ok(found) => Finding::fine("storage", found),
        Err(error) => Finding::unusable("storage", &error, SET_HOME),
    });
    if !readable {
        return (None, true);
    }
    if !is_folder && let Err(error) = context.require_home().await {
        findings.push(Finding::broken("home", &error, SET_HOME));
        return (None, Outcome::of(&error) != Outcome::Usage);
    }
    (Some(storage), true)
}

const SET_HOME: &str = "set home, and s3.* if it is an S3 address; see `haat config`";

const UNCONDITIONAL: &str = "the object store overwrites an existing object despite `If-None-Match: *`, so two \
    concurrent writers would both believe that they were first. Use an object store that \
    supports conditional writes";

/// Free space in bytes below which a disk counts as nearly full. One crawl of a large market may write as much.
const FREE_BYTES_MIN: u64 = 256 << 20;

fn room(storage: &Storage) -> Option<Finding> {
    let free_bytes = storage.free_bytes()?;
    let found = format!("{} MiB are free", free_bytes >> 20);
    Some(match free_bytes {
        FREE_BYTES_MIN.. => Finding::fine("disk", found),
        _ => Finding::warning(
            "disk",
            found,
            "free space on the disk; `haat release gc` and `haat lake vacuum` remove files that are not needed",
        ),
    })
}

/// Writes a small object, reads it and removes it.
async fn try_out(context: &Context, storage: &Storage) -> anyhow::Result<String> {
    let folder = Path::from("doctor");
    let path = folder.clone().join(context.clock.now().micros().to_string());
    let tried = async {
        let bytes = b"haat doctor".as_slice();
        data_storage::put_over(storage, &path, bytes.to_vec()).await?;
        let read = data_storage::get_bytes(storage, &path)
            .await?
            .context("the object that was written cannot be read")?;
        anyhow::ensure!(
            read == bytes,
            "the object that was written is different when it is read back"
        );
        // `keeps_conditions` also removes the object.
        anyhow::ensure!(data_storage::keeps_conditions(storage, &path).await?, UNCONDITIONAL);
        Ok(format!(
            "an object can be written, read and removed in {}",
            storage.url()
        ))
    };
    let tried = tried.await;
    storage.remove_empty_folder(&folder);
    tried
}

/// Checks keys, carts, accounts and jobs.
async fn state(context: &Context) -> Finding {
    const SUBJECT: &str = "state";
    match context.check_state().await {
        Ok(StateFound::Whole) => Finding::fine(SUBJECT, "its database is intact, and its master key exists".into()),
        Ok(StateFound::Answers) => Finding::fine(SUBJECT, "its database answers, and its master key exists".into()),
        Ok(StateFound::Absent) => Finding::fine(
            SUBJECT,
            "none yet: the first key, cart, account or job creates it".into(),
        ),
        Ok(StateFound::Nowhere) => Finding::fine(SUBJECT, "none: state.url names no database".into()),
        Err(error) => Finding::unusable(
            SUBJECT,
            &error,
            "keys, carts and accounts need the state. If the database does not answer, check state.url. If the master \
             key is missing, put back your copy of it. If a file is damaged, move it away, and run `haat restore` \
             with a backup into an empty home",
        ),
    }
}

/// Returns the findings, except those about the home, that prevent `haat up` and `haat live-gateway` from starting.
fn servers(context: &Context) -> Vec<Finding> {
    const SUBJECT: &str = "servers";
    let (config, state) = (&context.config, &context.config.state);
    let asides = [
        ("query_server.ops_listen", &config.query_server.ops_listen),
        ("query_server.internal_listen", &config.query_server.internal_listen),
        ("sql.listen", &config.sql.listen),
    ];
    let listens = asides.map(|(key, configured)| aside_address(configured, key).map(drop));
    let others = [
        check_settings(context),
        context.holidays().map(drop),
        discover::model(context).map(drop),
        config
            .sql
            .keys
            .parse::<AllowedKeys>()
            .map(drop)
            .map_err(anyhow::Error::from),
    ];
    let failed = others.into_iter().chain(listens).filter_map(Result::err);
    let broken =
        failed.map(|error| Finding::broken(SUBJECT, &error, "servers do not start: see `haat config --explain`"));
    let mut findings: Vec<_> = broken.collect();
    // For SQLite, a master key is created automatically.
    if !state.url.is_empty() && state.master_key.is_empty() {
        let advice = "`haat up` and `haat live-gateway` do not start without it; a separate query server does";
        findings.push(Finding::warning(SUBJECT, NO_MASTER_KEY.to_owned(), advice));
    }
    findings
}

async fn registry(storage: &Storage) -> Vec<Finding> {
    const SUBJECT: &str = "brands";
    const UNUSABLE: &str = "restore it from a copy of registry/";
    const REPAIR: &str = "`haat lake repair` restores it from its copy in registry/, or registers its brands again \
                          with the data in the lake; add `--dry-run` to preview this";
    let registry = match Registry::load(storage).await {
        Ok(registry) => registry,
        Err(error) => return vec![Finding::unusable(SUBJECT, &error.into(), UNUSABLE)],
    };
    let damaged = match Registry::damaged(storage).await {
        Ok(damaged) => damaged,
        Err(error) => return vec![Finding::unusable(SUBJECT, &error.into(), UNUSABLE)],
    };
    let lost = registry
        .lost()
        .map(|path| format!("{path} and its copy are lost: brands that it registered are missing"));
    let damaged = damaged
        .into_iter()
        .map(|path| format!("{path} is missing or damaged; its copy was read instead"));
    let broken: Vec<_> = lost
        .chain(damaged)
        .map(|found| Finding::wrong(SUBJECT, found, REPAIR))
        .collect();
    match broken.is_empty() {
        false => broken,
        true if registry.is_empty() => vec![Finding::noted(
            SUBJECT,
            "none registered".into(),
            "run `haat brands add DOMAIN`, or `haat demo` to look around",
        )],
        true => vec![Finding::fine(SUBJECT, format!("{} registered", registry.len()))],
    }
}

/// Embeds a word with the configured model, to find a model that is not available before a build needs it.
async fn embedding(context: &Context) -> Finding {
    let embedder = match context.embedder() {
        Ok(Some(embedder)) => embedder,
        Ok(None) => return Finding::fine("embedding", "none: searches use words alone".into()),
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

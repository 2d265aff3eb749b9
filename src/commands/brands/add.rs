use std::io::Read;
use std::path::Path;

use anyhow::Context as _;
use data_model::{CurrencyCode, Secret, Timestamp};
use data_storage::Storage;
use futures::{StreamExt, stream};
use pipeline_crawl::{Addition, NewBrand, Probe, RegisteredBrand, Registry, probe};
use serde_json::{Value, json};
use storefront::{StoreError, Storefront};
use url::Url;

use super::token;
use crate::exit::{Outcome, plain, usage};
use crate::output::counted;
use crate::progress::StepBar;
use crate::wiring::{Context, shutdown_signal};

const PROBES_CONCURRENT: usize = 16;
/// Maximum size of a list of stores, in bytes.
const LIST_BYTES_MAX: u64 = 16 << 20;

/// Options of `haat brands add`.
#[derive(Debug)]
pub(super) struct AddRequest<'a> {
    pub(super) stores: &'a [String],
    /// File with more addresses, or `-` for standard input.
    pub(super) from: Option<&'a Path>,
    /// Storefront API token of the only store.
    pub(super) token: Option<Secret>,
    pub(super) how: Registration,
}

/// Runs `haat brands add`. Each store is registered as soon as it has responded, so that a signal loses none.
pub(super) async fn add(context: &Context, asked: AddRequest<'_>) -> anyhow::Result<Outcome> {
    let mut stores = asked.stores.to_vec();
    if let Some(from) = asked.from {
        stores.extend(
            listed(from)
                .with_context(|| format!("--from {}", from.display()))
                .map_err(usage)?,
        );
    }
    if stores.is_empty() {
        return Err(usage(anyhow::anyhow!(
            "no store is given: no line of --from names a store"
        )));
    }
    let addresses: Vec<Address> = stores
        .iter()
        .map(|store| address(store))
        .collect::<Result<_, _>>()
        .map_err(usage)?;
    let named = addresses.len();
    if asked.token.is_some() && named != 1 {
        return Err(usage(anyhow::anyhow!(
            "--storefront-token applies to one store: name only that store"
        )));
    }
    // A dry run must not create a home.
    let storage = if asked.how.dry_run {
        None
    } else {
        Some(context.storage_new()?)
    };
    let (findings, error) = register_each(context, storage.as_ref(), addresses, asked.how, shutdown_signal()).await?;
    if let Some(token) = asked.token
        && let Some((_, brand)) = findings.iter().find_map(|finding| finding.added.as_ref())
    {
        token::keep(context, &brand.store, &token).await?;
    }
    let outcome = print_findings(context, &findings, named, asked.how)?;
    error.map_or(Ok(outcome), Err)
}

fn listed(from: &Path) -> anyhow::Result<Vec<String>> {
    let mut text = String::new();
    if from == Path::new("-") {
        std::io::stdin().take(LIST_BYTES_MAX).read_to_string(&mut text)?;
    } else {
        std::fs::File::open(from)?
            .take(LIST_BYTES_MAX)
            .read_to_string(&mut text)?;
    }
    anyhow::ensure!(
        (text.len() as u64) < LIST_BYTES_MAX,
        "the list is larger than {LIST_BYTES_MAX} bytes"
    );
    Ok(lines(&text))
}

fn lines(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Address of a store, as the user gave it.
#[derive(Debug)]
pub(crate) struct Address {
    url: Url,
    /// True if the user gave a host and port without a scheme, so that `https` is a guess.
    guessed: bool,
}

impl From<Url> for Address {
    fn from(url: Url) -> Self {
        Self { url, guessed: false }
    }
}

/// Probe result of an address, and the action that followed.
#[derive(Debug)]
pub(crate) struct Finding {
    url: Url,
    verdict: String,
    facts: Value,
    usable: bool,
    pub(crate) added: Option<(&'static str, RegisteredBrand)>,
}

/// Options for registering addresses.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Registration {
    /// Currency of stores that do not state one.
    pub(crate) currency: Option<CurrencyCode>,
    /// True to accept that a brand registered at another address has moved.
    pub(crate) moved: bool,
    pub(crate) dry_run: bool,
}

/// Probes every address and registers the stores that can be crawled. One event of the registry may contain several
/// stores.
pub(crate) async fn register(
    context: &Context,
    storage: &Storage,
    addresses: Vec<Address>,
    how: Registration,
) -> anyhow::Result<Vec<Finding>> {
    let storefront = context.storefront()?;
    let probes = stream::iter(addresses).map(|address| look(&storefront, address, how));
    let probes: Vec<_> = probes.buffered(PROBES_CONCURRENT).collect().await;
    let mut registry = Registry::load(storage).await?;
    enter(&mut registry, storage, probes, context.clock.now()).await
}

/// Probes every address and registers each store that can be crawled as soon as it has responded. Without a storage,
/// nothing is registered. Returns the brands that were done before the stop signal `told`, and the error that stopped
/// the registration, if any.
async fn register_each(
    context: &Context,
    storage: Option<&Storage>,
    addresses: Vec<Address>,
    how: Registration,
    told: impl Future<Output = ()>,
) -> anyhow::Result<(Vec<Finding>, Option<anyhow::Error>)> {
    let storefront = context.storefront()?;
    let mut registry = match storage {
        Some(storage) => Some(Registry::load(storage).await?),
        None => None,
    };
    let bar = StepBar::of_probes(context.quiet, addresses.len());
    let probes = stream::iter(addresses).map(|address| look(&storefront, address, how));
    let mut probes = std::pin::pin!(probes.buffered(PROBES_CONCURRENT));
    let mut told = std::pin::pin!(told);
    let mut findings = Vec::new();
    loop {
        let probed = tokio::select! {
            // A signal that came during a registration has priority over the next registration.
            biased;
            () = &mut told => return Ok((findings, None)),
            probed = probes.next() => match probed {
                Some(probed) => probed,
                None => return Ok((findings, None)),
            },
        };
        bar.step(Some(format!("{}: {}", probed.finding.url, probed.finding.verdict)));
        match (storage, &mut registry) {
            (Some(storage), Some(registry)) => {
                let entered = enter(registry, storage, vec![probed], context.clock.now()).await;
                match entered {
                    Ok(entered) => findings.extend(entered),
                    // Stores that were registered before the error are still listed.
                    Err(error) => return Ok((findings, Some(error))),
                }
            }
            _ => findings.push(probed.finding),
        }
    }
}

struct ProbedAddress {
    finding: Finding,
    /// Brand to register, if it can be crawled.
    brand: Option<NewBrand>,
}

/// Adds probed brands to the registry, in one event.
async fn enter(
    registry: &mut Registry,
    storage: &Storage,
    probes: Vec<ProbedAddress>,
    now: Timestamp,
) -> anyhow::Result<Vec<Finding>> {
    let (mut findings, mut brands, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for ProbedAddress { finding, brand } in probes {
        if let Some(brand) = brand {
            places.push(findings.len());
            brands.push(brand);
        }
        findings.push(finding);
    }
    if !brands.is_empty() {
        let additions = registry.add(storage, &brands, now).await?;
        for (place, addition) in places.into_iter().zip(additions) {
            findings[place].added = Some((word(&addition), addition.brand().clone()));
        }
    }
    Ok(findings)
}

async fn look(storefront: &Storefront, address: Address, how: Registration) -> ProbedAddress {
    let Address { url, guessed } = address;
    let (verdict, facts, brand) = match probe(storefront, &url).await {
        Ok(found) => {
            let brand = NewBrand {
                currency: how.currency,
                moved: how.moved,
                ..NewBrand::at(url.clone())
            }
            .with_facts(found.facts.as_ref());
            let mut verdict = found.verdict(how.currency);
            if guessed && is_unanswered(&found) {
                verdict.push_str(&in_the_clear(&url));
            }
            let is_usable = found.is_crawlable(how.currency);
            (verdict, facts(&found, how.currency), is_usable.then_some(brand))
        }
        Err(error) => (plain(&error.into()), Value::Null, None),
    };
    let finding = Finding {
        url,
        verdict,
        facts,
        usable: brand.is_some(),
        added: None,
    };
    ProbedAddress { finding, brand }
}

/// True if no server responds. A store that refuses requests, or that must not be queried, counts as responding.
fn is_unanswered(found: &Probe) -> bool {
    use pipeline_crawl::Catalogue;
    matches!(&found.catalogue, Catalogue::Unknown(error) if !matches!(error, StoreError::AddressRefused { .. }))
}

/// Returns advice for an `https` address at which no server responds.
fn in_the_clear(url: &Url) -> String {
    format!(
        " by https; if the store uses http, write {}",
        url.as_str().replacen("https", "http", 1)
    )
}

fn facts(found: &Probe, registered: Option<CurrencyCode>) -> Value {
    let Some(facts) = &found.facts else { return Value::Null };
    json!({
        "name": facts.name,
        "permanent_host": facts.permanent_host,
        "shop_id": facts.shop_id,
        "currency": facts.currency,
        "prices_in": found.prices_in(registered),
        "country": facts.country,
        "products": facts.published_products,
    })
}

/// Outcome for an address that belongs to another store than the registered brand's.
const ANOTHER_STORE: &str = "another_store";

fn word(addition: &Addition) -> &'static str {
    match addition {
        Addition::Added(_) => "added",
        Addition::Restored(_) => "restored",
        Addition::Updated(_) => "updated",
        Addition::Unchanged(_) => "unchanged",
        Addition::Taken(_) => "taken",
        Addition::AnotherStore(_) => ANOTHER_STORE,
    }
}

/// Parses an address. A domain alone means `https`.
fn address(text: &str) -> anyhow::Result<Address> {
    let bare = !text.contains("://");
    let full = if bare {
        format!("https://{text}")
    } else {
        text.to_owned()
    };
    let url = Url::parse(&full).with_context(|| format!("{text:?} is not a valid address"))?;
    anyhow::ensure!(
        matches!(url.scheme(), "http" | "https"),
        "{text:?}: only http and https are supported"
    );
    // A custom port seldom uses TLS.
    let guessed = bare && url.port().is_some();
    Ok(Address { url, guessed })
}

fn print_findings(context: &Context, findings: &[Finding], named: usize, how: Registration) -> anyhow::Result<Outcome> {
    let rows: Vec<_> = findings
        .iter()
        .map(|finding| {
            let (outcome, brand) = finding.added.as_ref().map_or(("not_registered", None), |(word, brand)| (*word, Some(brand)));
            json!({ "url": finding.url, "found": finding.verdict, "facts": finding.facts, "outcome": outcome, "brand": brand })
        })
        .collect();
    let interrupted = findings.len() < named;
    let document = json!({ "brands": rows, "named": named, "interrupted": interrupted });
    context.output.print(&document, |out| {
        for finding in findings {
            match &finding.added {
                Some(("taken", brand)) => {
                    let (slug, known) = (&brand.slug, brand.base_url_text());
                    writeln!(
                        out,
                        "taken     {slug}  {}  claims to be {slug}, which is registered at {known}; use --moved if it \
                         moved",
                        finding.url
                    )?;
                }
                Some((word @ ANOTHER_STORE, brand)) => {
                    let slug = &brand.slug;
                    writeln!(
                        out,
                        "{word} {slug}  {}  another store now answers at this address: run `haat brands remove \
                         {slug}` first",
                        finding.url
                    )?;
                }
                Some((word, brand)) => writeln!(out, "{word:9} {}  {}  {}", brand.slug, finding.url, finding.verdict)?,
                None => {
                    let word = if how.dry_run && finding.usable {
                        "found"
                    } else {
                        "left out"
                    };
                    let hint = if finding.verdict.ends_with("currency unknown") {
                        ": set it with --currency"
                    } else {
                        ""
                    };
                    writeln!(out, "{word:9} {}  {}{hint}", finding.url, finding.verdict)?;
                }
            }
        }
        if interrupted {
            let asked = counted(findings.len(), "store");
            writeln!(
                out,
                "stopped after {asked} of {named}: their results are kept; run the same command again for the others"
            )?;
        }
        Ok(())
    })?;
    let registered = |finding: &Finding| match &finding.added {
        Some((word, _)) => !["taken", ANOTHER_STORE].contains(word),
        None => how.dry_run && finding.usable,
    };
    let left_out = !findings.iter().all(registered);
    Ok(Outcome::partial_if(left_out || interrupted))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;
    use crate::config::Layers;
    use crate::output::Output;

    fn context(home: &str) -> Context {
        let cli = Cli::try_parse_from(["haat", "--home", home, "brands", "list"]).unwrap();
        let mut config = Layers::read(&cli.global).unwrap().merge().unwrap();
        config.storefront.allow_loopback = true;
        config.storefront.rate_start_per_s = f64::INFINITY;
        Context::new(config, Output { json: true }, true, false)
    }

    #[test]
    fn a_list_of_stores_may_have_remarks_and_empty_lines() {
        let text = "# ours\nkith.example\n\n  tea.example # green\r\nhttp://127.0.0.1:80\n";
        assert_eq!(lines(text), ["kith.example", "tea.example", "http://127.0.0.1:80"]);
    }

    #[tokio::test]
    async fn each_store_is_registered_by_itself_and_a_signal_keeps_those_that_were() {
        let stores = emulator::EmulatorConfig::new(emulator::Source::Generated {
            products: 40,
            stores: 20,
            seed: 1,
        });
        let stores = emulator::Emulator::start(stores).await.unwrap();
        let home = tempfile::tempdir().unwrap();
        let context = context(home.path().to_str().unwrap());
        let storage = context.storage_new().unwrap();
        let addresses = || {
            let urls = stores.stores().into_iter();
            urls.map(|store| Address::from(Url::parse(&store.base_url).unwrap()))
                .collect::<Vec<_>>()
        };
        // The stop signal comes as soon as the registry has three brands.
        let told = async {
            while Registry::load(&storage).await.unwrap().len() < 3 {
                tokio::task::yield_now().await;
            }
        };
        let how = Registration {
            moved: true,
            ..Registration::default()
        };
        let (findings, error) = register_each(&context, Some(&storage), addresses(), how, told)
            .await
            .unwrap();
        assert!(error.is_none());
        let kept = Registry::load(&storage).await.unwrap().len();
        assert_eq!(kept, findings.len());
        assert!((3..20).contains(&kept), "{kept}");
        assert_eq!(print_findings(&context, &findings, 20, how).unwrap(), Outcome::Partial);
        let never = std::future::pending();
        let (findings, _) = register_each(&context, Some(&storage), addresses(), how, never)
            .await
            .unwrap();
        assert_eq!(Registry::load(&storage).await.unwrap().len(), 20);
        assert_eq!(print_findings(&context, &findings, 20, how).unwrap(), Outcome::Done);
    }

    #[test]
    fn an_address_at_which_another_store_answers_now_is_not_registered() {
        let context = context("unused");
        let brand = RegisteredBrand {
            store: "tea.myshopify.com".parse().unwrap(),
            host: None,
            shop_id: None,
            slug: "tea".parse().unwrap(),
            name: "Tea".to_owned(),
            name_pinned: false,
            domain: "tea.example".to_owned(),
            base_url: "https://tea.example".parse().unwrap(),
            currency: None,
            country: None,
            added_at: data_model::Timestamp::from_micros(0),
        };
        let outcome = |addition: Addition| {
            let finding = Finding {
                url: brand.base_url.clone(),
                verdict: "open".to_owned(),
                facts: Value::Null,
                usable: true,
                added: Some((word(&addition), brand.clone())),
            };
            print_findings(&context, &[finding], 1, Registration::default()).unwrap()
        };
        assert_eq!(outcome(Addition::Unchanged(brand.clone())), Outcome::Done);
        assert_eq!(outcome(Addition::AnotherStore(brand.clone())), Outcome::Partial);
    }
}

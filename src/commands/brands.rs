use anyhow::Context as _;
use data_model::{BrandSlug, CurrencyCode};
use data_storage::Storage;
use futures::{StreamExt, stream};
use pipeline_crawl::{Addition, NewBrand, Probe, RegisteredBrand, Registry, probe};
use serde_json::{Value, json};
use storefront::{StoreError, Storefront};
use url::Url;

use crate::cli::BrandsCommand;
use crate::exit::{Outcome, plain, usage};
use crate::output::counted;
use crate::wiring::Context;

/// Probes in flight at the same time.
const PROBES_CONCURRENT: usize = 16;

/// `haat brands …`
pub(crate) async fn run(command: BrandsCommand, context: Context) -> anyhow::Result<Outcome> {
    match command {
        BrandsCommand::Add {
            stores,
            currency,
            moved,
            dry_run,
        } => {
            let addresses: Vec<Address> = stores
                .iter()
                .map(|store| address(store))
                .collect::<Result<_, _>>()
                .map_err(usage)?;
            let currency: Option<CurrencyCode> = currency
                .map(|code| code.parse())
                .transpose()
                .context("--currency")
                .map_err(usage)?;
            let how = Registration {
                currency,
                moved,
                dry_run,
            };
            let findings = if dry_run {
                // Not even the home is made.
                let probes = probes(&context, addresses, how).await?;
                probes.into_iter().map(|(finding, _)| finding).collect()
            } else {
                register(&context, &context.storage_new()?, addresses, how).await?
            };
            print_findings(&context, &findings, how)
        }
        BrandsCommand::List => list(&context, &context.storage()?).await,
        BrandsCommand::Remove { slug, dry_run } => remove(&context, &context.storage()?, &slug, dry_run).await,
    }
}

/// Where a store is said to be.
#[derive(Debug)]
pub(crate) struct Address {
    url: Url,
    /// Whether the operator named a host and port and no scheme: `https` is this program's guess.
    guessed: bool,
}

impl From<Url> for Address {
    fn from(url: Url) -> Self {
        Self { url, guessed: false }
    }
}

/// What was found at one address, and what was made of it.
#[derive(Debug)]
pub(crate) struct Finding {
    url: Url,
    verdict: String,
    facts: Value,
    /// Whether its store can be registered.
    usable: bool,
    pub(crate) added: Option<(&'static str, RegisteredBrand)>,
}

/// How addresses are registered.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Registration {
    /// The currency of stores that do not state theirs.
    pub(crate) currency: Option<CurrencyCode>,
    /// Whether a brand that is registered at another address has moved.
    pub(crate) moved: bool,
    pub(crate) dry_run: bool,
}

/// Probes every address and registers, in one event, those that can be crawled.
pub(crate) async fn register(
    context: &Context,
    storage: &Storage,
    addresses: Vec<Address>,
    how: Registration,
) -> anyhow::Result<Vec<Finding>> {
    let probes = probes(context, addresses, how).await?;
    let (mut findings, mut brands, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (finding, brand) in probes {
        if let Some(brand) = brand {
            places.push(findings.len());
            brands.push(brand);
        }
        findings.push(finding);
    }
    if !brands.is_empty() {
        let mut registry = Registry::load(storage).await?;
        let additions = registry.add(storage, &brands, context.clock.now()).await?;
        for (place, addition) in places.into_iter().zip(additions) {
            findings[place].added = Some((word(&addition), addition.brand().clone()));
        }
    }
    Ok(findings)
}

/// Looks at every address; with each finding the brand to register, where there is one.
async fn probes(
    context: &Context,
    addresses: Vec<Address>,
    how: Registration,
) -> anyhow::Result<Vec<(Finding, Option<NewBrand>)>> {
    let storefront = context.storefront()?;
    let probes = stream::iter(addresses).map(|address| look(&storefront, address, how));
    Ok(probes.buffered(PROBES_CONCURRENT).collect().await)
}

async fn look(storefront: &Storefront, address: Address, how: Registration) -> (Finding, Option<NewBrand>) {
    let Address { url, guessed } = address;
    let (verdict, facts, brand) = match probe(storefront, &url).await {
        Ok(found) => {
            let brand = NewBrand {
                currency: how.currency,
                moved: how.moved,
                ..NewBrand::at(url.clone())
            }
            .with_probe(&found);
            let mut verdict = found.verdict();
            if guessed && is_unanswered(&found) {
                verdict.push_str(&in_the_clear(&url));
            }
            (verdict, facts(&found), usable(&found, how.currency).then_some(brand))
        }
        Err(error) => (plain(&error.into()), Value::Null, None),
    };
    (
        Finding {
            url,
            verdict,
            facts,
            usable: brand.is_some(),
            added: None,
        },
        brand,
    )
}

/// Whether nothing that answers was found; a store that refuses, or that must not be asked, is another matter.
fn is_unanswered(found: &Probe) -> bool {
    use pipeline_crawl::Catalogue;
    matches!(&found.catalogue, Catalogue::Unknown(error) if !matches!(error, StoreError::AddressRefused { .. }))
}

/// What to try where nothing answers by `https`.
fn in_the_clear(url: &Url) -> String {
    format!(
        " by https; where it speaks http, write {}",
        url.as_str().replacen("https", "http", 1)
    )
}

/// A currency given by the operator stands in for one that the store does not state.
fn usable(found: &Probe, currency: Option<CurrencyCode>) -> bool {
    use pipeline_crawl::Catalogue;
    found.is_crawlable() || currency.is_some() && matches!(found.catalogue, Catalogue::Open | Catalogue::Empty)
}

fn facts(found: &Probe) -> Value {
    let Some(facts) = &found.facts else { return Value::Null };
    json!({
        "name": facts.name,
        "permanent_host": facts.permanent_host,
        "currency": facts.currency,
        "country": facts.country,
        "products": facts.published_products,
    })
}

/// What became of an address at which another store answers than the brand's that is registered there.
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

/// A bare domain means `https`.
fn address(text: &str) -> anyhow::Result<Address> {
    let bare = !text.contains("://");
    let full = if bare {
        format!("https://{text}")
    } else {
        text.to_owned()
    };
    let url = Url::parse(&full).with_context(|| format!("{text:?} is no address"))?;
    anyhow::ensure!(
        matches!(url.scheme(), "http" | "https"),
        "{text:?}: only http and https"
    );
    // A port of one's own is seldom one that speaks TLS.
    let guessed = bare && url.port().is_some();
    Ok(Address { url, guessed })
}

fn print_findings(context: &Context, findings: &[Finding], how: Registration) -> anyhow::Result<Outcome> {
    let rows: Vec<_> = findings
        .iter()
        .map(|finding| {
            let (outcome, brand) = finding.added.as_ref().map_or(("not_registered", None), |(word, brand)| (*word, Some(brand)));
            json!({ "url": finding.url, "found": finding.verdict, "facts": finding.facts, "outcome": outcome, "brand": brand })
        })
        .collect();
    context.output.print(&json!({ "brands": rows }), |out| {
        for finding in findings {
            match &finding.added {
                Some(("taken", brand)) => {
                    let (slug, known) = (&brand.slug, brand.base_url_text());
                    writeln!(
                        out,
                        "taken     {slug}  {}  says it is {slug}, which is at {known}; --moved if it moved",
                        finding.url
                    )?;
                }
                Some((word @ ANOTHER_STORE, brand)) => {
                    let slug = &brand.slug;
                    writeln!(
                        out,
                        "{word} {slug}  {}  another store answers there now: `haat brands remove {slug}` first",
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
                        ": --currency tells it"
                    } else {
                        ""
                    };
                    writeln!(out, "{word:9} {}  {}{hint}", finding.url, finding.verdict)?;
                }
            }
        }
        Ok(())
    })?;
    let registered = |finding: &Finding| match &finding.added {
        Some((word, _)) => !["taken", ANOTHER_STORE].contains(word),
        None => how.dry_run && finding.usable,
    };
    let left_out = !findings.iter().all(registered);
    Ok(if left_out { Outcome::Partial } else { Outcome::Done })
}

async fn list(context: &Context, storage: &Storage) -> anyhow::Result<Outcome> {
    let registry = Registry::load(storage).await?;
    let brands = registry.brands();
    context.output.print(&json!({ "brands": brands }), |out| {
        let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
        let slugs = widest(&mut brands.iter().map(|brand| brand.slug.as_str().len()));
        let addresses = widest(&mut brands.iter().map(|brand| brand.base_url_text().len()));
        for brand in &brands {
            let (slug, address) = (brand.slug.as_str(), brand.base_url_text());
            writeln!(out, "{slug:slugs$}  {address:addresses$}  {}", brand.name)?;
        }
        writeln!(out, "{}", counted(brands.len(), "brand"))
    })?;
    Ok(Outcome::Done)
}

async fn remove(context: &Context, storage: &Storage, slug: &str, dry_run: bool) -> anyhow::Result<Outcome> {
    let slug: BrandSlug = slug.parse().context("slug").map_err(usage)?;
    let registry = Registry::load(storage).await?;
    // One that is registered no more may still be in the lake: a removal that broke off, or a crawl that was under way.
    let store = registry
        .store_of(&slug)
        .with_context(|| format!("no brand was ever registered as {slug}"))
        .map_err(usage)?
        .clone();
    let registered = registry.brand(&slug).map(|brand| brand.base_url.to_string());
    let lake = context.lake_in(storage).await?;
    let in_lake = lake
        .snapshot()
        .await?
        .brands()
        .await?
        .into_iter()
        .find(|row| row.brand.store == store);
    // Asked before it is forgotten: a removal that broke off late may have left nothing else.
    let known = pipeline_refresh::is_known(storage, &store).await?;
    let products = in_lake.as_ref().map_or(0, |row| row.product_count);
    if !dry_run {
        pipeline_refresh::remove_brand(&slug, storage, &lake, context.clock.now()).await?;
    }
    if registered.is_none() && in_lake.is_none() && !known {
        return Err(usage(anyhow::anyhow!("{slug} is removed already")));
    }
    let document =
        json!({ "dry_run": dry_run, "slug": slug, "store": store, "products": products, "removed": !dry_run });
    context.output.print(&document, |out| {
        let verb = if dry_run { "would be removed" } else { "removed" };
        write!(out, "{slug}: {verb}, with {}.", counted(products, "product"))?;
        match &registered {
            Some(address) => writeln!(out, " `haat brands add {address}` brings it back."),
            None => writeln!(out, " It was registered no more."),
        }
    })?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use data_storage::{ObjectPath, ObjectStoreExt, put_over};

    use super::*;
    use crate::cli::Cli;
    use crate::config::Layers;
    use crate::output::Output;

    #[tokio::test]
    async fn a_removal_that_broke_off_is_done_when_it_is_repeated_and_only_then_there_is_nothing_to_remove() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().to_str().unwrap();
        let cli = Cli::try_parse_from(["haat", "--home", home, "brands", "list"]).unwrap();
        let config = Layers::read(&cli.global).unwrap().merge().unwrap();
        let context = Context::new(config, Output { json: true }, true, false);
        let storage = context.storage_new().unwrap();
        let mut registry = Registry::load(&storage).await.unwrap();
        let brand = NewBrand::at("https://tea.example".parse().unwrap());
        registry.add(&storage, &[brand], context.clock.now()).await.unwrap();
        let brand = registry.brands()[0].clone();
        let (slug, store) = (brand.slug.as_str(), &brand.store);
        remove(&context, &storage, slug, false).await.unwrap();
        // What each step of a removal that was killed before it leaves.
        for left in [
            format!("crawl-state/{store}.json"),
            format!("held/{store}.json"),
            format!("crawl-state/{store}-reviews.json.zst"),
            format!("crawl-state/{store}-hold.json"),
        ] {
            let path = ObjectPath::from(left.as_str());
            put_over(&storage, &path, "{}").await.unwrap();
            let tried = remove(&context, &storage, slug, true).await.unwrap();
            assert!(matches!(tried, Outcome::Done), "{left}");
            let done = remove(&context, &storage, slug, false).await.unwrap();
            assert!(matches!(done, Outcome::Done), "{left}");
            assert!(storage.store().head(&path).await.is_err(), "{left} is still there");
            let again = remove(&context, &storage, slug, false).await.unwrap_err();
            assert!(again.to_string().contains("removed already"), "{again}");
        }
        let never = remove(&context, &storage, "coffee", false).await.unwrap_err();
        assert!(never.to_string().contains("ever registered"), "{never}");
    }

    #[test]
    fn an_address_at_which_another_store_answers_now_is_not_registered() {
        let cli = Cli::try_parse_from(["haat", "brands", "list"]).unwrap();
        let config = Layers::read(&cli.global).unwrap().merge().unwrap();
        let context = Context::new(config, Output { json: true }, true, false);
        let brand = RegisteredBrand {
            store: "tea.myshopify.com".parse().unwrap(),
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
            print_findings(&context, &[finding], Registration::default()).unwrap()
        };
        assert_eq!(outcome(Addition::Unchanged(brand.clone())), Outcome::Done);
        assert_eq!(outcome(Addition::AnotherStore(brand.clone())), Outcome::Partial);
    }
}

//! Loads the emulator's market or recorded stores as normalised products, and serves a release of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use data_index::{BrandFacts, BuildOptions};
use data_model::{Brand, Clock, CurrencyCode, Product};
use data_release::{CheckOptions, Publication, ReleaseStore};
use data_storage::Storage;
use emulator::{Emulator, EmulatorConfig, Source, StoreAddress};
use kit::SetClock;
use pipeline_normalise::{CatalogueBuilder, StoreContext};
use query_server::{QueryConfig, QueryServer};

/// Settings of the generator, which gives the same products on any machine.
const SOURCE: Source = Source::Generated {
    products: 12_000,
    stores: 150,
    seed: 7,
};
/// Maximum number of products on one catalogue page.
const PAGE: usize = 250;

/// Facts of each brand, with the brand's products.
pub(crate) type Stores = Vec<(BrandFacts, Vec<Product>)>;

/// Returns a stopped clock, which only names the release.
fn still() -> Arc<SetClock> {
    SetClock::at("2027-01-15T08:00:00Z")
}

/// Returns every store of the market, normalised as after a crawl.
pub(crate) async fn stores() -> anyhow::Result<Stores> {
    let running = Emulator::start(EmulatorConfig::new(SOURCE)).await?;
    let client = reqwest::Client::builder().build()?;
    let mut stores = Vec::new();
    for address in running.stores() {
        stores.push(store(&client, &address).await.with_context(|| address.slug.clone())?);
    }
    stores.sort_by(|one: &(BrandFacts, _), other| one.0.brand.store.cmp(&other.0.brand.store));
    Ok(stores)
}

async fn store(client: &reqwest::Client, address: &StoreAddress) -> anyhow::Result<(BrandFacts, Vec<Product>)> {
    // The emulator's port differs between runs, but the permanent host does not.
    let domain = address.myshopify_domain.clone();
    let brand = Brand {
        store: domain.parse()?,
        slug: address.slug.parse()?,
        name: address.name.clone(),
        domain: domain.clone(),
        base_url: format!("https://{domain}"),
        currency: address.currency.parse()?,
        country: None,
        ..kit::brand(&address.slug)
    };
    let mut pages = Vec::new();
    for page in 1..=(address.products as usize).div_ceil(PAGE) {
        let url = format!("{}/products.json?limit={PAGE}&page={page}", address.base_url);
        let body = client.get(url).send().await?.error_for_status()?.bytes().await?;
        pages.push(Ok(body.to_vec()));
    }
    normalised(brand, pages.into_iter())
}

/// Reads the stores in a folder, which has a subfolder for each store. A subfolder has the catalogue pages
/// `products*.json` exactly as the store sent them. The currency of a store comes from its `meta.json`, or is
/// `currency` without that file.
pub(crate) fn recorded(folder: &Path, currency: CurrencyCode) -> anyhow::Result<Stores> {
    let mut stores = Vec::new();
    for folder in sorted(folder)? {
        let slug = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let named = |page: &PathBuf| {
            let name = page.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("products") && name.ends_with(".json")
        };
        let pages: Vec<PathBuf> = sorted(&folder).unwrap_or_default().into_iter().filter(named).collect();
        if !pages.is_empty() {
            let currency = own_currency(&folder.join("meta.json")).unwrap_or(currency);
            stores.push(read(&slug, &pages, currency).with_context(|| slug.clone())?);
        }
    }
    anyhow::ensure!(!stores.is_empty(), "{}: no store is recorded there", folder.display());
    Ok(stores)
}

fn sorted(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<anyhow::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn own_currency(meta: &Path) -> Option<CurrencyCode> {
    let meta: serde_json::Value = serde_json::from_slice(&fs::read(meta).ok()?).ok()?;
    meta["currency"].as_str()?.parse().ok()
}

fn read(slug: &str, pages: &[PathBuf], currency: CurrencyCode) -> anyhow::Result<(BrandFacts, Vec<Product>)> {
    let domain = format!("{slug}.example");
    let brand = Brand {
        store: domain.parse()?,
        slug: slug.parse()?,
        name: slug.replace('-', " "),
        base_url: format!("https://{domain}"),
        domain,
        currency,
        country: None,
        ..kit::brand(slug)
    };
    normalised(brand, pages.iter().map(|page| Ok(fs::read(page)?)))
}

/// Returns a store's products, normalised as after a crawl of these pages.
fn normalised(
    brand: Brand,
    pages: impl Iterator<Item = anyhow::Result<Vec<u8>>>,
) -> anyhow::Result<(BrandFacts, Vec<Product>)> {
    let mut catalogue = CatalogueBuilder::new(StoreContext {
        store: brand.store.clone(),
        currency: brand.currency,
        base_url: brand.base_url.clone(),
    });
    for page in pages {
        catalogue.page(&page?)?;
    }
    let facts = BrandFacts {
        refreshed_at: still().now(),
        ..kit::facts(brand)
    };
    Ok((facts, catalogue.finish().products))
}

fn releases(home: &Path) -> anyhow::Result<ReleaseStore> {
    let storage = Storage::from_path(home)?.child("releases");
    Ok(ReleaseStore::new(storage, still()))
}

/// Publishes and serves a release of the stores. `currency` is the default currency of prices.
pub(crate) async fn serve(stores: &Stores, currency: CurrencyCode, home: &Path) -> anyhow::Result<api::EdgeRouter> {
    let files = home.join("files");
    let catalogue: Vec<_> = stores
        .iter()
        .map(|(facts, products)| kit::StoreProducts { facts, products })
        .collect();
    let manifest = kit::build(&catalogue, &BuildOptions::default(), &files);
    releases(home)?
        .publish(Publication {
            manifest: &manifest,
            files: &files,
            cache: &home.join("publisher"),
            expected: None,
            checks: &CheckOptions::default(),
        })
        .await?;
    let config = QueryConfig::new(currency);
    let server = QueryServer::new(releases(home)?, home.join("cache"), still(), config);
    server.refresh().await?;
    Ok(server.router(None))
}

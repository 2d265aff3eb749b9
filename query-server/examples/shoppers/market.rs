//! The emulator's market as normalised products, and a server of the release that is built of it.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use data_index::{BrandFacts, BuildOptions, CheckOptions, Publication, ReleaseStore};
use data_model::{Brand, Clock, Product};
use data_storage::Storage;
use emulator::{Emulator, EmulatorConfig, Source, StoreAddress};
use kit::SetClock;
use pipeline_normalise::{CatalogueBuilder, StoreContext};
use query_server::{QueryConfig, QueryServer};

/// What makes the market: the same figures give the same products on any machine.
const SOURCE: Source = Source::Generated {
    products: 12_000,
    stores: 150,
    seed: 7,
};
/// What one page of a catalogue holds at most.
const PAGE: usize = 250;

/// Brands with their products.
pub(crate) type Stores = Vec<(BrandFacts, Vec<Product>)>;

/// A clock that stands still: it names a release, it measures nothing.
fn still() -> Arc<SetClock> {
    SetClock::at("2027-01-15T08:00:00Z")
}

/// Every store of the market, normalised as a crawl would leave it.
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
    // The port that the emulator was given differs from run to run: the permanent host does not.
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
    let mut catalogue = CatalogueBuilder::new(StoreContext {
        store: brand.store.clone(),
        currency: brand.currency,
        base_url: brand.base_url.clone(),
    });
    for page in 1..=(address.products as usize).div_ceil(PAGE) {
        let url = format!("{}/products.json?limit={PAGE}&page={page}", address.base_url);
        let body = client.get(url).send().await?.error_for_status()?.bytes().await?;
        catalogue.page(&body)?;
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

/// Publishes a release of the stores and serves it, prices in rupees where nobody says.
pub(crate) async fn serve(stores: &Stores, home: &Path) -> anyhow::Result<api::EdgeRouter> {
    let files = home.join("files");
    let manifest = kit::build(stores, &BuildOptions::default(), &files);
    releases(home)?
        .publish(Publication {
            manifest: &manifest,
            files: &files,
            cache: &home.join("publisher"),
            expected: None,
            checks: &CheckOptions::default(),
        })
        .await?;
    let config = QueryConfig::new("INR".parse()?);
    let server = QueryServer::new(releases(home)?, home.join("cache"), still(), config);
    server.refresh().await?;
    Ok(server.router(None))
}

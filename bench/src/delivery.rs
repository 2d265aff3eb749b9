//! Measures the cost of delivery estimates on cards and of filtering by them. Searches with a pincode alternate with
//! the same searches without one.

use anyhow::Context;
use data_lake::StoreUpdate;
use data_model::{Clock, DeliverySample, KnownDelivery, Pincode, ShippingPolicy};
use data_storage::Storage;
use serde_json::json;

use crate::http::Client;
use crate::meter::{Figure, cpu_of_process, quantile};
use crate::reads::{RequestSet, encoded};
use crate::refresh::{changed, open, row};
use crate::setup::{Bench, ServerProcess, still};

/// Districts of the sampled pincodes, as the first three digits: one in each zone of the country.
const DISTRICTS: [u32; 8] = [110, 226, 302, 400, 560, 600, 700, 781];
/// Number of pincodes sampled in each district.
const OF_DISTRICT: u32 = 4;
/// Pincode in a sampled district that is not sampled itself, so that its estimate costs more.
const PINCODE: &str = "560034";
/// Number of brands whose terms are committed in one batch.
const BRANDS_AT_ONCE: usize = 250;
/// Number of turns for each kind. The kinds alternate, so that a slow phase of the machine affects all.
const TURNS: usize = 12;
/// Number of searches in one turn.
const REQUESTS: usize = 200;

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let brands = runtime.block_on(sampled(bench))?;
    Figure::alone("delivery.brands_sampled", f64::from(u32::try_from(brands)?), "brands").print()?;
    bench.run(bench.home(), &["release", "build"])?;
    let queries = RequestSet::of(bench)?.queries;
    let server = bench.serve(bench.home(), &["query-server", "--listen", "127.0.0.1:0"])?;
    let address = server.document["address"].as_str().context("address")?.to_owned();
    let mut client = Client::connect(&address)?;
    while client.get("/readyz")?.0 != 200 {
        std::thread::yield_now();
    }
    let day = by(&mut client)?;
    let there = format!("&pincode={PINCODE}");
    let in_time = format!("{there}&deliver_by={day}");
    for (kind, rest) in [
        ("hybrid", ""),
        ("lexical", "&mode=lexical"),
        ("facets", "&facet_counts=true"),
    ] {
        let paths = |more: &str| -> Vec<String> {
            let path = |query: &String| format!("/v1/search?limit=20{rest}{more}&q={}", encoded(query));
            queries.iter().take(REQUESTS).map(path).collect()
        };
        // Any filter has a cost, so the date filter is compared with another filter.
        let compared = [
            (
                "pincode",
                paths(&there),
                paths(""),
                "the same searches without a pincode, in turn",
            ),
            (
                "deliver_by",
                paths(&in_time),
                paths("&in_stock=true"),
                "the same searches with in_stock, in turn",
            ),
        ];
        for (what, with, without, is) in compared {
            let [mut with_us, mut without_us] = in_turn(&server, &mut client, [&with, &without])?;
            Figure::named(
                format!("delivery.{kind}.{what}.server_cpu_us"),
                quantile(&mut with_us, 0.5),
                "µs",
            )
            .beside(quantile(&mut without_us, 0.5), is)
            .print()?;
        }
    }
    Ok(())
}

/// Commits generated delivery answers of stores: some fast, some slow, some without delivery.
async fn sampled(bench: &Bench) -> anyhow::Result<usize> {
    let lake = open(Storage::from_path(bench.home())?).await?;
    let sampled_at = still().now();
    let snapshot = lake.snapshot().await?;
    let brands = snapshot.brands().await?;
    for (at, some) in brands.chunks(BRANDS_AT_ONCE).enumerate() {
        let mut refreshes = Vec::new();
        for (of_some, brand) in some.iter().enumerate() {
            let mut refresh = changed(&snapshot, brand).await?;
            let variants = refresh.products.iter_mut().flat_map(|product| &mut product.variants);
            variants.for_each(|variant| variant.price_minor -= 1);
            refresh.shipping = terms(at * BRANDS_AT_ONCE + of_some, brand.brand.currency.as_str())?;
            refreshes.push(refresh);
        }
        lake.commit(refreshes, row()?).await?;
    }
    let samples = |at: usize| -> anyhow::Result<Vec<DeliverySample>> {
        let mut samples = Vec::new();
        for (zone, district) in (0_u16..).zip(DISTRICTS) {
            for of_district in 0..OF_DISTRICT {
                let pincode: Pincode = (district * 1000 + 1 + of_district).to_string().parse()?;
                let days = zone + u16::try_from(at % 7)?;
                samples.push(DeliverySample {
                    pincode,
                    serviceable: (!at.is_multiple_of(3)).then_some(!at.is_multiple_of(11)),
                    zone: Some(format!("zone {zone}")),
                    days_min: Some(days),
                    days_max: Some(days + 2),
                    sampled_at,
                });
            }
        }
        Ok(samples)
    };
    let mut sampled = Vec::new();
    for (at, row) in brands.iter().enumerate() {
        sampled.push(StoreUpdate::new(
            row.brand.store.clone(),
            row.brand.slug.clone(),
            KnownDelivery {
                samples: samples(at)?,
                ..KnownDelivery::default()
            },
        ));
    }
    let count = sampled.len();
    lake.commit_delivery(sampled).await?;
    Ok(count)
}

/// Returns terms for some of the brands: free shipping from an amount, and cash on delivery.
fn terms(at: usize, currency: &str) -> anyhow::Result<Option<ShippingPolicy>> {
    let threshold = (!at.is_multiple_of(3)).then_some(49_900 * (at % 3));
    let terms = json!({
        "currency": currency, "free_shipping_threshold_minor": threshold, "cod_available": at.is_multiple_of(2), "tiers": [],
    });
    Ok(if at.is_multiple_of(5) {
        None
    } else {
        Some(serde_json::from_value(terms)?)
    })
}

/// Returns a date by which about half of the brands deliver, by the server's own calendar.
fn by(client: &mut Client) -> anyhow::Result<String> {
    let (_, body) = client.get("/v1/search?limit=20")?;
    let found: serde_json::Value = serde_json::from_slice(body)?;
    let mut dates = Vec::new();
    for card in found["data"].as_array().context("cards")? {
        let product = card["id"].as_str().context("id")?;
        let (_, body) = client.get(&format!("/v1/shipping?product={product}&pincode={PINCODE}"))?;
        let told: serde_json::Value = serde_json::from_slice(body)?;
        dates.extend(told["data"]["delivery"]["latest_date"].as_str().map(str::to_owned));
    }
    dates.sort_unstable();
    let middle = dates.len() / 2;
    dates.into_iter().nth(middle).context("no store tells a date")
}

/// Returns the server's CPU time per request for two kinds of requests, for each turn.
fn in_turn(server: &ServerProcess, client: &mut Client, kinds: [&[String]; 2]) -> anyhow::Result<[Vec<f64>; 2]> {
    let mut each_us = [Vec::new(), Vec::new()];
    for turn in 0..=TURNS {
        for (paths, each_us) in kinds.iter().zip(&mut each_us) {
            let before = cpu_of_process(server.child.id())?;
            for path in *paths {
                let (status, _) = client.get(path)?;
                anyhow::ensure!(status == 200, "{path}: {status}");
            }
            let cpu = cpu_of_process(server.child.id())?.saturating_sub(before);
            #[expect(clippy::cast_precision_loss, reason = "a mean")]
            let requests = paths.len() as f64;
            // The first round is a warm-up.
            if turn > 0 {
                each_us.push(cpu.as_secs_f64() * 1e6 / requests);
            }
        }
    }
    Ok(each_us)
}

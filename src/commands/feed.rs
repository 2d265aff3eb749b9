//! Writes products of the lake as a feed (`haat feed`) while reading them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use data_feed::{FeedFormat, FeedOptions, Seller, Tally, rows, write_acp};
use data_index::HeldBrand;
use data_lake::{AsOf, Lake, LakeSnapshot};
use data_model::{Brand, BrandSlug, Kind, StoreHost};
use futures::TryStreamExt;
use serde_json::json;

use super::as_of;
use super::place::Place;
use crate::cli::feed::{FeedArgs, FeedFormatArg};
use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::{Context, shutdown_signal};

/// Size of one write in bytes.
const PORTION_BYTES: usize = 256 << 10;

pub(crate) async fn run(args: FeedArgs, context: Context) -> anyhow::Result<Outcome> {
    // With `--json`, standard output has JSON unless the caller names another format.
    let format = args.format.unwrap_or(match context.output.json && args.out.is_none() {
        true => FeedFormatArg::Jsonl,
        false => FeedFormatArg::GoogleTsv,
    });
    let storage = context.storage()?;
    let lake = context.lake_in(&storage).await?;
    let (snapshot, held) = if args.release {
        released(&context, &lake).await?
    } else {
        (as_of::snapshot(&lake, args.as_of.as_deref()).await?, Vec::new())
    };
    let mut brands = wanted(&snapshot, &args.brands).await?;
    for brand in held {
        if brands.remove(&brand.store).is_some() {
            tracing::warn!(
                brand.slug = %brand.slug,
                "{} is left out: the release holds back the lake's data on this brand", brand.slug
            );
        }
    }
    let mut to = Place::open(args.out.as_deref(), args.force)?;
    let tally = tokio::select! {
        written = Box::pin(write(&snapshot, &brands, format, args.sku_as_mpn, &mut to)) => written?,
        () = shutdown_signal() => {
            tracing::warn!("stopped by a signal: the feed is incomplete, and no file was written");
            return Ok(Outcome::Partial);
        }
    };
    to.finish()?;
    let Some(out) = &args.out else {
        for (name, count) in &tally.missing {
            tracing::warn!("{} without {name}", counted(*count, "row"));
        }
        return Ok(Outcome::Done);
    };
    let document = json!({
        "file": out, "rows": tally.rows, "brands": brands.len(), "tick": snapshot.tick(), "missing": tally.missing,
    });
    context.output.print(&document, |printed| {
        let (rows, brands) = (counted(tally.rows, "row"), counted(brands.len(), "brand"));
        writeln!(printed, "{}: {rows} of {brands}", out.display())?;
        for (name, count) in &tally.missing {
            writeln!(printed, "{} without {name}", counted(*count, "row"))?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// Returns the lake state of the current release, and the brands that the release has in an older state.
async fn released(context: &Context, lake: &Lake) -> anyhow::Result<(LakeSnapshot, Vec<HeldBrand>)> {
    let releases = context.releases(&context.storage()?);
    let current = releases.current().await?.context("nothing is released yet")?;
    let manifest = releases.manifest(current.id).await?;
    let snapshot = Box::pin(lake.snapshot_at(&AsOf::Versions(manifest.lake))).await?;
    Ok((snapshot, manifest.held))
}

/// Returns the requested brands by store, or all brands if none is named.
async fn wanted(snapshot: &LakeSnapshot, named: &[String]) -> anyhow::Result<BTreeMap<StoreHost, Brand>> {
    let slug = |text: &String| {
        let slug = text.parse::<BrandSlug>().with_context(|| format!("--brand: {text:?}"));
        slug.map_err(usage)
    };
    let slugs: BTreeSet<BrandSlug> = named.iter().map(slug).collect::<anyhow::Result<_>>()?;
    let brands = Box::pin(snapshot.brands()).await?.into_iter().map(|row| row.brand);
    let found: BTreeMap<StoreHost, Brand> = brands
        .filter(|brand| slugs.is_empty() || slugs.contains(&brand.slug))
        .map(|brand| (brand.store.clone(), brand))
        .collect();
    let is_absent = |slug: &&BrandSlug| !found.values().any(|brand| brand.slug == **slug);
    match slugs.iter().find(is_absent) {
        Some(absent) => Err(usage(anyhow::anyhow!(
            "--brand: the lake has no brand {absent}; `haat brands list` lists the registered brands"
        ))),
        None => Ok(found),
    }
}

async fn write(
    snapshot: &LakeSnapshot,
    brands: &BTreeMap<StoreHost, Brand>,
    format: FeedFormatArg,
    sku_as_mpn: bool,
    to: &mut Place,
) -> anyhow::Result<Tally> {
    let stores: BTreeSet<StoreHost> = brands.keys().cloned().collect();
    let shipping = snapshot.shipping(&stores).await?;
    // The ACP format has one entry per product instead of one per row.
    let of_rows = match format {
        FeedFormatArg::GoogleTsv => Some(FeedFormat::GoogleTsv),
        FeedFormatArg::Jsonl => Some(FeedFormat::Jsonl),
        FeedFormatArg::Acp => None,
    };
    let options = FeedOptions { sku_as_mpn };
    let (mut tally, mut portion) = (Tally::default(), of_rows.map_or_else(Vec::new, FeedFormat::head));
    let mut products = std::pin::pin!(snapshot.products(&stores).await?);
    while let Some(product) = products.try_next().await? {
        let store = &product.key.store;
        // A brand that has left the lake sells nothing.
        let Some(brand) = brands.get(store) else { continue };
        if product.kind() != Kind::Goods {
            continue;
        }
        let seller = Seller {
            brand,
            shipping: shipping.get(store),
        };
        for row in rows(&product, seller, options) {
            tally.count(&row);
            if let Some(format) = of_rows {
                format.write(&row, &mut portion);
            }
        }
        if of_rows.is_none() {
            write_acp(&product, seller, &mut portion);
        }
        if portion.len() >= PORTION_BYTES {
            to.write(&portion)?;
            portion.clear();
        }
    }
    to.write(&portion)?;
    Ok(tally)
}

//! Prints the lake's facts about a brand's shipping, each with its source (`haat shipping show`).

use std::collections::BTreeSet;
use std::io::Write;

use data_model::{DeliveryRate, DeliverySample, DeliveryZone, Pincode, ShippingPolicy};
use data_pincodes::directory;
use serde::Serialize;
use serde_json::Value;

use crate::cli::shipping::ShowShippingArgs;
use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::Context;

/// Known shipping facts of a brand.
#[derive(Serialize)]
struct ShippingView {
    brand: String,
    store: String,
    currency: String,
    terms: Option<ShippingPolicy>,
    /// Number of pincodes for which the store was queried.
    pincodes_asked: usize,
    /// Delivery answers of the store, by zone.
    zones: Vec<ShownZone>,
    /// Answer for the requested pincode.
    pincode: Option<ShownPincode>,
}

#[derive(Serialize)]
struct ShownZone {
    /// Number of areas in the zone. The table `delivery_zones` has their names.
    areas: usize,
    #[serde(flatten)]
    zone: DeliveryZone,
}

#[derive(Serialize)]
struct ShownPincode {
    pincode: Pincode,
    area: Option<String>,
    /// `pincode` if the store was queried for it, `zone` if derived from other pincodes, else `unknown`.
    basis: &'static str,
    sample: Option<DeliverySample>,
    zone: Option<DeliveryZone>,
}

pub(super) async fn show(args: &ShowShippingArgs, context: &Context) -> anyhow::Result<Outcome> {
    let pincode = args.pincode.as_deref().map(str::parse::<Pincode>).transpose();
    let pincode = pincode.map_err(|error| usage(error.into()))?;
    let storage = context.storage()?;
    let snapshot = context.lake_in(&storage).await?.snapshot().await?;
    let rows = snapshot.brands().await?;
    let row = rows.into_iter().find(|row| row.brand.slug.as_str() == args.brand);
    let unknown = || {
        usage(anyhow::anyhow!(
            "the lake has no brand {}: `haat crawl` adds it",
            args.brand
        ))
    };
    let brand = row.ok_or_else(unknown)?.brand;
    let of_store = BTreeSet::from([brand.store.clone()]);
    let terms = snapshot.shipping(&of_store).await?.remove(&brand.store);
    let samples = snapshot.delivery(Some(&of_store)).await?.remove(&brand.store);
    let samples = samples.unwrap_or_default();
    let zones = snapshot.delivery_zones(Some(&of_store)).await?.remove(&brand.store);
    let zones = zones.unwrap_or_default();
    let shown = ShippingView {
        brand: brand.slug.to_string(),
        store: brand.store.to_string(),
        currency: brand.currency.to_string(),
        terms,
        pincodes_asked: samples.len(),
        pincode: pincode.map(|pincode| of_pincode(pincode, &samples, &zones)),
        zones: zones.into_iter().map(of_zone).collect(),
    };
    context.output.print(&shown, |out| write(out, &shown))?;
    Ok(Outcome::Done)
}

/// Returns a zone without the names of its areas, which may be hundreds.
fn of_zone(zone: DeliveryZone) -> ShownZone {
    let areas = zone.areas.len();
    let zone = DeliveryZone {
        areas: Vec::new(),
        ..zone
    };
    ShownZone { areas, zone }
}

fn of_pincode(pincode: Pincode, samples: &[DeliverySample], zones: &[DeliveryZone]) -> ShownPincode {
    let area = directory().area(pincode).and_then(|area| directory().get(area));
    let area = area.map(|area| area.name.to_string());
    let sample = samples.iter().find(|sample| sample.pincode == pincode).cloned();
    let is_of = |zone: &&DeliveryZone| match &sample {
        Some(sample) => sample.zone.as_ref() == Some(&zone.zone),
        None => area.as_ref().is_some_and(|area| zone.areas.contains(area)),
    };
    let zone = zones.iter().filter(is_of).max_by_key(|zone| zone.confidence).cloned();
    let basis = match (&sample, &zone) {
        (Some(_), _) => "pincode",
        (None, Some(_)) => "zone",
        (None, None) => "unknown",
    };
    ShownPincode {
        pincode,
        area,
        basis,
        zone: zone.map(|zone| of_zone(zone).zone),
        sample,
    }
}

fn write(out: &mut dyn Write, shown: &ShippingView) -> std::io::Result<()> {
    writeln!(out, "{} ({}), {}", shown.brand, shown.store, shown.currency)?;
    match shown.terms.as_ref().and_then(|policy| policy.terms.as_deref()) {
        None => writeln!(
            out,
            "its texts state no terms: `haat shipping refresh` reads them again"
        )?,
        Some(terms) => {
            let place = terms.source_url.as_deref().unwrap_or("its policy");
            writeln!(out, "read {} from {place}", terms.observed_at)?;
            for fact in &terms.facts {
                writeln!(out, "  {:14} {}", fact.kind, members(fact))?;
                writeln!(out, "  {:14} “{}”", "", fact.sentence)?;
            }
            for unknown in &terms.unknown {
                writeln!(out, "  {:14} not known: {}", unknown.kind, unknown.reason)?;
            }
        }
    }
    writeln!(out, "asked for {}", counted(shown.pincodes_asked, "pincode"))?;
    for zone in &shown.zones {
        let areas = counted(zone.areas, "area");
        writeln!(
            out,
            "  {:4} {:4} {areas}: {}",
            zone.zone.zone,
            zone.zone.confidence,
            of_zone_in_words(&zone.zone)
        )?;
    }
    let Some(one) = &shown.pincode else { return Ok(()) };
    let area = one.area.as_deref().unwrap_or("the pincode is not in the directory");
    let told = match (&one.sample, &one.zone) {
        (Some(sample), _) if sample.serviceable == Some(false) => format!("not delivered, asked {}", sample.sampled_at),
        (_, Some(zone)) => of_zone_in_words(zone),
        _ => "not known".to_owned(),
    };
    writeln!(out, "{} ({area}), by {}: {told}", one.pincode, one.basis)
}

/// Formats the fields of a fact except its kind and sentence: `min_order_minor=99900 region=metro`.
fn members(fact: &impl Serialize) -> String {
    let Ok(Value::Object(members)) = serde_json::to_value(fact) else {
        return String::new();
    };
    let rest = members.iter().filter(|(name, value)| {
        let is_shown_apart = matches!(name.as_str(), "kind" | "sentence");
        !is_shown_apart && !value.is_null()
    });
    let told = rest.map(|(name, value)| match value {
        Value::String(text) => format!("{name}={text}"),
        value => format!("{name}={value}"),
    });
    told.collect::<Vec<_>>().join(" ")
}

fn of_zone_in_words(zone: &DeliveryZone) -> String {
    let served = match zone.serviceable {
        Some(true) => "delivered",
        Some(false) => "not delivered",
        None => "unknown whether it is delivered",
    };
    let rates = zone
        .rates
        .iter()
        .map(|rate| of_rate_in_words(rate, zone.currency.as_str()));
    let told = [served.to_owned()].into_iter().chain(rates);
    let told: Vec<String> = told.chain([format!("asked {}", zone.sampled_at)]).collect();
    told.join(", ")
}

fn of_rate_in_words(rate: &DeliveryRate, currency: &str) -> String {
    let mut told = format!("{} {} {currency} minor", rate.name, rate.amount_minor);
    if let (Some(least), most) = (rate.min_order_minor, rate.max_order_minor) {
        let most = most.map_or("more".to_owned(), |most| most.to_string());
        told.push_str(&format!(" for orders of {least} to {most}"));
    }
    if let (Some(least), Some(most)) = (rate.days_min, rate.days_max) {
        told.push_str(&format!(" in {least} to {most} days"));
    }
    told
}

use serde::{Deserialize, Serialize};

use super::filter::Filters;
use super::product::{Product, ProductOption, SelectedOption, Variant, offer, product};
use crate::failure::Failure;
use crate::ids::Ident;
use crate::market::Market;
use crate::message::{Capability, Meta};

const VARIANTS_MAX: usize = 100;
/// Maximum number of selected or preferred options.
const OPTIONS_MAX: usize = 20;

/// Body of a request for the details of a product.
#[derive(Debug, Deserialize)]
pub(crate) struct DetailBody {
    id: String,
    #[serde(default)]
    selected: Vec<SelectedOption>,
    #[serde(default)]
    preferences: Vec<String>,
    #[serde(default)]
    filters: Filters,
}

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct DetailAnswer {
    ucp: Meta,
    product: Product,
}

/// Returns a product with the variants that match the selection, and the other values that could be selected.
pub(crate) async fn get_product(market: &Market<'_>, body: DetailBody) -> Result<DetailAnswer, Failure> {
    let filters = body.filters.checked()?;
    if body.selected.len() > OPTIONS_MAX || body.preferences.len() > OPTIONS_MAX {
        let content = format!("selected and preferences may contain at most {OPTIONS_MAX} options.");
        return Err(Failure::bad("invalid", content));
    }
    let is_twice =
        |(nth, one): (usize, &SelectedOption)| body.selected[..nth].iter().any(|before| before.name == one.name);
    if body.selected.iter().enumerate().any(is_twice) {
        return Err(Failure::bad(
            "invalid",
            "selected may contain each option at most once.",
        ));
    }
    let absent = || Failure::not_found(format!("Product not found: {}", body.id));
    let ident: Ident = body.id.parse().map_err(|_| absent())?;
    let detail = market.product(&ident.product).await?.ok_or_else(absent)?;
    let mut whole = product(&detail, &filters.price).ok_or_else(absent)?;
    let selected = match &ident.variant {
        Some(variant) => {
            let id = Ident::variant(&detail.id, variant).to_string();
            let at = whole.variants.iter().position(|one| one.id == id).ok_or_else(absent)?;
            let named = whole.variants.remove(at);
            let selected = named.options.clone();
            whole.variants.insert(0, named);
            selected
        }
        None if body.selected.is_empty() => whole
            .variants
            .first()
            .map(|one| one.options.clone())
            .unwrap_or_default(),
        None => effective(&whole.variants, body.selected, &body.preferences),
    };
    signal(&mut whole.options, &whole.variants, &selected);
    if ident.variant.is_some() || !selected.is_empty() {
        let first = whole.variants.first().map(|one| one.id.clone());
        let is_named = ident.variant.is_some();
        whole
            .variants
            .retain(|one| one.has(&selected) || is_named && Some(&one.id) == first.as_ref());
    }
    whole.variants.truncate(VARIANTS_MAX);
    whole.selected = (!whole.options.is_empty()).then_some(selected);
    let offers = market.offers(&detail.id).await;
    // With only one seller, the product itself is the offer.
    if offers.len() > 1 {
        whole.haat_offers = offers.iter().filter_map(offer).collect();
    }
    Ok(DetailAnswer {
        ucp: Meta::of(market.version(), Capability::Lookup),
        product: whole,
    })
}

/// Drops options from a selection until some variant has all the others. Options are dropped one by one: first those
/// that `preferences` does not name, from the last one, then those in `preferences`, also from the last one.
fn effective(variants: &[Variant], mut selected: Vec<SelectedOption>, preferences: &[String]) -> Vec<SelectedOption> {
    let rank = |one: &SelectedOption| preferences.iter().position(|name| *name == one.name);
    while !selected.is_empty() && !variants.iter().any(|one| one.has(&selected)) {
        let worst = (0..selected.len()).max_by_key(|nth| (rank(&selected[*nth]).unwrap_or(usize::MAX), *nth));
        if let Some(worst) = worst {
            selected.remove(worst);
        }
    }
    selected
}

/// Marks each option value with two facts: a variant combines it with the other selected values, and such a variant can
/// be bought.
fn signal(options: &mut [ProductOption], variants: &[Variant], selected: &[SelectedOption]) {
    for option in options {
        let others: Vec<SelectedOption> = selected.iter().filter(|one| one.name != option.name).cloned().collect();
        for value in &mut option.values {
            let this = SelectedOption {
                name: option.name.clone(),
                label: value.label.clone(),
            };
            let fits = |one: &&Variant| one.has(&others) && one.options.contains(&this);
            let mut fitting = variants.iter().filter(fits).peekable();
            value.exists = Some(fitting.peek().is_some());
            value.available = Some(fitting.any(Variant::is_available));
        }
    }
}

#[cfg(test)]
#[path = "detail_tests.rs"]
mod tests;

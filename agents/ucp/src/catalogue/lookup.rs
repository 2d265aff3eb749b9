use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::filter::Filters;
use super::product::{Input, Product, product};
use crate::failure::Failure;
use crate::ids::Ident;
use crate::market::Market;
use crate::message::{Capability, Message, Meta};

/// Maximum number of identifiers in a request.
const IDS_MAX: usize = 50;

#[derive(Debug, Deserialize)]
pub(crate) struct LookupBody {
    ids: Vec<String>,
    #[serde(default)]
    filters: Filters,
}

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct LookupAnswer {
    ucp: Meta,
    products: Vec<Product>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Message>,
}

/// Finds products by identifiers of products or variants. Each product is returned once.
pub(crate) async fn lookup(market: &Market<'_>, body: LookupBody) -> Result<LookupAnswer, Failure> {
    let filters = body.filters.checked()?;
    if body.ids.is_empty() {
        return Err(Failure::bad("invalid", "ids must contain at least one id."));
    }
    let mut seen = std::collections::BTreeSet::new();
    let ids: Vec<&String> = body.ids.iter().filter(|id| seen.insert(id.as_str())).collect();
    // Duplicate identifiers count once ("Lookup": duplicates are removed first).
    if ids.len() > IDS_MAX {
        let content = format!("ids may contain at most {IDS_MAX} ids.");
        return Err(Failure::bad("request_too_large", content));
    }
    let idents: Vec<(&str, Option<Ident>)> = ids.iter().map(|id| (id.as_str(), id.parse().ok())).collect();
    let mut names: Vec<&str> = idents
        .iter()
        .flat_map(|(_, ident)| ident)
        .map(|one| one.product.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let details = market.products(&names).await?;
    let found: BTreeMap<&str, _> = names
        .iter()
        .zip(&details)
        .filter_map(|(name, detail)| Some((*name, detail.as_ref()?)))
        .collect();
    let mut products: Vec<Product> = Vec::new();
    let mut messages = Vec::new();
    for (id, ident) in &idents {
        let known = ident
            .as_ref()
            .and_then(|ident| Some((ident, found.get(ident.product.as_str())?)));
        let Some((ident, detail)) = known else {
            messages.push(Message::info("not_found", *id));
            continue;
        };
        let Some(whole) = product(detail, &filters.price) else {
            continue;
        };
        let is_named = |nth: usize| match &ident.variant {
            Some(variant) => whole.variants[nth].id == Ident::variant(&detail.id, variant).to_string(),
            None => nth == 0,
        };
        let Some(nth) = (0..whole.variants.len()).find(|nth| is_named(*nth)) else {
            let is_there = detail
                .variants
                .iter()
                .any(|one| ident.variant.as_ref() == Some(&one.id));
            if !is_there {
                messages.push(Message::info("not_found", *id));
            }
            continue;
        };
        let input = Input {
            id: (*id).to_owned(),
            kind: if ident.variant.is_some() { "exact" } else { "featured" },
        };
        take(&mut products, whole, nth, input);
    }
    Ok(LookupAnswer {
        ucp: Meta::of(market.version(), Capability::Lookup),
        products,
        messages,
    })
}

/// Adds one variant of a product to the results. A variant found by several identifiers is listed once.
fn take(products: &mut Vec<Product>, mut whole: Product, nth: usize, input: Input) {
    let mut variant = whole.variants.swap_remove(nth);
    let at = products.iter().position(|known| known.id == whole.id);
    let Some(known) = at.map(|at| &mut products[at]) else {
        variant.inputs.push(input);
        whole.variants = vec![variant];
        products.push(whole);
        return;
    };
    match known.variants.iter_mut().find(|one| one.id == variant.id) {
        Some(one) => one.inputs.push(input),
        None => {
            variant.inputs.push(input);
            known.variants.push(variant);
        }
    }
}

use data_model::{StoredProduct, VariantId};
use serde::Deserialize;

use super::money::{from_decimal, list_price};
use super::reason::Nonsense;
use super::told::{ProductReply, Source, VariantReply, filled, title};

/// Prefix of variants' global ids in the Storefront API. Numeric ids map one to one (platform: Storefront API,
/// `nodes`).
const VARIANT_GID: &str = "gid://shopify/ProductVariant/";
const PRODUCT_GID: &str = "gid://shopify/Product/";

pub(crate) fn variant_gid(id: VariantId) -> String {
    format!("{VARIANT_GID}{}", id.0)
}

/// Data of the query `Variants`.
#[derive(Deserialize)]
struct Data {
    nodes: Vec<Option<Node>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    /// Id of the variant; absent if the node has another type.
    id: Option<String>,
    title: Option<String>,
    sku: Option<String>,
    available_for_sale: Option<bool>,
    price: Option<Amount>,
    compare_at_price: Option<Amount>,
    product: Option<Owner>,
}

#[derive(Deserialize)]
struct Owner {
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Amount {
    amount: String,
    currency_code: String,
}

/// Nodes of a response, in the order in which their variants were requested.
pub(crate) struct Nodes(Vec<Option<Node>>);

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ProductNodes {
    /// The response contains the whole product.
    Told(ProductReply),
    /// The response lacks some of the product's variants. The missing variants may still exist; they may be sold only
    /// in the online store.
    Missing,
}

impl Nodes {
    /// Parses the response to a query for `asked` variants.
    ///
    /// # Errors
    /// Fails if the document has a different form.
    pub(crate) fn read(data: &str, asked: usize) -> Result<Self, Nonsense> {
        let data: Data = serde_json::from_str(data).map_err(|error| Nonsense::Form(error.to_string()))?;
        if data.nodes.len() != asked {
            return Err(Nonsense::Form(format!(
                "the answer has {} nodes for {asked} ids",
                data.nodes.len()
            )));
        }
        Ok(Self(data.nodes))
    }

    /// Appends the nodes of another query.
    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    pub(crate) fn empty() -> Self {
        Self(Vec::new())
    }

    /// Returns the product whose nodes begin at `start`. All of its stored variants were requested in their order. With
    /// `partial`, the store's answer is incomplete, so a missing node has no meaning.
    ///
    /// # Errors
    /// Fails if any variant of the product cannot be parsed, because a price is verified for the whole product or not
    /// at all.
    pub(crate) fn product(
        &self,
        start: usize,
        stored: &StoredProduct,
        partial: bool,
    ) -> Result<ProductNodes, Nonsense> {
        let end = start + stored.variants.len();
        let nodes = self
            .0
            .get(start..end)
            .ok_or_else(|| Nonsense::Form("nodes are missing".to_owned()))?;
        let mut variants = Vec::with_capacity(nodes.len());
        let mut is_missing = false;
        for (node, asked) in nodes.iter().zip(&stored.variants) {
            match node {
                Some(node) => variants.push(variant(node, asked.id, stored)?),
                None if partial => return Err(Nonsense::Refused("the store could not return a variant".to_owned())),
                None => is_missing = true,
            }
        }
        Ok(if is_missing {
            ProductNodes::Missing
        } else {
            ProductNodes::Told(ProductReply {
                source: Source::Graphql,
                variants,
                gone: Vec::new(),
            })
        })
    }
}

fn variant(node: &Node, asked: VariantId, stored: &StoredProduct) -> Result<VariantReply, Nonsense> {
    let number = |text: &Option<String>, prefix: &str| text.as_deref()?.strip_prefix(prefix)?.parse::<u64>().ok();
    if number(&node.id, VARIANT_GID) != Some(asked.0) {
        return Err(Nonsense::Another { what: "variant" });
    }
    let owner = node.product.as_ref().map(|owner| owner.id.clone());
    if number(&owner, PRODUCT_GID) != Some(stored.platform_id) {
        return Err(Nonsense::Another { what: "product" });
    }
    let missing = |what: &str| Nonsense::Form(format!("a variant without {what}"));
    let price_minor = amount(node.price.as_ref().ok_or_else(|| missing("price"))?, stored)?;
    let compare_at_minor = node
        .compare_at_price
        .as_ref()
        .map(|stated| amount(stated, stored))
        .transpose()?;
    Ok(VariantReply {
        id: asked,
        title: title(node.title.clone()),
        sku: filled(node.sku.clone()),
        price_minor,
        compare_at_minor: list_price(compare_at_minor, price_minor),
        available: node.available_for_sale.ok_or_else(|| missing("availability"))?,
    })
}

fn amount(stated: &Amount, stored: &StoredProduct) -> Result<i64, Nonsense> {
    if stated.currency_code != stored.currency.as_str() {
        let answered = stated.currency_code.chars().take(8).collect();
        return Err(Nonsense::Currency {
            answered,
            stored: stored.currency,
        });
    }
    from_decimal(&stated.amount, stored.currency)
}

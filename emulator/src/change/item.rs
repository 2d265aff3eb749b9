use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ChangeError, Target};
use crate::answer::Product;
use crate::shop::Shop;

/// A variant or a product, by whatever its user has at hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Item {
    /// The id of a variant, or of a product.
    Id(u64),
    /// The handle of a product, or an id as a text: of digits, or as GraphQL writes it.
    Name(String),
}

impl From<u64> for Item {
    fn from(id: u64) -> Self {
        Self::Id(id)
    }
}

impl From<&str> for Item {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for Item {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Name(name) => fmt::Debug::fmt(name, f),
        }
    }
}

/// The product that is meant, and which of its variants; also one that was removed on demand.
pub(super) fn find(shop: &Shop, item: &Item) -> Result<Target, ChangeError> {
    let epoch = shop.epoch();
    let by_id = |id: u64| {
        let variant = shop.catalogue.lookup_variant(id, epoch).map(|place| (place, Some(id)));
        variant.or_else(|| Some((shop.catalogue.lookup_product(id, epoch)?, None)))
    };
    let found = match item {
        Item::Id(id) => by_id(*id),
        Item::Name(name) => {
            let by_handle = shop.catalogue.lookup(name, epoch).map(|place| (place, None));
            by_handle.or_else(|| by_id(name.rsplit('/').next()?.parse().ok()?))
        }
    };
    found
        .and_then(|(place, only)| Some(Target::of(Product::read(shop, place)?, only)))
        .ok_or_else(|| ChangeError::UnknownItem { item: item.clone() })
}

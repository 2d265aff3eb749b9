//! Change by an app to a cart after every other change, like the platform's cart transform functions and apps that add
//! gifts.

use uuid::Uuid;

use super::{Attribute, Cart, Line};

/// Line attribute by which apps mark a gift.
const GIFT: &str = "_gift";

/// An app function that runs on every cart of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CartFunction {
    /// Replaces units of these variants by the same number of bundles, in one line (`lineMerge`).
    Merge {
        /// The variants that form a bundle, each at least once.
        variants: Vec<u64>,
        /// The bundle's variant id.
        into: u64,
    },
    /// Adds a free unit of one variant for each unit of another one, in a separate line with price 0 (`lineUpdate`).
    Gift {
        /// Variant id that triggers the gift.
        with: u64,
        /// Variant id of the gift.
        free: u64,
    },
    /// Splits a line of several units into lines of one unit, each with an attribute of its own.
    Split {
        /// Variant id of the lines to split.
        variant: u64,
    },
}

impl CartFunction {
    pub(crate) fn run(&self, cart: &mut Cart) {
        match self {
            Self::Merge { variants, into } => merge(cart, variants, *into),
            Self::Gift { with, free } => {
                let is_due = |line: &Line| line.variant == *with && line.quantity > 0 && !line.is_gift();
                let is_due = cart.lines.iter().any(is_due);
                if !is_due {
                    cart.lines.retain(|line| !line.is_gift());
                } else if !cart.lines.iter().any(Line::is_gift) {
                    cart.lines.push(line(*free, vec![attribute(GIFT, "1".to_owned())]));
                }
            }
            Self::Split { variant } => split(cart, *variant),
        }
    }
}

fn attribute(key: &str, value: String) -> Attribute {
    let key = key.to_owned();
    Attribute { key, value }
}

fn line(variant: u64, attributes: Vec<Attribute>) -> Line {
    Line {
        id: Uuid::new_v4(),
        variant,
        quantity: 1,
        attributes,
    }
}

fn merge(cart: &mut Cart, variants: &[u64], into: u64) {
    let pieces = variants.iter().map(|variant| cart.pieces_of(*variant)).min();
    let Some(pieces) = pieces.filter(|pieces| *pieces > 0) else {
        return;
    };
    for variant in variants {
        let mut left = pieces;
        for line in cart.lines.iter_mut().filter(|line| line.variant == *variant) {
            let taken = line.quantity.min(left);
            line.quantity -= taken;
            left -= taken;
        }
    }
    cart.lines
        .retain(|line| line.quantity > 0 || !variants.contains(&line.variant));
    match cart.lines.iter_mut().find(|line| line.variant == into) {
        Some(line) => line.quantity += pieces,
        None => cart.lines.push(Line {
            quantity: pieces,
            ..line(into, Vec::new())
        }),
    }
}

fn split(cart: &mut Cart, variant: u64) {
    let mut more = Vec::new();
    for whole in cart.lines.iter_mut().filter(|line| line.variant == variant) {
        let pieces = whole.quantity.saturating_sub(1);
        whole.quantity -= pieces;
        for _ in 0..pieces {
            let mark = Uuid::new_v4().to_string();
            more.push(line(variant, vec![attribute("piece", mark)]));
        }
    }
    cart.lines.extend(more);
}

impl Line {
    pub(crate) fn is_gift(&self) -> bool {
        self.attributes.iter().any(|one| one.key == GIFT)
    }
}

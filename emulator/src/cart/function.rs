//! An app's change to a cart after every other change: the platform's cart transform functions, and apps that put
//! gifts in.

use uuid::Uuid;

use super::{Attribute, Cart, Line};

/// The mark of a gift, as apps set it: a line with a property of its own.
const GIFT: &str = "_gift";

/// The function that runs on every cart of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CartFunction {
    /// Pieces of these variants become as many of a bundle, in one line (`lineMerge`).
    Merge {
        /// The variants, each at least once.
        variants: Vec<u64>,
        /// The bundle's variant.
        into: u64,
    },
    /// A piece of one variant is given with another, in a line of its own at a price of 0 (`lineUpdate`).
    Gift {
        /// The variant that it is given with.
        with: u64,
        /// The variant that is given.
        free: u64,
    },
    /// A line of several pieces becomes as many lines of one, each with a property of its own.
    Split {
        /// The variant.
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

//! Compares a store's products before and after it was reread. The module does no I/O.

use std::collections::HashMap;

use data_lake::CatalogueRows;
use data_model::CurrencyCode;
use serde::{Deserialize, Serialize};

/// Maximum number of price changes listed per brand, and maximum number of characters of a title.
const MOVES_MAX: usize = 5;
const TITLE_CHARS_MAX: usize = 60;

/// Variant with a changed price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantMove {
    /// Current title of the variant's product.
    pub title: String,
    /// Shopify's id of the variant.
    pub variant: u64,
    /// Earlier price in minor units.
    pub before_minor: i64,
    /// Current price in minor units.
    pub now_minor: i64,
    /// Currency of both prices.
    pub currency: CurrencyCode,
}

impl VariantMove {
    /// Returns the price change as a share of the larger price, in millionths. A fall to zero counts as much as a rise
    /// from zero.
    fn distance(&self) -> i128 {
        let (before, now) = (i128::from(self.before_minor), i128::from(self.now_minor));
        (now - before).abs() * 1_000_000 / before.abs().max(now.abs()).max(1)
    }
}

/// Changes of the products of one brand, or of all brands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Number of added products.
    pub added: u64,
    /// Number of changed products.
    pub changed: u64,
    /// Number of removed products.
    pub gone: u64,
    /// Number of unchanged products.
    pub same: u64,
    /// Number of existing variants with a changed price or currency.
    pub prices_moved: u64,
    /// Number of products that were sold out and are now in stock.
    pub into_stock: u64,
    /// Number of products that were in stock and are now sold out.
    pub out_of_stock: u64,
    /// Largest price changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<VariantMove>,
}

impl Difference {
    /// Returns the difference of an unchanged brand.
    #[must_use]
    pub fn none(products: u64) -> Self {
        Self {
            same: products,
            ..Self::default()
        }
    }

    /// Compares the current rows, with amounts in `is_in`, with the earlier rows, with amounts in `was_in`. Amounts in
    /// different currencies are not compared.
    #[must_use]
    pub fn of(before: &CatalogueRows, now: &CatalogueRows, was_in: CurrencyCode, is_in: CurrencyCode) -> Self {
        let mut difference = Self::default();
        let known: HashMap<u64, _> = before.states().collect();
        for (id, is) in now.states() {
            let Some(was) = known.get(&id) else {
                difference.added += 1;
                continue;
            };
            difference.into_stock += u64::from(!was.in_stock() && is.in_stock());
            difference.out_of_stock += u64::from(was.in_stock() && !is.in_stock());
            *(if *was == is {
                &mut difference.same
            } else {
                &mut difference.changed
            }) += 1;
        }
        let still = difference.same + difference.changed;
        difference.gone = (known.len() as u64).saturating_sub(still);
        let known: HashMap<(u64, u64), i64> = before.prices().collect();
        let mut moves = Vec::new();
        for ((product, variant), now_minor) in now.prices() {
            let Some(&before_minor) = known.get(&(product, variant)) else {
                continue;
            };
            difference.prices_moved += u64::from(before_minor != now_minor || was_in != is_in);
            if before_minor != now_minor && was_in == is_in {
                moves.push(UntitledMove {
                    product,
                    of_variant: VariantMove {
                        title: String::new(),
                        variant,
                        before_minor,
                        now_minor,
                        currency: is_in,
                    },
                });
            }
        }
        difference.moves = titled(furthest(moves, |one| &one.of_variant), now);
        difference
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.added += other.added;
        self.changed += other.changed;
        self.gone += other.gone;
        self.same += other.same;
        self.prices_moved += other.prices_moved;
        self.into_stock += other.into_stock;
        self.out_of_stock += other.out_of_stock;
        let moves = std::mem::take(&mut self.moves).into_iter().chain(other.moves.clone());
        self.moves = furthest(moves.collect(), |one| one);
    }
}

/// Returns the few largest changes. Equal changes are ordered by variant.
fn furthest<T>(mut moves: Vec<T>, of: impl Fn(&T) -> &VariantMove) -> Vec<T> {
    moves.sort_by_key(|one| (-of(one).distance(), of(one).variant));
    moves.truncate(MOVES_MAX);
    moves
}

/// Price change of a variant whose title is not known yet.
struct UntitledMove {
    product: u64,
    of_variant: VariantMove,
}

fn titled(moves: Vec<UntitledMove>, now: &CatalogueRows) -> Vec<VariantMove> {
    let mut titles: HashMap<u64, String> = moves.iter().map(|one| (one.product, String::new())).collect();
    for (id, title) in now.titles() {
        if let Some(wanted) = titles.get_mut(&id) {
            *wanted = title.chars().take(TITLE_CHARS_MAX).collect();
        }
    }
    let title = |product: &u64| titles.get(product).cloned().unwrap_or_default();
    let moves = moves.into_iter().map(|one| VariantMove {
        title: title(&one.product),
        ..one.of_variant
    });
    moves.collect()
}

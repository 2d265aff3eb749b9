use data_index::{Manifest, Release, RowAddress};
use data_model::ProductIdent;
use data_text::{Analysis, analyse};

use crate::assemble::counts;

/// Options for the checks before a release is published.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckOptions {
    /// Minimum share of the previous release's brands, products and in-stock products that the new release must have.
    pub share_kept_min: f64,
    /// `true` if the operator confirmed a large drop in these numbers.
    pub collapse_confirmed: bool,
    /// `true` to publish over a pinned release, which ends the pin.
    pub despite_pin: bool,
    /// Number of products to search by identifier and by title.
    pub probes: usize,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            share_kept_min: 0.7,
            collapse_confirmed: false,
            despite_pin: false,
            probes: 16,
        }
    }
}

/// Reason why a release must not be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// The release has far fewer items than the previous one.
    Collapse {
        /// Kind of items that became fewer.
        what: &'static str,
        /// Number in the previous release.
        before: u64,
        /// Number in the new release.
        after: u64,
    },
    /// The release has no products, and the operator did not confirm that.
    Empty,
    /// The release's totals do not match its brands and parts.
    Totals {
        /// Name of the total that does not match.
        what: &'static str,
    },
    /// A product that the release contains is not found by a search.
    NotFound {
        /// Text that was searched.
        looked_for: String,
    },
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Collapse { what, before, after } => {
                write!(f, "the number of {what} collapses from {before} to {after}")
            }
            Self::Empty => f.write_str("the release has no products"),
            Self::Totals { what } => write!(f, "{what} do not match the release's totals"),
            Self::NotFound { looked_for } => write!(f, "a search does not find {looked_for}"),
        }
    }
}

pub(crate) fn text(violations: &[Violation]) -> String {
    violations
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ")
}

pub(crate) fn of_counts(manifest: &Manifest, before: Option<&Manifest>, options: &CheckOptions) -> Vec<Violation> {
    let mut violations = Vec::new();
    if manifest.counts.products == 0 && !options.collapse_confirmed {
        violations.push(Violation::Empty);
    }
    if counts(&manifest.brands) != manifest.counts {
        violations.push(Violation::Totals {
            what: "the brands' counts",
        });
    }
    let live: u64 = manifest.parts.iter().map(|part| u64::from(part.live_rows)).sum();
    if live != manifest.counts.products {
        violations.push(Violation::Totals {
            what: "the parts' live rows",
        });
    }
    let Some(before) = before.filter(|_| !options.collapse_confirmed) else {
        return violations;
    };
    let (old, new) = (&before.counts, &manifest.counts);
    for (what, before, after) in [
        ("brands", old.brands, new.brands),
        ("products", old.products, new.products),
        ("products in stock", old.in_stock, new.in_stock),
    ] {
        if collapsed(before, after, options.share_kept_min) {
            violations.push(Violation::Collapse { what, before, after });
        }
    }
    violations
}

fn collapsed(before: u64, after: u64, share_kept_min: f64) -> bool {
    (after as f64) < before as f64 * share_kept_min
}

/// Searches for products of the release, spread over all parts, by both identifiers and by title.
pub(crate) fn of_probes(release: &Release, probes: usize) -> Vec<Violation> {
    let sampled = sample(release, probes);
    sampled
        .into_iter()
        .filter_map(|address| not_found(release, address))
        .collect()
}

fn sample(release: &Release, probes: usize) -> Vec<RowAddress> {
    let per_part = probes.div_ceil(release.parts().len().max(1)).max(1);
    let mut sampled = Vec::new();
    for (at, part) in (0..).zip(release.parts()) {
        let step = (part.rows() as usize / per_part).max(1);
        let live = (0..part.rows()).step_by(step).map(|from| {
            (from..part.rows())
                .find(|row| !part.dead().contains(*row))
                .map(|row| RowAddress { part: at, row })
        });
        sampled.extend(live.flatten().take(per_part));
    }
    sampled.dedup();
    sampled
}

fn not_found(release: &Release, address: RowAddress) -> Option<Violation> {
    let missing = |looked_for: String| Some(Violation::NotFound { looked_for });
    let part = release.part(address.part)?;
    let cards = part.cards();
    for ident in [
        ProductIdent::Id(cards.id(address.row)),
        ProductIdent::Uid(cards.uid(address.row)),
    ] {
        if release.find(&ident) != Some(address) {
            return missing(format!("product {ident}"));
        }
    }
    let title = cards.title(address.row);
    let holds = |term: &str| {
        let list = part.terms().find(term);
        list.is_some_and(|list| list.cursor().seek(address.row) == address.row)
    };
    let terms = analyse(Analysis::Stemmed, title);
    if terms.iter().all(|term| holds(&term.text)) {
        None
    } else {
        missing(format!("title {title:?}"))
    }
}

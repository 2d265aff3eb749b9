//! Compares figures with their thresholds. The module does no I/O.

use std::fmt::Write;

use data_model::{CurrencyCode, Money};

use crate::figures::{BrandFigures, Field, PriceMove, PriceMoves};
use crate::finding::{Finding, Threshold};
use crate::report::BrandQuality;
use crate::thresholds::QualityConfig;

const TOLD_MAX: usize = 5;
const NAMED_MAX: usize = 5;

/// Returns the first few findings, one sentence each.
#[must_use]
pub fn summary(findings: &[Finding]) -> String {
    let told: Vec<_> = findings.iter().take(TOLD_MAX).map(Finding::to_string).collect();
    let mut text = told.join("; ");
    if let Some(more) = findings.len().checked_sub(TOLD_MAX).filter(|more| *more > 0) {
        let _ = write!(text, "; and {more} more");
    }
    text
}

/// Returns the figures that exceed a threshold: first those about all brands, then brand by brand.
#[must_use]
pub fn judge(brands: &[BrandQuality], config: &QualityConfig) -> Vec<Finding> {
    let mut findings: Vec<Finding> = stale(brands, config).into_iter().collect();
    for brand in brands {
        let Some(now) = &brand.now else {
            continue;
        };
        let mut judged = BrandCheck {
            brand,
            config,
            findings: &mut findings,
        };
        if now.products >= config.products_min {
            judged.currency_mix(now);
        }
        let Some(before) = &brand.before else {
            continue;
        };
        if before.products >= config.products_min {
            judged.fall(before, now);
            if now.products >= config.products_min {
                judged.missing(before, now);
                judged.duplicates(before, now);
                judged.quarantined(before, now);
            }
        }
        if let Some(moves) = &brand.moves {
            judged.moves(moves);
        }
    }
    findings
}

fn stale(brands: &[BrandQuality], config: &QualityConfig) -> Option<Finding> {
    let stale: Vec<&str> = brands
        .iter()
        .filter(|brand| brand.is_stale)
        .map(|brand| brand.slug.as_str())
        .collect();
    let threshold = Threshold::StaleShareMax;
    let figure = share(stale.len() as u64, brands.len() as u64);
    if figure <= threshold.limit(config) {
        return None;
    }
    let named = stale.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    let more = match stale.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(Finding {
        threshold,
        limit: threshold.limit(config),
        figure: rounded(figure),
        brand: None,
        detail: format!("{} of {} brands are stale: {named}{more}", stale.len(), brands.len()),
    })
}

struct BrandCheck<'a> {
    brand: &'a BrandQuality,
    config: &'a QualityConfig,
    findings: &'a mut Vec<Finding>,
}

impl BrandCheck<'_> {
    fn check(&mut self, threshold: Threshold, figure: f64, detail: impl FnOnce() -> String) {
        let limit = threshold.limit(self.config);
        if figure > limit {
            self.findings.push(Finding {
                threshold,
                limit,
                figure: rounded(figure),
                brand: Some(self.brand.slug.clone()),
                detail: detail(),
            });
        }
    }

    fn fall(&mut self, before: &BrandFigures, now: &BrandFigures) {
        let gone = before.products.saturating_sub(now.products);
        self.check(Threshold::ProductsFallShareMax, share(gone, before.products), || {
            format!("{} products, compared with {} before", now.products, before.products)
        });
    }

    fn missing(&mut self, before: &BrandFigures, now: &BrandFigures) {
        for field in Field::ALL {
            let threshold = match field {
                Field::Category => Threshold::UncategorisedRiseShareMax,
                field if field.is_needed() => Threshold::MissingRiseShareMax,
                _ => continue,
            };
            let (was, is) = (before.without(field), now.without(field));
            let rise = share(is, now.products) - share(was, before.products);
            self.check(threshold, rise, || {
                format!(
                    "{is} of {} products have no {}, compared with {was} of {} before",
                    now.products,
                    field.as_str(),
                    before.products
                )
            });
        }
    }

    fn duplicates(&mut self, before: &BrandFigures, now: &BrandFigures) {
        let (was, is) = (before.duplicates, now.duplicates);
        for (what, was, is) in [
            ("id", was.ids, is.ids),
            ("handle", was.handles, is.handles),
            ("title", was.titles, is.titles),
        ] {
            let rise = share(is, now.products) - share(was, before.products);
            self.check(Threshold::DuplicateRiseShareMax, rise, || {
                format!(
                    "{is} of {} products have the same {what} as another, compared with {was} of {} before",
                    now.products, before.products
                )
            });
        }
    }

    fn quarantined(&mut self, before: &BrandFigures, now: &BrandFigures) {
        let Some(was) = self.brand.quarantined_before else {
            return;
        };
        let is = self.brand.quarantined;
        let rise = share(is, is + now.products) - share(was, was + before.products);
        self.check(Threshold::QuarantinedRiseShareMax, rise, || {
            format!("{is} records could not be parsed, compared with {was} before")
        });
    }

    fn currency_mix(&mut self, now: &BrandFigures) {
        let others = now.in_minority_currency();
        self.check(Threshold::CurrencyMixShareMax, share(others, now.products), || {
            let most = now.currency().unwrap_or_default();
            format!(
                "{others} of {} products have prices in a currency other than {most}",
                now.products
            )
        });
    }

    fn moves(&mut self, moves: &PriceMoves) {
        if moves.compared < self.config.products_min {
            return;
        }
        let factor = self.config.price_jump_factor;
        let changed = moves.currency_changed;
        self.check(
            Threshold::CurrencyChangeShareMax,
            share(changed, moves.compared),
            || {
                format!(
                    "the prices of {changed} of {} products changed their currency",
                    moves.compared
                )
            },
        );
        self.check(
            Threshold::PriceJumpShareMax,
            share(moves.jumped, moves.compared),
            || {
                let example = moves
                    .examples
                    .first()
                    .map(|example| format!(", such as {}", told(example)));
                format!(
                    "the prices of {} of {} products rose or fell by a factor of {factor} or more{}",
                    moves.jumped,
                    moves.compared,
                    example.unwrap_or_default()
                )
            },
        );
    }
}

const TITLE_CHARS_MAX: usize = 40;

/// Formats a price jump, such as `Cup: INR 499.00, now INR 49900.00`.
pub(crate) fn told(jump: &PriceMove) -> String {
    let amount = |minor: i64| {
        let currency: Option<CurrencyCode> = jump.currency.parse().ok();
        let money = currency.and_then(|currency| Money::from_minor(minor, currency).ok());
        money.map_or_else(|| format!("{minor} {}", jump.currency), |money| money.to_string())
    };
    let printable = jump
        .title
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char });
    let title: String = printable.take(TITLE_CHARS_MAX).collect();
    format!("{title}: {}, now {}", amount(jump.before_minor), amount(jump.now_minor))
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

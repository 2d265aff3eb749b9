//! Event as an e-mail for a person. The module is pure (no I/O, no clock).

use data_model::Money;
use url::Url;

use crate::event::EventData;
use crate::rules::conditions::WatchReason;
use crate::rules::reading::Reading;

const TITLE_CHARS_MAX: usize = 120;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) subject: String,
    pub(crate) text: String,
}

pub(crate) struct Links<'a> {
    pub(crate) market: &'a Url,
    pub(crate) stop: &'a Url,
}

impl Letter {
    /// Formats an event as an e-mail.
    pub(crate) fn of(event: &EventData, links: &Links<'_>) -> Self {
        let product = event.product.as_ref();
        let title = line(
            product
                .map(|product| product.title.as_str())
                .or(event.query.as_deref())
                .unwrap_or_default(),
        );
        let mut parts = Vec::new();
        if let Some(product) = product {
            parts.push(format!("{}, of {}", line(&product.title), product.brand_slug));
        }
        if let Some(query) = &event.query {
            parts.push(format!("Your search: {}", line(query)));
        }
        parts.extend(event.now.as_ref().map(|now| format!("Now: {}", reading(now))));
        parts.extend(
            event
                .before
                .as_ref()
                .map(|before| format!("Before: {}", reading(before))),
        );
        let market = links.market.as_str();
        parts.extend(product.map(|product| format!("See it: {market}products/{}", product.id)));
        parts.extend(event.quote.as_ref().map(|quote| {
            format!(
                "The store itself stated this. Signed quote of its statement (verify it with \
                 {market}.well-known/jwks.json):\n{quote}"
            )
        }));
        parts.push(format!(
            "You receive this because you set a watch at {market}. To stop these e-mails: {}",
            links.stop
        ));
        Self {
            subject: format!("{}: {title}", occasion(&event.reasons)),
            text: format!("{}\n", parts.join("\n\n")),
        }
    }
}

fn occasion(reasons: &[WatchReason]) -> &'static str {
    match reasons.first() {
        Some(WatchReason::PriceBelow) => "The price fell",
        Some(WatchReason::DiscountAtLeast) => "Marked down",
        Some(WatchReason::BackInStock) => "Back in stock",
        Some(WatchReason::NewMatch) => "New",
        Some(WatchReason::Test) | None => "A test",
    }
}

fn reading(reading: &Reading) -> String {
    let price = reading.price_minor.zip(reading.currency);
    let price = price.and_then(|(minor, currency)| Money::from_minor(minor, currency).ok());
    let price = price.map_or_else(|| "no price".to_owned(), |price| price.to_string());
    let stock = if reading.available { "in stock" } else { "out of stock" };
    format!("{price}, {stock}")
}

/// Returns a store's text on one line of limited length.
fn line(text: &str) -> String {
    let spaced: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    spaced
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(TITLE_CHARS_MAX)
        .collect()
}

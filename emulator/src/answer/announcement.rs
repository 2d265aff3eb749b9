//! Announcements of discounts: the bar above every page of a store, and a sentence in its shipping policy.

use crate::discount::{DiscountPlacement, DiscountRule, DiscountValue};
use crate::generated::dice::Dice;
use crate::generated::push_html;
use crate::money::exponent;
use crate::shop::Shop;

/// Words in announcement bars that look like codes.
const CHATTER: &[&str] = &[
    "NEW ARRIVALS ARE HERE",
    "COD AVAILABLE",
    "Free shipping above Rs. 499",
    "MADE IN INDIA &#127470;&#127475;",
    "Rated 4.8 by 10,000+ customers",
    "SALE IS LIVE",
];

/// Returns the bar above a page, or an empty text if the store announces nothing.
pub(super) fn bar(shop: &Shop) -> String {
    let persona = shop.catalogue.persona();
    let mut dice = Dice::of(&[persona.seed, 0x4241_5221, u64::from(persona.index)]);
    let mut told: Vec<String> = sentences(shop, DiscountPlacement::Announcement);
    if told.is_empty() && dice.chance(400) {
        return String::new();
    }
    told.push(chatter(shop, dice.pick(CHATTER)));
    let items: String = told
        .iter()
        .map(|text| format!("<p class=\"announcement-bar__message\" style=\"margin:0\">{text}</p>\n"))
        .collect();
    format!(
        "<div class=\"announcement-bar\" role=\"region\" aria-label=\"Announcement\" \
         style=\"background:#22252b;color:#fff;text-align:center;padding:.5rem;margin-bottom:1rem\">\n{items}</div>\n"
    )
}

/// Returns the text of the bar without the codes. In a varied market it states no shipping terms that the cart lacks.
fn chatter(shop: &Shop, drawn: &str) -> String {
    let Some(habits) = &shop.habits else {
        return drawn.to_owned();
    };
    match (drawn, habits.free_from_minor) {
        ("COD AVAILABLE", _) if !habits.cash.is_offered => "NEW ARRIVALS ARE HERE".to_owned(),
        (drawn, Some(free)) if drawn.starts_with("Free shipping") => format!("Free shipping above Rs. {}", free / 100),
        (drawn, None) if drawn.starts_with("Free shipping") => "SALE IS LIVE".to_owned(),
        (drawn, _) => drawn.to_owned(),
    }
}

/// Returns a policy's sentence about discounts as HTML, or an empty text if there is none.
pub(super) fn in_policy(shop: &Shop) -> String {
    let told = sentences(shop, DiscountPlacement::Policy);
    told.iter().map(|text| format!("<p>{text}</p>")).collect()
}

fn sentences(shop: &Shop, place: DiscountPlacement) -> Vec<String> {
    let rules = shop.discounts.all(&shop.catalogue);
    let mut told: Vec<&DiscountRule> = rules.iter().filter(|rule| rule.told == place).collect();
    // A bar shows at most a few discounts.
    told.truncate(3);
    told.into_iter().filter_map(|rule| sentence(shop, rule)).collect()
}

/// Describes one discount in a brand's words. Returns `None` for a discount without a code.
fn sentence(shop: &Shop, rule: &DiscountRule) -> Option<String> {
    let mut code = String::new();
    push_html(&mut code, rule.code.as_deref()?);
    let gives = match rule.takes {
        DiscountValue::Percentage { percent } => format!("{percent}% off"),
        DiscountValue::Amount { amount_minor, .. } => format!("{} off", amount(shop, amount_minor)),
        DiscountValue::Shipping => "free delivery".to_owned(),
    };
    let least = rule.minimum_subtotal_minor.map_or(String::new(), |least| {
        format!(" on orders above {}", amount(shop, least))
    });
    let mut dice = Dice::of(&[crate::generated::dice::fold_bytes(code.as_bytes())]);
    Some(match dice.below(5) {
        0 => format!("Get {gives}{least} | Use code: <strong>{code}</strong>"),
        1 => format!("Use code {code} for {gives}{least}"),
        2 => format!("{gives}{least} with code &quot;{code}&quot; at checkout"),
        3 => format!("<b>{code}</b> &ndash; {gives}{least}"),
        _ => format!("First time here? Apply {code} &amp; enjoy {gives}{least}!"),
    })
}

/// Formats an amount in the store's money format, without zero decimals.
pub(super) fn amount(shop: &Shop, minor: u64) -> String {
    let persona = shop.catalogue.persona();
    let places = exponent(&shop.address.currency);
    let unit = 10_u64.pow(places);
    let rest = minor % unit;
    let number = if rest == 0 {
        (minor / unit).to_string()
    } else {
        format!("{}.{rest:0>width$}", minor / unit, width = places as usize)
    };
    let format = persona.coin.money_format;
    match (format.find("{{"), format.find("}}")) {
        (Some(open), Some(close)) => format!("{}{number}{}", &format[..open], &format[close + 2..]),
        _ => number,
    }
}

use data_model::CurrencyCode;
use data_text::{runs, stems};

use super::Bounds;
use super::fits::{Fit, Mismatch};
use crate::catalogue::Card;
use crate::intent::Constraints;

/// Maximum number of words of the sentence that are listed as title words.
const WORDS_MAX: usize = 4;

/// Returns the reason for a product: facts of its card and of the variant for the cart. The text consists of fixed
/// phrases and words of the sentence. Only the brand's name comes from the store.
pub(crate) fn why(card: &Card, fit: &Fit, wanted: &Constraints, bounds: Bounds) -> String {
    let mut facts = Vec::new();
    let mut words = words_in_title(&fit.title, wanted);
    // The colour is stated separately.
    let is_colour = |word: &String| {
        fit.colour
            .is_some_and(|colour| colour.split(' ').any(|part| quoted(part) == *word))
    };
    words.retain(|word| !is_colour(word));
    if !words.is_empty() {
        facts.push(format!("its name has {}", listed(&words)));
    }
    if wanted.brand.is_some() {
        facts.push(format!("by {}", card.brand));
    }
    facts.extend(fit.colour.map(|colour| format!("in {colour}")));
    let stock = if fit.distance.has(Mismatch::Stock) {
        "sold out"
    } else {
        "in stock"
    };
    match &fit.size {
        Some(size) => facts.push(format!("{stock} in size {size}")),
        None => facts.extend(fit.distance.has(Mismatch::Stock).then(|| stock.to_owned())),
    }
    facts.push(price(card, fit, bounds));
    if let Some(percent) = card.discount_pct.filter(|percent| *percent > 0) {
        facts.push(format!("{percent}% below its list price"));
    }
    facts.extend(card.rating.map(|rating| format!("rated {rating:?} of 5")));
    let kept = wanted.unwanted.iter().filter(|_| !fit.distance.has(Mismatch::Unwanted));
    let lacking: Vec<String> = kept.take(WORDS_MAX).map(|unwanted| quoted(&unwanted.what)).collect();
    if !lacking.is_empty() {
        facts.push(format!("does not name {}", listed(&lacking)));
    }
    let mut why = facts.join("; ");
    if let Some(first) = why.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    why.push('.');
    why
}

fn price(card: &Card, fit: &Fit, bounds: Bounds) -> String {
    if fit.amount_minor <= 0 {
        return "no price is known".to_owned();
    }
    let own = card.currency.parse().unwrap_or(bounds.currency);
    let amount = told(fit.amount_minor, own);
    match bounds.max_minor.filter(|_| own == bounds.currency) {
        Some(max) if fit.amount_minor > max => format!("{amount}, above the budget of {}", told(max, own)),
        Some(max) => format!("{amount}, within the budget of {}", told(max, own)),
        None => amount,
    }
}

/// Formats an amount, such as `INR 1499.00`.
fn told(minor: i64, currency: CurrencyCode) -> String {
    let exponent = currency.exponent();
    let unit = 10_i64.pow(exponent);
    let (whole, rest) = (minor / unit, minor % unit);
    match exponent {
        0 => format!("{} {whole}", currency.as_str()),
        digits => format!(
            "{} {whole}.{:0width$}",
            currency.as_str(),
            rest.abs(),
            width = digits as usize
        ),
    }
}

/// Returns those words of the sentence that the title contains, as the sentence spells them.
fn words_in_title(title: &str, wanted: &Constraints) -> Vec<String> {
    let title = stems(title);
    let text = wanted
        .words
        .as_ref()
        .filter(|words| words.is_grounded)
        .map_or(&wanted.text, |words| &words.text);
    let mut words: Vec<String> = Vec::new();
    for word in runs(text).filter(|word| word.chars().count() > 2) {
        let stems = stems(word);
        let is_in = !stems.is_empty() && stems.iter().all(|stem| title.contains(stem));
        let is_word = !data_understanding::is_of_sentences(&word.to_lowercase());
        let word = quoted(&word.to_lowercase());
        if is_in && is_word && !words.contains(&word) && words.len() < WORDS_MAX {
            words.push(word);
        }
    }
    words
}

fn quoted(word: &str) -> String {
    format!("“{word}”")
}

fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

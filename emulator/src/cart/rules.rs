//! Limits on notes, attributes, codes and buyer data.

use super::{Attribute, Cart, CartRefusal, Refusal};
use crate::discount::folded;

const NOTE_MAX: usize = 5_000;

/// Maximum number of attributes of a cart or a line. The next constants limit their length. The platform's own limits
/// on sizes are not known; these bound the memory of a store.
const ATTRIBUTES_MAX: usize = 250;
const KEY_MAX: usize = 255;
const VALUE_MAX: usize = 8_192;

const CODES_MAX: usize = 250;
const CODE_MAX: usize = 255;

/// Data about the buyer. `None` leaves the old value unchanged.
#[derive(Debug, Clone, Default)]
pub(crate) struct BuyerInput {
    pub(crate) country: Option<String>,
    pub(crate) email: Option<String>,
    pub(crate) phone: Option<String>,
    /// Number and e-mail address of the token's customer, or `Err` for an invalid token.
    pub(crate) customer: Option<Result<(u64, String), ()>>,
}

/// Refuses too many or too long attributes.
pub(super) fn checked_attributes(attributes: &[Attribute], field: &[&str]) -> Result<(), CartRefusal> {
    let too_many = attributes.len() > ATTRIBUTES_MAX;
    let too_long = attributes
        .iter()
        .any(|one| one.key.chars().count() > KEY_MAX || one.value.chars().count() > VALUE_MAX);
    if too_many || too_long {
        let message = "The attributes are too many or too long.";
        return Err(CartRefusal::whole(Refusal::new("INVALID", field, message)));
    }
    Ok(())
}

/// Merges attributes with the same key. The last value takes the first position.
fn merged(attributes: Vec<Attribute>) -> Vec<Attribute> {
    let mut merged: Vec<Attribute> = Vec::with_capacity(attributes.len());
    for one in attributes {
        match merged.iter_mut().find(|known| known.key == one.key) {
            Some(known) => known.value = one.value,
            None => merged.push(one),
        }
    }
    merged
}

impl Cart {
    pub(crate) fn set_note(&mut self, note: &str, field: &[&str]) -> Result<(), CartRefusal> {
        if note.chars().count() > NOTE_MAX {
            let message = format!("The note exceeds the maximum number of {NOTE_MAX} characters.");
            return Err(CartRefusal::whole(Refusal::new("NOTE_TOO_LONG", field, message)));
        }
        note.clone_into(&mut self.note);
        Ok(())
    }

    pub(crate) fn set_attributes(&mut self, attributes: Vec<Attribute>, field: &[&str]) -> Result<(), CartRefusal> {
        checked_attributes(&attributes, field)?;
        self.attributes = merged(attributes);
        Ok(())
    }

    /// Replaces the codes. An unknown code is no error here, because the bill of the cart shows which codes apply.
    pub(crate) fn set_codes(&mut self, codes: impl IntoIterator<Item = String>) {
        let mut seen = std::collections::HashSet::new();
        let kept = codes.into_iter().filter(|code| {
            let is_code = !code.trim().is_empty() && code.chars().count() <= CODE_MAX;
            is_code && seen.insert(folded(code))
        });
        self.codes = kept.take(CODES_MAX).collect();
    }

    pub(crate) fn set_buyer(&mut self, input: BuyerInput, field: &[&str]) -> Result<(), CartRefusal> {
        let beside = |name: &str, message: &str| {
            let mut at = field.to_vec();
            at.push(name);
            CartRefusal::beside(vec![Refusal::new("INVALID", &at, message)])
        };
        if input.customer == Some(Err(())) {
            return Err(beside("customerAccessToken", "Customer is invalid"));
        }
        if input.email.as_deref().is_some_and(|email| !is_email(email)) {
            return Err(beside("email", "Email is invalid"));
        }
        if input.phone.as_deref().is_some_and(|phone| !is_phone(phone)) {
            return Err(beside("phone", "Phone is invalid"));
        }
        let buyer = &mut self.buyer;
        if let Some(Ok((customer, email))) = input.customer {
            buyer.customer = Some(customer);
            buyer.email.get_or_insert(email);
        }
        buyer.country = input.country.or(buyer.country.take());
        buyer.email = input.email.or(buyer.email.take());
        buyer.phone = input.phone.or(buyer.phone.take());
        Ok(())
    }
}

/// True for a plausible e-mail address: text, one `@`, and a host with a dot.
pub(crate) fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else {
        return false;
    };
    let is_word = |word: &str| !word.is_empty() && !word.contains(|it: char| it.is_whitespace() || it == '@');
    let labels = host.split('.').collect::<Vec<_>>();
    text.len() <= 254 && is_word(name) && is_word(host) && labels.len() > 1 && labels.iter().all(|it| !it.is_empty())
}

fn is_phone(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let others = text.chars().all(|it| it.is_ascii_digit() || " +-().".contains(it));
    (6..=15).contains(&digits) && others
}

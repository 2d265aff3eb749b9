use api::{
    IDEMPOTENCY_KEY, JsonObject, Location, MembersReader, PathParameters, Problem, Rule, Violation, product_ident,
};
use data_model::ErrorCode;
use http::HeaderMap;
use state::EmailAddress;
use url::Url;

use crate::operations::{NewReceiver, NewSubject, NewWatch};
use crate::rules::conditions::Conditions;

const QUERY_CHARS_MAX: usize = 512;
const URL_CHARS_MAX: usize = 2_048;
const KEY_BYTES_MAX: usize = 255;
/// Maximum price in a watch, in minor units.
const PRICE_MINOR_MAX: i64 = 1_000_000_000_000;

const SUBJECT: Rule = Rule::Value("a watch must have either product_id or query");
const RECEIVER: Rule = Rule::Value("a watch must have either a webhook or an email");
const OF_PRODUCT: Rule = Rule::Value("only a watch of a product may have this field");
const NO_CONDITION: Rule =
    Rule::Value("a watch of a product needs at least one of price_below, discount_at_least and back_in_stock");

/// Fields for watches of products only.
const OF_PRODUCTS: [&str; 4] = ["variant_id", "price_below", "discount_at_least", "back_in_stock"];

/// Parses the watch to create from a request body.
///
/// # Errors
/// Returns a 422 that lists all faults.
pub(super) fn new_watch(body: &JsonObject) -> Result<NewWatch, Problem> {
    let mut reader = MembersReader::new(body);
    let ident = reader.optional("product_id").parsed(product_ident);
    let variant = reader.optional("variant_id").parsed(|text| {
        let is_id = text.len() <= 19 && text.bytes().all(|byte| byte.is_ascii_digit());
        let id = text.parse::<u64>().ok().filter(|_| is_id);
        id.ok_or(Rule::StringPatternMismatch("^[0-9]{1,19}$"))
    });
    let query = reader.optional("query").text(QUERY_CHARS_MAX);
    let query = query
        .map(|query| query.trim().to_owned())
        .filter(|query| !query.is_empty());
    let price_below = reader.optional("price_below").minor(1..=PRICE_MINOR_MAX);
    let discount_at_least = reader.optional("discount_at_least").integer(1..=99);
    let back_in_stock = reader.optional("back_in_stock").boolean().unwrap_or(false);
    let webhook = reader.optional("webhook");
    let url = webhook
        .object(|webhook| webhook.required("url").parsed(address))
        .flatten();
    let email = reader.optional("email").parsed(mailbox);
    let given = |name: &str| body.0.get(name).is_some_and(|value| !value.is_null());
    if given("webhook") == given("email") {
        reader.refuse("webhook", &RECEIVER, None);
    }
    match (given("product_id"), query.is_some()) {
        (true, true) | (false, false) => reader.refuse("product_id", &SUBJECT, None),
        (true, false) => {
            let waits = OF_PRODUCTS[1..3].iter().any(|name| given(name)) || back_in_stock;
            if !waits && !reader.refused("back_in_stock") {
                reader.refuse("price_below", &NO_CONDITION, None);
            }
        }
        (false, true) => {
            for name in OF_PRODUCTS.into_iter().filter(|name| given(name)) {
                reader.refuse(name, &OF_PRODUCT, None);
            }
        }
    }
    let conditions = Conditions {
        price_below,
        currency: None,
        discount_at_least,
        back_in_stock,
        new_match: query.is_some(),
    };
    let subject = match (ident, query) {
        (Some(ident), _) => Some(NewSubject::Product { ident, variant }),
        (None, Some(query)) => Some(NewSubject::Query(query)),
        (None, None) => None,
    };
    let receiver = url.map(NewReceiver::WebhookUrl).or(email.map(NewReceiver::Email));
    let read = reader.finish(subject.zip(receiver))?;
    let (subject, receiver) = read.ok_or_else(|| Problem::new(ErrorCode::Internal))?;
    Ok(NewWatch {
        subject,
        conditions,
        receiver,
    })
}

fn mailbox(text: &str) -> Result<String, Rule> {
    let address = text.parse::<EmailAddress>();
    let address = address.map_err(|_| Rule::Value("not an e-mail address such as asha@mail.example"))?;
    Ok(address.expose().to_owned())
}

fn address(text: &str) -> Result<Url, Rule> {
    if text.chars().count() > URL_CHARS_MAX {
        return Err(Rule::StringTooLong(URL_CHARS_MAX));
    }
    Url::parse(text).map_err(|_| Rule::Value("not an absolute URL"))
}

pub(super) fn paused(body: &JsonObject) -> Result<bool, Problem> {
    let mut reader = MembersReader::new(body);
    let paused = reader.required("paused").boolean();
    let paused = reader.finish(paused)?;
    paused.ok_or_else(|| Problem::new(ErrorCode::Internal))
}

/// Reads the watch id in the path. A malformed id is treated as the id of an unknown watch.
pub(super) fn watch_id(path: PathParameters) -> Result<String, Problem> {
    let id = path.text("watch_id").map(str::to_owned);
    let id = api::QueryReader::new(None).finish(path, id)?;
    id.ok_or_else(|| Problem::new(ErrorCode::Internal))
}

fn place_of_key() -> Vec<Location> {
    vec!["header".into(), "Idempotency-Key".into()]
}

pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).into_iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let is_shown = |byte: &u8| (0x20..0x7f).contains(byte);
    let bytes = value.as_bytes();
    let is_key = (1..=KEY_BYTES_MAX).contains(&bytes.len()) && bytes.iter().all(is_shown) && values.next().is_none();
    if !is_key {
        let rule = Rule::Value("send one idempotency key of 1 to 255 printable ASCII characters");
        return Err(Problem::invalid(vec![Violation::new(place_of_key(), &rule, None)]));
    }
    Ok(Some(String::from_utf8_lossy(bytes).into_owned()))
}

pub(super) fn refused_key(words: String) -> Problem {
    Problem::refused_at(ErrorCode::IdempotencyMismatch, place_of_key(), words)
}

pub(super) fn refused_url(words: String) -> Problem {
    let place = vec!["body".into(), "webhook".into(), "url".into()];
    Problem::refused_at(ErrorCode::Validation, place, words)
}

pub(super) fn refused_email(words: String) -> Problem {
    Problem::refused_at(ErrorCode::Validation, vec!["body".into(), "email".into()], words)
}

pub(super) fn refused_watch(words: String) -> Problem {
    Problem::refused_at(ErrorCode::Validation, vec!["path".into(), "watch_id".into()], words)
}

pub(super) fn refused_variant() -> Problem {
    let rule = Rule::Value("the product has no such variant");
    Problem::invalid(vec![Violation::new(
        vec!["body".into(), "variant_id".into()],
        &rule,
        None,
    )])
}

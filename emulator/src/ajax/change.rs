//! Requests that change the cart of a session.

use serde_json::{Map, Value, json};

use super::session::{Session, key_of, named, posted_form};
use super::view::{changed, line};
use super::{bad_request, cart_error, written};
use crate::ask::Ask;
use crate::cart::{Attribute, Cart, CartRefusal, Line, LineInput, Notice};
use crate::cart_service::{BillLine, CartOutcome, CartService};
use crate::reply::Reply;

/// Maximum number of lines that one call adds.
const ADDED_MAX: usize = 250;

/// Returns the posted body as a JSON object. A form is converted to JSON.
fn posted(ask: &Ask) -> Option<Map<String, Value>> {
    if ask.is_json() {
        return serde_json::from_slice(&ask.body).ok();
    }
    let form = posted_form(ask);
    let mut members = Map::new();
    for name in ["properties", "attributes", "updates"] {
        let inner = named(&form, name).map(|field| (field.name, field.value.into()));
        let inner: Map<String, Value> = inner.collect();
        if !inner.is_empty() {
            members.insert(name.to_owned(), inner.into());
        }
    }
    let listed: Vec<Value> = form
        .iter()
        .filter(|field| field.name == "updates[]")
        .map(|field| field.value.as_str().into())
        .collect();
    if !listed.is_empty() {
        members.insert("updates".to_owned(), listed.into());
    }
    let plain = form.into_iter().filter(|field| !field.name.contains('['));
    members.extend(plain.map(|field| (field.name, field.value.into())));
    Some(members)
}

/// Reads a whole number from a JSON number or string.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn attributes(value: Option<&Value>) -> Vec<Attribute> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let members = value.and_then(Value::as_object).into_iter().flatten();
    let attribute = |(key, value): (&String, &Value)| Attribute {
        key: key.clone(),
        value: text(value),
    };
    members.map(attribute).collect()
}

fn input(item: &Map<String, Value>) -> Option<LineInput> {
    let variant = u64::try_from(number(item.get("id")?)?).ok();
    Some(LineInput {
        merchandise: variant.map_or_else(String::new, |id| id.to_string()),
        variant,
        quantity: item.get("quantity").map_or(Some(1), number)?,
        attributes: attributes(item.get("properties")),
        selling_plan: item.get("selling_plan").is_some_and(|plan| !plan.is_null()),
    })
}

/// Changes the session's cart, which is created if the session has none.
fn changes(
    service: &CartService<'_>,
    session: &Session,
    change: impl FnOnce(&mut Cart, &CartService<'_>) -> Result<Vec<Notice>, CartRefusal>,
) -> CartOutcome {
    let entered = |cart: &mut Cart, service: &CartService<'_>| {
        session.enter(cart);
        change(cart, service)
    };
    match session.cart(service) {
        Some(_) => service.change(session.access(), entered),
        None => service.create(None, entered),
    }
}

/// Handles `/cart/add.js`. Units that are out of stock cause an error, but the available units are added.
pub(super) fn add(service: &CartService<'_>, session: &Session, ask: &Ask) -> Reply {
    let Some(posted) = posted(ask) else {
        return bad_request("the body is no JSON object and no form");
    };
    let is_list = posted.contains_key("items");
    let items: Vec<Map<String, Value>> = match posted.get("items") {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_object).cloned().collect(),
        Some(_) => return bad_request("items is no list"),
        None => vec![posted],
    };
    let inputs: Option<Vec<LineInput>> = items.iter().map(input).collect();
    let Some(inputs) = inputs.filter(|inputs| !inputs.is_empty() && inputs.len() <= ADDED_MAX) else {
        return bad_request("Required parameter missing or invalid: items");
    };
    for input in &inputs {
        let offer = input.variant.and_then(|variant| service.offers.find(variant));
        match offer {
            None => return cart_error(404, "Cannot find variant"),
            Some(offer) if offer.most() == Some(0) => {
                return cart_error(422, &format!("The product '{}' is already sold out.", offer.name()));
            }
            Some(_) => {}
        }
    }
    let before = session.cart(service).map_or(0, |cart| pieces(&cart));
    let served = changes(service, session, |cart, service| {
        cart.add_lines(&inputs, &["items"], &service.offers)
    });
    let Some((cart, bill)) = served.cart else {
        let message = served
            .errors
            .first()
            .map_or("Cart Error", |error| error.message.as_str());
        return cart_error(422, message);
    };
    let asked: i64 = inputs.iter().map(|input| input.quantity).sum();
    let added = pieces(&cart).saturating_sub(before);
    let mut reply = if added < u64::try_from(asked).unwrap_or(0) {
        let short = if added == 0 {
            "The maximum quantity of this item is already in your cart.".to_owned()
        } else {
            let (items, were) = if added == 1 { ("item", "was") } else { ("items", "were") };
            format!("Only {added} {items} {were} added to your cart due to availability.")
        };
        cart_error(422, &short)
    } else {
        let wanted = |input: &LineInput| {
            let is_it =
                |at: &BillLine| Some(at.line.variant) == input.variant && at.line.attributes == input.attributes;
            bill.lines.iter().position(is_it)
        };
        let mut lines = inputs.iter().filter_map(wanted).map(|nth| line(service, &bill, nth));
        let told = if is_list {
            json!({ "items": lines.collect::<Vec<_>>() })
        } else {
            lines.next().unwrap_or_default()
        };
        written(200, &told)
    };
    reply.cookies.push(cart.cookie());
    reply
}

fn pieces(cart: &Cart) -> u64 {
    cart.lines.iter().map(|line| line.quantity).sum()
}

/// Returns the index of the requested line in the cart. The request names the line by key, by variant, or by its
/// displayed position from 1.
fn place(cart: &Cart, posted: &Map<String, Value>) -> Option<usize> {
    if let Some(line) = posted.get("line").and_then(number) {
        let shown = usize::try_from(line).ok()?.checked_sub(1)?;
        return cart.lines.len().checked_sub(shown + 1);
    }
    let id = posted.get("id")?;
    let wanted = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let is_it = |line: &Line| key_of(line.variant, &line.attributes) == wanted || line.variant.to_string() == wanted;
    cart.lines.iter().position(is_it)
}

/// Handles `/cart/change.js`, which changes one line.
pub(super) fn change(service: &CartService<'_>, session: &Session, ask: &Ask) -> Reply {
    const MISSING: &str = "no valid id or line parameter";
    let Some((posted, known)) = posted(ask).zip(session.cart(service)) else {
        return bad_request(MISSING);
    };
    let Some(found) = place(&known, &posted) else {
        return bad_request(MISSING);
    };
    let quantity = match posted.get("quantity").map(number) {
        Some(Some(quantity)) => u64::try_from(quantity).ok(),
        Some(None) => return bad_request("quantity is no number"),
        None => None,
    };
    let id = known.lines[found].id;
    let served = changes(service, session, |cart, service| {
        if let Some(line) = cart.lines.iter_mut().find(|line| line.id == id) {
            line.quantity = quantity.unwrap_or(line.quantity);
            if posted.contains_key("properties") {
                line.attributes = attributes(posted.get("properties"));
            }
        }
        if quantity == Some(0) {
            cart.lines.retain(|line| line.id != id);
        }
        Ok(cart.fit(&[id], &service.offers))
    });
    let capped = served.notices.iter().find(|notice| notice.line == Some(id));
    match (&served.cart, capped) {
        (Some((cart, _)), Some(notice)) => Reply {
            cookies: vec![cart.cookie()],
            ..cart_error(422, &notice.message)
        },
        (Some((cart, bill)), None) => changed(service, cart, bill),
        (None, _) => cart_error(422, "Cart Error"),
    }
}

/// Handles `/cart/update.js`: many lines, note, attributes and codes. The stock is not checked again.
pub(super) fn update(service: &CartService<'_>, session: &Session, ask: &Ask) -> Reply {
    let Some(posted) = posted(ask) else {
        return bad_request("the body is no JSON object and no form");
    };
    let known = session.cart(service).unwrap_or_else(|| service.fresh(None));
    let updates: Vec<(String, Option<i64>)> = match posted.get("updates") {
        Some(Value::Object(members)) => members
            .iter()
            .map(|(key, value)| (key.clone(), number(value)))
            .collect(),
        Some(Value::Array(listed)) => {
            let shown = known.lines.iter().rev();
            let keys = shown.map(|line| key_of(line.variant, &line.attributes));
            keys.zip(listed.iter().map(number)).collect()
        }
        _ => Vec::new(),
    };
    let mut wanted = Vec::new();
    for (key, quantity) in updates {
        let mut lines = known.lines.iter();
        let found = lines.find(|line| key_of(line.variant, &line.attributes) == key || line.variant.to_string() == key);
        match (found, quantity.and_then(|quantity| u64::try_from(quantity).ok())) {
            (Some(line), Some(quantity)) => wanted.push((line.id, quantity.min(1_000_000))),
            (_, None) => return bad_request("updates holds what is no quantity"),
            (None, _) => return cart_error(404, "Cannot find variant"),
        }
    }
    let change = |cart: &mut Cart, _: &CartService<'_>| {
        for (id, quantity) in &wanted {
            if let Some(line) = cart.lines.iter_mut().find(|line| line.id == *id) {
                line.quantity = *quantity;
            }
        }
        let removed = |line: &Line| wanted.iter().any(|(id, pieces)| *id == line.id && *pieces == 0);
        cart.lines.retain(|line| !removed(line));
        if let Some(note) = posted.get("note").and_then(Value::as_str) {
            cart.set_note(note, &["note"])?;
        }
        if posted.contains_key("attributes") {
            let given = attributes(posted.get("attributes"));
            let both = cart.attributes.iter().cloned().chain(given);
            cart.set_attributes(both.collect(), &["attributes"])?;
        }
        if let Some(codes) = posted.get("discount").and_then(Value::as_str) {
            cart.set_codes(codes.split(',').map(|code| code.trim().to_owned()));
        }
        Ok(Vec::new())
    };
    let known = session.cart(service).and(session.access());
    let served = service.update(known, |cart, service| {
        session.enter(cart);
        change(cart, service)
    });
    match served.cart {
        Some((cart, bill)) => changed(service, &cart, &bill),
        None => cart_error(
            422,
            served
                .errors
                .first()
                .map_or("Cart Error", |error| error.message.as_str()),
        ),
    }
}

/// Handles `/cart/clear.js`, which removes the lines but neither the note nor the attributes.
pub(super) fn clear(service: &CartService<'_>, session: &Session) -> Reply {
    let served = changes(service, session, |cart, _| {
        cart.lines.clear();
        Ok(Vec::new())
    });
    match served.cart {
        Some((cart, bill)) => changed(service, &cart, &bill),
        None => cart_error(422, "Cart Error"),
    }
}

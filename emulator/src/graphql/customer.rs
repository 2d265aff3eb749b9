//! Customers with e-mail address and password, as in stores with classic accounts. A store with newer accounts has no
//! passwords, and nobody can log in here; `shop.customerAccountUrl` states where to log in.

use apollo_compiler::resolvers::FieldError;
use serde_json::{Value, json};

use super::args::Args;
use super::cart_input::object;
use super::gid::gid;
use super::scope::denied;
use super::text::moment;
use super::view::View;
use crate::cart::is_email;
use crate::customers::{Customer, CustomerState, NewCustomer};
use crate::shop::lock;

const WRITE: &str = "unauthenticated_write_customers";

/// End of a message about a limit.
pub(super) const EXCEEDED: &str = "imit exceeded. Please try again later.";

fn error(message: String) -> FieldError {
    FieldError { message }
}

/// Returns the response to a customer mutation, or `None` for another mutation.
pub(super) fn mutate(view: &View<'_>, name: &str, args: Args<'_>) -> Option<Result<Value, FieldError>> {
    let payload: fn(&View<'_>, Args<'_>) -> Result<Value, FieldError> = match name {
        "customerCreate" => create,
        "customerAccessTokenCreate" => log_in,
        "customerAccessTokenRenew" => renew,
        "customerAccessTokenDelete" => log_out,
        "customerRecover" => recover,
        _ => return None,
    };
    if !view.scopes.has_token {
        return Some(Err(error(denied(name, WRITE))));
    }
    if view.lie.customers_throttled {
        let what = match name {
            "customerCreate" => "Creating Customer L",
            "customerRecover" => "Resetting password l",
            _ => "Login attempt l",
        };
        return Some(Err(error(format!("{what}{EXCEEDED}"))));
    }
    Some(payload(view, args))
}

pub(super) fn read(view: &View<'_>, token: &str) -> Result<Value, FieldError> {
    if !view.scopes.has_token {
        return Err(error(denied("customer", "unauthenticated_read_customers")));
    }
    let customers = lock(&view.shop.customers);
    let customer = customers.of_token(token, view.shop.clock.now());
    Ok(customer.map_or(Value::Null, value))
}

pub(super) fn value_of(view: &View<'_>, id: u64) -> Option<Value> {
    lock(&view.shop.customers).by_id(id).map(value)
}

fn value(customer: &Customer) -> Value {
    let names = [&customer.first_name, &customer.last_name];
    let names: Vec<&str> = names.into_iter().filter_map(|name| name.as_deref()).collect();
    let display_name = if names.is_empty() {
        customer.email.clone()
    } else {
        names.join(" ")
    };
    let moment = moment(customer.created_at);
    json!({
        "id": gid("Customer", customer.id),
        "email": customer.email,
        "firstName": customer.first_name,
        "lastName": customer.last_name,
        "displayName": display_name,
        "phone": customer.phone,
        "acceptsMarketing": customer.accepts_marketing,
        "createdAt": moment,
        "updatedAt": moment,
        "numberOfOrders": "0",
        "tags": [],
        "defaultAddress": null,
        "addresses": {
            "nodes": [],
            "edges": [],
            "pageInfo": { "hasNextPage": false, "hasPreviousPage": false, "startCursor": null, "endCursor": null },
        },
    })
}

/// Returns a refusing payload, which lists the error once with a code and once without.
fn refused(shown: &str, code: &str, field: Option<&[&str]>, message: &str) -> Value {
    let coded = json!({ "code": code, "field": field, "message": message });
    json!({
        shown: null,
        "customerUserErrors": [coded],
        "userErrors": [{ "field": field, "message": message }],
    })
}

/// Checks a new customer and returns the code, field and message of an error.
fn fault(new: &NewCustomer<'_>, password: &str) -> Option<(&'static str, &'static str, String)> {
    let has_tags = |text: Option<&str>| text.is_some_and(|text| text.contains('<') && text.contains('>'));
    let has_address = |text: Option<&str>| text.is_some_and(|text| text.contains("://"));
    if !is_email(new.email) {
        return Some(("INVALID", "email", "Email is invalid".to_owned()));
    }
    if password.is_empty() {
        return Some(("BLANK", "password", "Password can't be blank".to_owned()));
    }
    if password.trim() != password {
        let message = "Password cannot start or end with a space";
        return Some((
            "PASSWORD_STARTS_OR_ENDS_WITH_WHITESPACE",
            "password",
            message.to_owned(),
        ));
    }
    match password.chars().count() {
        ..5 => {
            let message = "Password is too short (minimum is 5 characters)";
            return Some(("TOO_SHORT", "password", message.to_owned()));
        }
        41.. => {
            let message = "Password is too long (maximum is 40 characters)";
            return Some(("TOO_LONG", "password", message.to_owned()));
        }
        _ => {}
    }
    let names = [
        ("firstName", "First name", new.first_name),
        ("lastName", "Last name", new.last_name),
    ];
    names.into_iter().find_map(|(field, name, text)| {
        if has_tags(text) {
            return Some(("CONTAINS_HTML_TAGS", field, format!("{name} cannot contain HTML tags")));
        }
        if has_address(text) {
            return Some(("CONTAINS_URL", field, format!("{name} cannot contain URL")));
        }
        let is_long = text.is_some_and(|text| text.chars().count() > 255);
        is_long.then(|| {
            (
                "TOO_LONG",
                field,
                format!("{name} is too long (maximum is 255 characters)"),
            )
        })
    })
}

fn create(view: &View<'_>, args: Args<'_>) -> Result<Value, FieldError> {
    let Some(given) = object(args, "input") else {
        return Ok(Value::Null);
    };
    let password = given.text("password").unwrap_or_default();
    let mut new = NewCustomer {
        email: given.text("email").unwrap_or_default(),
        password: Some(password),
        first_name: given.text("firstName"),
        last_name: given.text("lastName"),
        phone: given.text("phone"),
        accepts_marketing: given.flag("acceptsMarketing").unwrap_or(false),
        state: CustomerState::Enabled,
    };
    if let Some((code, field, message)) = fault(&new, password) {
        return Ok(refused("customer", code, Some(&["input", field]), &message));
    }
    let verify = format!(
        "We have sent an email to {}, please click the link included to verify your email address.",
        new.email
    );
    let has_passwords = view.shop.has_passwords();
    let now = view.shop.clock.now();
    let mut customers = lock(&view.shop.customers);
    match customers.find(new.email).map(|known| known.state) {
        Some(CustomerState::Invited) => {
            return Ok(refused(
                "customer",
                "CUSTOMER_DISABLED",
                Some(&["input", "email"]),
                &verify,
            ));
        }
        Some(_) => {
            let message = "Email has already been taken";
            return Ok(refused("customer", "TAKEN", Some(&["input", "email"]), message));
        }
        None => {}
    }
    if !has_passwords {
        new.password = None;
        new.state = CustomerState::Invited;
    }
    let customer = customers
        .put(&new, now)
        .ok_or_else(|| error(format!("Creating Customer L{EXCEEDED}")))?;
    if !has_passwords {
        return Ok(refused(
            "customer",
            "CUSTOMER_DISABLED",
            Some(&["input", "email"]),
            &verify,
        ));
    }
    Ok(json!({ "customer": value(customer), "customerUserErrors": [], "userErrors": [] }))
}

fn log_in(view: &View<'_>, args: Args<'_>) -> Result<Value, FieldError> {
    let given = object(args, "input");
    let text = |name: &str| given.and_then(|given| given.text(name)).unwrap_or_default();
    let now = view.shop.clock.now();
    let token = if view.shop.has_passwords() {
        lock(&view.shop.customers).log_in(text("email"), text("password"), now)
    } else {
        None
    };
    Ok(match token {
        Some((token, expires_at)) => json!({
            "customerAccessToken": { "accessToken": token, "expiresAt": moment(expires_at) },
            "customerUserErrors": [],
            "userErrors": [],
        }),
        // The platform gives the same response for a wrong password, an unknown customer and a disabled customer.
        None => refused(
            "customerAccessToken",
            "UNIDENTIFIED_CUSTOMER",
            None,
            "Unidentified customer",
        ),
    })
}

fn no_token(name: &str) -> FieldError {
    error(format!(
        "{} Also: Requires valid customer access token.",
        denied(name, WRITE)
    ))
}

fn renew(view: &View<'_>, args: Args<'_>) -> Result<Value, FieldError> {
    let token = args.text("customerAccessToken").unwrap_or_default();
    let until = lock(&view.shop.customers).renew(token, view.shop.clock.now());
    let until = until.ok_or_else(|| no_token("customerAccessTokenRenew"))?;
    Ok(json!({
        "customerAccessToken": { "accessToken": token, "expiresAt": moment(until) },
        "userErrors": [],
    }))
}

fn log_out(view: &View<'_>, args: Args<'_>) -> Result<Value, FieldError> {
    let token = args.text("customerAccessToken").unwrap_or_default();
    let number = lock(&view.shop.customers).forget(token, view.shop.clock.now());
    let number = number.ok_or_else(|| no_token("customerAccessTokenDelete"))?;
    Ok(json!({
        "deletedAccessToken": token,
        "deletedCustomerAccessTokenId": gid("CustomerAccessToken", number),
        "userErrors": [],
    }))
}

/// Handles a password recovery. An emulated store sends no mail, but shows that the platform reveals who has an
/// account.
fn recover(view: &View<'_>, args: Args<'_>) -> Result<Value, FieldError> {
    let email = args.text("email").unwrap_or_default();
    let is_known = lock(&view.shop.customers).find(email).is_some();
    if is_known {
        return Ok(json!({ "customerUserErrors": [], "userErrors": [] }));
    }
    let (field, message) = (["email"], "Could not find customer");
    Ok(json!({
        "customerUserErrors": [{ "code": "UNIDENTIFIED_CUSTOMER", "field": field, "message": message }],
        "userErrors": [{ "field": field, "message": message }],
    }))
}

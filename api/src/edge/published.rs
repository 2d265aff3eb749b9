//! Additions to the interface description when it is published: the edge's own responses, and texts of sections.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::schema::ArrayItems;
use utoipa::openapi::tag::{Tag, TagBuilder};
use utoipa::openapi::{OpenApi, RefOr, Required, Schema, SecurityRequirement};

use super::routes::COUNTED;
use crate::access::{Operations, RouteAccess};
use crate::openapi::problem;

/// Sections of the interface with their texts, in the order for a new user.
const SECTIONS: [(&str, &str); 9] = [
    (
        "Discovery",
        "Finds products: search, suggestions, categories, brands and recommendations.",
    ),
    (
        "Products",
        "Returns one product as stored: details, reviews and price history.",
    ),
    ("Live", "Asks a store for its current prices, stock and discount codes."),
    (
        "Cart",
        "Manages one cart over several stores. These operations need a key or a session.",
    ),
    (
        "Checkout",
        "Turns a cart into links to each store's own checkout, where a person pays.",
    ),
    ("Account", "Registers a shopper at a store or logs the shopper in."),
    (
        "Agents",
        "Endpoints for shopping agents: the Model Context Protocol and the Universal Commerce Protocol.",
    ),
    (
        "Platform",
        "Plans, rate limits, the caller's identity, and totals of the market.",
    ),
    ("Operations", "Health checks for the operator of the server."),
];

/// Adds the credentials and refusals of each operation, and the section texts. Returns the methods of each pattern that
/// need a key or a session.
pub(super) fn complete(document: &mut OpenApi, keyed: &Operations) -> BTreeMap<String, RouteAccess> {
    let mut access = BTreeMap::new();
    let mut used = BTreeSet::new();
    for (pattern, item) in &mut document.paths.paths {
        let operations = [
            (Method::GET, &mut item.get),
            (Method::POST, &mut item.post),
            (Method::PUT, &mut item.put),
            (Method::PATCH, &mut item.patch),
            (Method::DELETE, &mut item.delete),
        ];
        let mut methods = Vec::new();
        for (method, operation) in operations {
            let Some(operation) = operation else { continue };
            let is_keyed = operation.operation_id.as_ref().is_some_and(|id| keyed.contains(id));
            operation.security = Some(credentials(is_keyed));
            complete_parameters(operation);
            used.extend(operation.tags.iter().flatten().cloned());
            add_refusals(
                operation,
                pattern.starts_with(COUNTED) && (is_keyed || !method.is_safe()),
            );
            methods.extend(is_keyed.then_some(method));
        }
        access.insert(
            pattern.clone(),
            RouteAccess {
                keyed: methods,
                ..RouteAccess::default()
            },
        );
    }
    document.tags = Some(sections(&used));
    access
}

/// Copies the descriptions of parameters from their schemas. An optional query parameter may be empty, because an empty
/// value counts as absent.
fn complete_parameters(operation: &mut Operation) {
    for parameter in operation.parameters.iter_mut().flatten() {
        let RefOr::T(parameter) = parameter else { continue };
        let is_optional = parameter.parameter_in == ParameterIn::Query && parameter.required == Required::False;
        if is_optional && !lists_any_text(parameter.schema.as_ref()) {
            // The library has no name for this field of OpenAPI.
            let fields = parameter.extensions.get_or_insert_default();
            fields.insert("allowEmptyValue".to_owned(), true.into());
        }
        if let (None, Some(RefOr::T(schema))) = (&parameter.description, &mut parameter.schema) {
            parameter.description = match schema {
                Schema::Object(schema) => schema.description.take(),
                Schema::Array(schema) => schema.description.take(),
                _ => None,
            };
        }
    }
}

/// True for the schema of a list in which an empty text is a valid entry.
fn lists_any_text(schema: Option<&RefOr<Schema>>) -> bool {
    let Some(RefOr::T(Schema::Array(list))) = schema else {
        return false;
    };
    let ArrayItems::RefOrSchema(entry) = &list.items else {
        return false;
    };
    matches!(&**entry, RefOr::T(Schema::Object(entry)) if entry.enum_values.is_none())
}

fn sections(used: &BTreeSet<String>) -> Vec<Tag> {
    let known = SECTIONS.iter().filter(|(name, _)| used.contains(*name));
    known
        .map(|(name, about)| TagBuilder::new().name(*name).description(Some(*about)).build())
        .collect()
}

/// Returns the accepted credentials of an operation: either key header or the session. Credentials are optional if
/// everybody may call the operation.
fn credentials(is_keyed: bool) -> Vec<SecurityRequirement> {
    let one = |name: &str| SecurityRequirement::new(name, Vec::<String>::new());
    let credentials = vec![one("ServiceKey"), one("Bearer"), one("Session")];
    if is_keyed {
        return credentials;
    }
    [vec![SecurityRequirement::default()], credentials].concat()
}

/// Adds the responses to refused requests. Every operation refuses an invalid key. Operations that accept sessions also
/// refuse pages of other sites.
fn add_refusals(operation: &mut Operation, takes_sessions: bool) {
    let mut add = |status: &str, description: &str| {
        let responses = &mut operation.responses.responses;
        let response = || RefOr::T(problem(description).build());
        responses.entry(status.to_owned()).or_insert_with(response);
    };
    add("401", "The key of the request is not valid.");
    if takes_sessions {
        add(
            "403",
            "The request carries a session of this site but does not come from one of its pages.",
        );
    }
}

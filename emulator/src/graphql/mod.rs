//! Storefront API over the same records as the JSON views, and over the carts and customers of the store.
//!
//! A request goes through the platform's steps in order: version, syntax and schema validation, variables, sizes,
//! complexity, execution. A library parses, validates and executes queries (docs/adr/012). This module has the
//! platform's own rules, such as the cost of a query and the text of its errors.

mod args;
mod cart_input;
mod cart_node;
mod cart_value;
mod collection;
mod connection;
mod cost;
mod customer;
mod errors;
mod fixed;
mod gid;
mod money;
mod mutation;
mod node;
mod paging;
mod product;
mod query;
mod refusal;
mod request;
mod scope;
mod search;
mod shop;
mod sort;
mod text;
mod variant;
mod version;
mod view;

use std::sync::OnceLock;

use apollo_compiler::Schema;
use apollo_compiler::resolvers::Execution;
use apollo_compiler::response::JsonMap;
use apollo_compiler::validation::Valid;
use serde_json::{Map, Value, json};

pub(crate) use refusal::{broken, cart_error, half_broken, locked, throttled};

use crate::answer::{Twist, not_found};
use crate::ask::Ask;
use crate::fault::Mischief;
use crate::reply::Reply;
use crate::shop::Shop;
use request::Request;
use scope::Scopes;
use view::{Audience, View};

const SDL: &str = concat!(
    include_str!("schema.graphql"),
    include_str!("cart.graphql"),
    include_str!("mutation.graphql"),
    include_str!("customer.graphql"),
    include_str!("codes.graphql")
);

/// Returns the schema, or `None` if it is invalid, which a test rules out.
fn schema() -> Option<&'static Valid<Schema>> {
    static SCHEMA: OnceLock<Option<Valid<Schema>>> = OnceLock::new();
    SCHEMA
        .get_or_init(|| {
            let parsed = Schema::parse_and_validate(SDL, "schema.graphql");
            parsed
                .inspect_err(|error| tracing::error!(%error, "the emulator's schema is not valid"))
                .ok()
        })
        .as_ref()
}

/// Returns the store's response to a query.
pub(crate) fn answer(shop: &Shop, ask: &Ask, twist: &Twist) -> Reply {
    let Some(version) = version::of(&ask.path) else {
        return not_found(shop);
    };
    let reply = match Scopes::of(shop, ask.token.as_deref()) {
        Some(scopes) => respond(shop, ask, twist, scopes),
        None => refusal::unauthorized(),
    };
    Reply {
        api_version: Some(version),
        ..reply
    }
}

fn respond(shop: &Shop, ask: &Ask, twist: &Twist, scopes: Scopes) -> Reply {
    let Some(schema) = schema() else {
        return refusal::broken();
    };
    let request = match Request::read(schema, ask) {
        Ok(request) => request,
        Err(refused) => return refused.into_reply(),
    };
    let Some(operation) = request.operation() else {
        return refusal::broken();
    };
    if let Some(error) = request.oversized(operation) {
        return refusal::errors(vec![error]);
    }
    let cost = cost::of(&request.document, operation, &request.variables);
    if !scopes.has_token && cost > cost::TOKENLESS_MAX {
        return refusal::errors(vec![refusal::too_complex(cost)]);
    }
    let audience = Audience::of(operation, &request.variables);
    let view = View::new(shop, scopes, audience, &twist.lie);
    let execution = Execution::new(schema, &request.document)
        .operation(operation)
        .coerced_variable_values(&request.variables)
        .enable_schema_introspection(true);
    let executed = if operation.is_mutation() {
        execution.execute_sync(&mutation::Mutation::new(&view))
    } else {
        execution.execute_sync(&query::Root::new(&view))
    };
    shop.log().note_calls(
        operation
            .root_fields(&request.document)
            .map(|field| field.name.as_str()),
    );
    let executed = match executed {
        Ok(executed) => executed,
        Err(error) => return refusal::errors(vec![errors::of_request(&error, &request.document)]),
    };
    let errors: Vec<Value> = executed.errors.iter().map(errors::of_field).collect();
    let mut extensions = extensions(&view, cost);
    if let Some(Mischief::Huge { bytes }) = twist.mischief {
        let padding = "x".repeat(usize::try_from(bytes.min(1 << 30)).unwrap_or(1 << 30));
        extensions.insert("padding".to_owned(), padding.into());
    }
    Reply::posted(200, written(errors, executed.data.as_ref(), extensions))
}

fn extensions(view: &View<'_>, cost: u64) -> Map<String, Value> {
    let mut extensions = Map::new();
    if view.audience.is_told {
        extensions.insert(
            "context".to_owned(),
            json!({ "country": view.country(), "language": view.language() }),
        );
    }
    extensions.insert("cost".to_owned(), json!({ "requestedQueryCost": cost }));
    extensions
}

/// Writes the response with its keys in the platform's order: errors, data, extensions.
fn written(errors: Vec<Value>, data: Option<&JsonMap>, extensions: Map<String, Value>) -> String {
    let errors = if errors.is_empty() {
        String::new()
    } else {
        format!("\"errors\":{},", Value::Array(errors))
    };
    let data = serde_json::to_string(&data).unwrap_or_else(|_| "null".to_owned());
    format!(
        "{{{errors}\"data\":{data},\"extensions\":{}}}",
        Value::Object(extensions)
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_is_valid() {
        assert!(super::schema().is_some());
    }
}

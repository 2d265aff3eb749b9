//! What a query costs by the platform's count, before it is executed.
//!
//! Fitted to the costs in recorded answers: a scalar is free, an object costs 1, a mutation 10, and a page of a list costs
//! its items as if there were 4·ln(n) of them, rounded down. Recorded reads cost what is counted here, give or take one;
//! where a query selects both `edges` and `nodes` with objects in them, or pages within pages, the count is too high.

use std::cell::RefCell;
use std::collections::HashMap;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{Field, Operation, Selection, SelectionSet, Value};
use apollo_compiler::response::{JsonMap, JsonValue};

/// The most that a query may cost where the client shows no token.
pub(super) const TOKENLESS_MAX: u64 = 1_000;

/// What a mutation costs before anything is selected of it.
const MUTATION: u64 = 9;

/// Items that a page has where the query does not say.
const PAGE: u64 = 50;

/// The cost of an operation of a valid document.
pub(super) fn of(document: &ExecutableDocument, operation: &Operation, variables: &JsonMap) -> u64 {
    let count = Count {
        document,
        variables,
        fragments: RefCell::default(),
    };
    let extra = if operation.is_mutation() {
        MUTATION * operation.root_fields(document).count() as u64
    } else {
        0
    };
    extra + count.set(&operation.selection_set, None)
}

struct Count<'a> {
    document: &'a ExecutableDocument,
    variables: &'a JsonMap,
    /// Costs of fragments by name and page: counted once, however often fragments of fragments spread them.
    fragments: RefCell<HashMap<(&'a str, Option<u64>), u64>>,
}

impl<'a> Count<'a> {
    /// The cost of a selection; `page` is the number of items where it is one of a connection.
    fn set(&self, set: &'a SelectionSet, page: Option<u64>) -> u64 {
        let costs = set.selections.iter().map(|selection| match selection {
            Selection::Field(field) => self.field(field, page),
            Selection::InlineFragment(fragment) => self.set(&fragment.selection_set, page),
            Selection::FragmentSpread(spread) => self.fragment(&spread.fragment_name, page),
        });
        costs.fold(0, u64::saturating_add)
    }

    fn fragment(&self, name: &'a str, page: Option<u64>) -> u64 {
        if let Some(known) = self.fragments.borrow().get(&(name, page)) {
            return *known;
        }
        let fragment = self.document.fragments.get(name);
        let cost = fragment.map_or(0, |fragment| self.set(&fragment.selection_set, page));
        self.fragments.borrow_mut().insert((name, page), cost);
        cost
    }

    fn field(&self, field: &'a Field, page: Option<u64>) -> u64 {
        if field.selection_set.selections.is_empty() || field.name.starts_with("__") {
            return 0;
        }
        let kind = field.definition.ty.inner_named_type();
        if kind.ends_with("Connection") {
            let items = self.number(field, "first").or_else(|| self.number(field, "last"));
            return self.set(&field.selection_set, Some(items.unwrap_or(PAGE)));
        }
        if let (Some(items), "edges" | "nodes") = (page, field.name.as_str()) {
            // An edge is free: its node is what counts.
            let own = u64::from(field.name != "edges");
            return weight(items).saturating_mul(own.saturating_add(self.set(&field.selection_set, None)));
        }
        let own = self.set(&field.selection_set, None).saturating_add(1);
        match self.ids(field) {
            Some(ids) => ids.saturating_mul(own),
            None => own,
        }
    }

    fn argument(&self, field: &'a Field, name: &str) -> Option<Given<'a>> {
        Some(match field.specified_argument_by_name(name)?.as_ref() {
            Value::Variable(variable) => Given::Variable(self.variables.get(variable.as_str())?),
            literal => Given::Literal(literal),
        })
    }

    fn number(&self, field: &'a Field, name: &str) -> Option<u64> {
        match self.argument(field, name)? {
            Given::Variable(value) => value.as_u64(),
            Given::Literal(literal) => u64::try_from(literal.to_i32()?).ok(),
        }
    }

    /// How many nodes are asked for by id. No recording tells their cost: the strictest count is taken, one by one.
    fn ids(&self, field: &'a Field) -> Option<u64> {
        match self.argument(field, "ids")? {
            Given::Variable(JsonValue::Array(items)) => Some(items.len() as u64),
            Given::Literal(Value::List(items)) => Some(items.len() as u64),
            _ => None,
        }
    }
}

enum Given<'a> {
    Variable(&'a JsonValue),
    Literal(&'a Value),
}

/// As how many items so many count.
fn weight(items: u64) -> u64 {
    if items <= 1 {
        return 1;
    }
    ((items as f64).ln() * 4.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(query: &str) -> u64 {
        let schema = super::super::schema().unwrap();
        let document = ExecutableDocument::parse_and_validate(schema, query, "query.graphql").unwrap();
        let operation = document.operations.get(None).unwrap();
        of(&document, operation, &JsonMap::new())
    }

    #[test]
    fn queries_cost_what_recordings_say() {
        assert_eq!(cost("{ shop { name } }"), 1);
        assert_eq!(
            cost("{ products(first: 5) { nodes { id } pageInfo { hasNextPage } } }"),
            7
        );
        assert_eq!(
            cost("{ collections(first: 3) { nodes { id } pageInfo { hasNextPage } } }"),
            5
        );
        let locations = "pageInfo { endCursor } edges { cursor node { id address { city } } }";
        assert_eq!(cost(&format!("{{ locations(first: 5) {{ {locations} }} }}")), 13);
    }

    #[test]
    fn an_unbounded_query_does_not_overflow() {
        let deep = (0..24).fold("id".to_owned(), |inner, _| {
            format!("collections(first: 250) {{ nodes {{ products(first: 250) {{ nodes {{ {inner} }} }} }} }}")
        });
        assert!(cost(&format!("{{ products(first: 250) {{ nodes {{ {deep} }} }} }}")) > TOKENLESS_MAX);
    }

    #[test]
    fn fragments_of_fragments_are_counted_in_time() {
        let fragments: String = (0..60)
            .map(|nth| {
                format!(
                    "fragment F{nth} on Product {{ ...F{next} ...F{next} }}\n",
                    next = nth + 1
                )
            })
            .collect();
        let last = "fragment F60 on Product { priceRange { minVariantPrice { amount } } }";
        let all = format!("{{ product(handle: \"a\") {{ ...F0 }} }}\n{fragments}{last}");
        assert!(cost(&all) > TOKENLESS_MAX);
    }
}

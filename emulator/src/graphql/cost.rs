//! Cost of a query by the platform's rules, computed before execution.
//!
//! The rules are fitted to the costs in recorded responses. A scalar costs 0, an object 1 and a mutation 10. A page of
//! n items multiplies the cost of its items by 4·ln(n), rounded down. Content below `edges` counts in full. Content
//! below `nodes` counts half, or nothing if `edges` are selected too. A union is free unless its `__typename` is
//! selected, which costs two objects; an interface then costs one more. The computed cost of recorded requests is right
//! within two. A page within a page is computed a tenth too low.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{Field, Operation, Selection, SelectionSet, Value};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::schema::ExtendedType;

/// Maximum cost of a query from a client without a token.
pub(super) const TOKENLESS_MAX: u64 = 1_000;

/// Base cost of a mutation, without its selections.
const MUTATION: u64 = 9;

/// Number of items in a page if the query does not state it.
const PAGE: u64 = 50;

/// Returns the cost of an operation of a valid document.
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
    /// Costs of fragments by name and page. Each cost is computed once, however often nested fragments spread the
    /// fragment.
    fragments: RefCell<HashMap<(&'a str, Option<Page>), u64>>,
}

/// Connection to which a selection belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Page {
    items: u64,
    has_edges: bool,
}

impl<'a> Count<'a> {
    /// Returns the cost of a selection. `page` is set if the selection is part of a connection.
    fn set(&self, set: &'a SelectionSet, page: Option<Page>) -> u64 {
        let costs = set.selections.iter().map(|selection| match selection {
            Selection::Field(field) => self.field(field, page),
            Selection::InlineFragment(fragment) => self.set(&fragment.selection_set, page),
            Selection::FragmentSpread(spread) => self.fragment(&spread.fragment_name, page),
        });
        costs.fold(0, u64::saturating_add)
    }

    fn fragment(&self, name: &'a str, page: Option<Page>) -> u64 {
        if let Some(known) = self.fragments.borrow().get(&(name, page)) {
            return *known;
        }
        let fragment = self.document.fragments.get(name);
        let cost = fragment.map_or(0, |fragment| self.set(&fragment.selection_set, page));
        self.fragments.borrow_mut().insert((name, page), cost);
        cost
    }

    fn field(&self, field: &'a Field, page: Option<Page>) -> u64 {
        if field.selection_set.selections.is_empty() || field.name.starts_with("__") {
            return 0;
        }
        let kind = field.definition.ty.inner_named_type();
        if kind.ends_with("Connection") {
            let items = self.number(field, "first").or_else(|| self.number(field, "last"));
            let page = Page {
                items: items.unwrap_or(PAGE),
                has_edges: self.selects(&field.selection_set, "edges", &mut HashSet::new()),
            };
            return self.set(&field.selection_set, Some(page));
        }
        let nested = self.set(&field.selection_set, None);
        match (page, field.name.as_str()) {
            // An edge itself is free, and its node is counted.
            (Some(page), "edges") => return weight(page.items, 4.0).saturating_mul(nested),
            (Some(page), "nodes") => {
                let often = if page.has_edges {
                    0
                } else if self.has_pages(&field.selection_set, &mut HashSet::new()) {
                    // No recorded response has nested pages below `nodes`, so the higher cost is used.
                    weight(page.items, 4.0)
                } else {
                    weight(page.items, 2.0)
                };
                return weight(page.items, 4.0).saturating_add(nested.saturating_mul(often));
            }
            _ => {}
        }
        match self.ids(field) {
            // No recorded response shows the cost of nodes requested by id in more detail.
            Some(ids) => ids.saturating_mul(nested.saturating_add(1)),
            None => nested.saturating_add(self.object(field)),
        }
    }

    fn object(&self, field: &'a Field) -> u64 {
        let kind = super::schema().and_then(|schema| schema.types.get(field.definition.ty.inner_named_type()));
        let is_union = matches!(kind, Some(ExtendedType::Union(_)));
        if !is_union && !matches!(kind, Some(ExtendedType::Interface(_))) {
            return 1;
        }
        if self.selects(&field.selection_set, "__typename", &mut HashSet::new()) {
            2
        } else {
            u64::from(!is_union)
        }
    }

    /// True if the selection contains another page at any depth.
    fn has_pages(&self, set: &'a SelectionSet, seen: &mut HashSet<&'a str>) -> bool {
        set.selections.iter().any(|selection| match selection {
            Selection::Field(field) => {
                let kind = field.definition.ty.inner_named_type();
                kind.ends_with("Connection") || self.has_pages(&field.selection_set, seen)
            }
            Selection::InlineFragment(fragment) => self.has_pages(&fragment.selection_set, seen),
            Selection::FragmentSpread(spread) => self
                .unseen(&spread.fragment_name, seen)
                .is_some_and(|set| self.has_pages(set, seen)),
        })
    }

    /// True if the selection contains a field, directly or through a fragment.
    fn selects(&self, set: &'a SelectionSet, name: &str, seen: &mut HashSet<&'a str>) -> bool {
        set.selections.iter().any(|selection| match selection {
            Selection::Field(field) => field.name == name,
            Selection::InlineFragment(fragment) => self.selects(&fragment.selection_set, name, seen),
            Selection::FragmentSpread(spread) => self
                .unseen(&spread.fragment_name, seen)
                .is_some_and(|set| self.selects(set, name, seen)),
        })
    }

    /// Returns the selections of a fragment on the first visit.
    fn unseen(&self, name: &'a str, seen: &mut HashSet<&'a str>) -> Option<&'a SelectionSet> {
        let fragment = self.document.fragments.get(name)?;
        seen.insert(name).then_some(&fragment.selection_set)
    }

    fn argument(&self, field: &'a Field, name: &str) -> Option<ArgumentValue<'a>> {
        Some(match field.specified_argument_by_name(name)?.as_ref() {
            Value::Variable(variable) => ArgumentValue::Variable(self.variables.get(variable.as_str())?),
            literal => ArgumentValue::Literal(literal),
        })
    }

    fn number(&self, field: &'a Field, name: &str) -> Option<u64> {
        match self.argument(field, name)? {
            ArgumentValue::Variable(value) => value.as_u64(),
            ArgumentValue::Literal(literal) => u64::try_from(literal.to_i32()?).ok(),
        }
    }

    /// Returns the number of nodes requested by id. No recorded response shows their cost, so each node is counted in
    /// full, which is the strictest choice.
    fn ids(&self, field: &'a Field) -> Option<u64> {
        match self.argument(field, "ids")? {
            ArgumentValue::Variable(JsonValue::Array(items)) => Some(items.len() as u64),
            ArgumentValue::Literal(Value::List(items)) => Some(items.len() as u64),
            _ => None,
        }
    }
}

enum ArgumentValue<'a> {
    Variable(&'a JsonValue),
    Literal(&'a Value),
}

fn weight(items: u64, factor: f64) -> u64 {
    if items <= 1 {
        return 1;
    }
    ((items as f64).ln() * factor) as u64
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
        let lines = "cart { lines(first: 50) { nodes { attributes { key } merchandise { ... on ProductVariant { id } }
            cost { amountPerQuantity { amount } subtotalAmount { amount } totalAmount { amount } } } }
            cost { subtotalAmount { amount } totalAmount { amount } } } userErrors { code } warnings { code }";
        let update = format!("mutation {{ cartLinesUpdate(cartId: \"a\", lines: []) {{ {lines} }} }}");
        assert_eq!(cost(&update), 66);
        let typed = "delivery { addresses { address { __typename ... on CartDeliveryAddress { city } } } }";
        let add = format!(
            "mutation {{ cartDeliveryAddressesAdd(cartId: \"a\", addresses: []) {{ cart {{ {typed} }} userErrors {{ code }} }} }}"
        );
        assert_eq!(cost(&add), 16);
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

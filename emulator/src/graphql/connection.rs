use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use serde_json::{Value, json};

use super::args::Args;
use super::fixed::fixed;
use super::node::Node;
use super::paging::{self, cursor};
use super::view::View;

/// Item of a list before pagination.
#[derive(Debug, Clone)]
pub(super) struct Entry<T> {
    pub(super) id: u64,
    /// Sort key of the item.
    pub(super) value: Value,
    pub(super) item: T,
}

/// Page of a GraphQL connection.
struct Connection<'v, N> {
    view: &'v View<'v>,
    kind: String,
    /// Items of the page with their cursors.
    edges: Vec<(String, N)>,
    info: Value,
    total: usize,
}

/// Returns the page that the field's arguments request. `open` converts an item of the page to a node. Items that
/// cannot be converted are left out.
pub(super) fn connection<'v, T, N: Node + 'v>(
    view: &'v View<'v>,
    info: &ResolveInfo<'_>,
    entries: &[Entry<T>],
    open: impl Fn(&T) -> Option<N>,
) -> Result<ResolvedValue<'v>, FieldError> {
    let ids: Vec<u64> = entries.iter().map(|entry| entry.id).collect();
    let page = paging::cut(&ids, paging::Ask::of(Args::of(info))).map_err(|message| FieldError { message })?;
    let listed = entries.iter().enumerate().take(page.range.end).skip(page.range.start);
    let edges: Vec<(String, N)> = listed
        .filter_map(|(place, entry)| Some((cursor(entry.id, &entry.value, place), open(&entry.item)?)))
        .collect();
    let info_value = json!({
        "hasNextPage": page.has_next,
        "hasPreviousPage": page.has_previous,
        "startCursor": edges.first().map(|(cursor, _)| cursor),
        "endCursor": edges.last().map(|(cursor, _)| cursor),
    });
    Ok(ResolvedValue::object(Connection {
        view,
        kind: info.field_definition().ty.inner_named_type().to_string(),
        edges,
        info: info_value,
        total: entries.len(),
    }))
}

impl<N: Node> ObjectValue for Connection<'_, N> {
    fn type_name(&self) -> &str {
        &self.kind
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        let ty = &info.field_definition().ty;
        Ok(match info.field_name() {
            "nodes" => {
                let nodes = self.edges.iter().map(|(_, node)| node.resolve(self.view, ty));
                ResolvedValue::list(nodes.collect::<Vec<_>>())
            }
            "edges" => {
                let kind = ty.inner_named_type().as_str();
                let edges = self.edges.iter().map(|(cursor, node)| Edge {
                    view: self.view,
                    kind,
                    cursor,
                    node,
                });
                ResolvedValue::list(edges.map(ResolvedValue::object).collect::<Vec<_>>())
            }
            "pageInfo" => fixed(self.view, self.info.clone(), ty),
            "totalCount" => ResolvedValue::leaf(self.total.to_string()),
            _ => return Err(self.unknown_field_error(info)),
        })
    }
}

struct Edge<'v, N> {
    view: &'v View<'v>,
    kind: &'v str,
    cursor: &'v str,
    node: &'v N,
}

impl<N: Node> ObjectValue for Edge<'_, N> {
    fn type_name(&self) -> &str {
        self.kind
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        Ok(match info.field_name() {
            "cursor" => ResolvedValue::leaf(self.cursor),
            "node" => self.node.resolve(self.view, &info.field_definition().ty),
            _ => return Err(self.unknown_field_error(info)),
        })
    }
}

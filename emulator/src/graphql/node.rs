use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::ResolvedValue;
use serde_json::Value;

use super::fixed::fixed;
use super::view::View;

/// An item of a GraphQL list.
pub(super) trait Node {
    /// Returns this node as a value of type `ty`.
    fn resolve<'v>(&self, view: &'v View<'v>, ty: &Type) -> ResolvedValue<'v>;
}

impl Node for Value {
    fn resolve<'v>(&self, view: &'v View<'v>, ty: &Type) -> ResolvedValue<'v> {
        fixed(view, self.clone(), ty)
    }
}

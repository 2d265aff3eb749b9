use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::ResolvedValue;
use serde_json::Value;

use super::fixed::fixed;
use super::view::View;

/// Something that a list holds.
pub(super) trait Node {
    /// The value of a field of this type.
    fn resolve<'v>(&self, view: &'v View<'v>, ty: &Type) -> ResolvedValue<'v>;
}

impl Node for Value {
    fn resolve<'v>(&self, view: &'v View<'v>, ty: &Type) -> ResolvedValue<'v> {
        fixed(view, self.clone(), ty)
    }
}

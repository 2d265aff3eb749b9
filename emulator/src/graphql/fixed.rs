use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use serde_json::{Map, Value};

use super::view::View;

/// Object whose fields are all known before they are requested.
struct FixedObject<'v> {
    view: &'v View<'v>,
    kind: String,
    members: Map<String, Value>,
}

impl ObjectValue for FixedObject<'_> {
    fn type_name(&self) -> &str {
        &self.kind
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        if let Some(metafields) = self.view.metafields(&self.kind, info) {
            return metafields;
        }
        let value = self.members.get(info.field_name()).cloned().unwrap_or(Value::Null);
        Ok(fixed(self.view, value, &info.field_definition().ty))
    }
}

/// Resolves a value of the field's type. Objects have that type, or the type in their `__typename`.
pub(super) fn fixed<'v>(view: &'v View<'v>, value: Value, ty: &Type) -> ResolvedValue<'v> {
    match value {
        Value::Object(members) => {
            let kind = members.get("__typename").and_then(Value::as_str);
            let kind = kind.unwrap_or(ty.inner_named_type().as_str()).to_owned();
            ResolvedValue::object(FixedObject { view, kind, members })
        }
        Value::Array(items) => {
            let items: Vec<ResolvedValue<'v>> = items
                .into_iter()
                .map(|item| fixed(view, item, ty.item_type()))
                .collect();
            ResolvedValue::list(items)
        }
        leaf => ResolvedValue::leaf(leaf),
    }
}

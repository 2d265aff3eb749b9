use apollo_compiler::resolvers::ResolveInfo;
use apollo_compiler::response::{JsonMap, JsonValue};

/// Arguments of a field, which the GraphQL library has checked and converted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Args<'a>(&'a JsonMap);

impl<'a> Args<'a> {
    pub(super) fn of(info: &ResolveInfo<'a>) -> Self {
        Self(info.arguments())
    }

    pub(super) fn in_object(value: &'a JsonValue) -> Option<Self> {
        value.as_object().map(Self)
    }

    pub(super) fn get(self, name: &str) -> Option<&'a JsonValue> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str()
    }

    pub(super) fn number(self, name: &str) -> Option<i64> {
        self.get(name)?.as_i64()
    }

    pub(super) fn float(self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    pub(super) fn flag(self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    pub(super) fn list(self, name: &str) -> &'a [JsonValue] {
        self.get(name).and_then(JsonValue::as_array).map_or(&[], Vec::as_slice)
    }
}

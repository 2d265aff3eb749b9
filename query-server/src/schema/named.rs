use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A member of an object whose name is a store's own word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedValue<'a, V> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its value.
    pub value: V,
}

/// Writes the members of an object in their order, which is the store's.
pub(super) fn serialize<V: Serialize, S: Serializer>(
    members: &[NamedValue<'_, V>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(members.iter().map(|member| (&member.name, &member.value)))
}

pub(super) fn deserialize<'de, 'a, V: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<NamedValue<'a, V>>, D::Error> {
    let members = BTreeMap::<Cow<'a, str>, V>::deserialize(deserializer)?.into_iter();
    Ok(members.map(|(name, value)| NamedValue { name, value }).collect())
}

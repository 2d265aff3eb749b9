use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Key and value of a JSON object whose keys are chosen by stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedValue<'a, V> {
    /// Key of the entry.
    pub name: Cow<'a, str>,
    /// Value of the entry.
    pub value: V,
}

/// Serializes a JSON object with its keys in the store's order.
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

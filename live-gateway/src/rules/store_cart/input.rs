//! Inputs of calls to a store's cart.

use data_model::VariantId;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::hidden::SecretText;
use crate::rules::nodes::variant_gid;

#[derive(Debug, Clone, Default)]
pub(crate) struct CartDraft {
    pub(crate) lines: Vec<VariantQuantity>,
    pub(crate) codes: Vec<String>,
    pub(crate) buyer: Buyer,
    pub(crate) address: Option<CartAddress>,
    pub(crate) attributes: Vec<CartAttribute>,
}

/// Known data about the buyer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Buyer {
    /// Country whose prices apply, as two uppercase letters.
    pub(crate) country: Option<String>,
    pub(crate) email: Option<SecretText>,
    pub(crate) customer_token: Option<SecretText>,
}

/// Delivery address, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CartAddress {
    pub(crate) zip: Option<String>,
    /// Country code of two uppercase letters.
    pub(crate) country: String,
    pub(crate) province: Option<String>,
    pub(crate) city: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct CartAttribute {
    pub(crate) key: String,
    pub(crate) value: String,
}

/// Quantity of a variant to add to a cart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VariantQuantity {
    pub(crate) variant: VariantId,
    pub(crate) quantity: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LineQuantity {
    pub(crate) id: SecretText,
    pub(crate) quantity: u32,
}

/// Selected option for lines that are delivered together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DeliveryChoice {
    #[serde(rename = "deliveryGroupId")]
    pub(crate) group: SecretText,
    #[serde(rename = "deliveryOptionHandle")]
    pub(crate) handle: String,
}

/// Saved records store an attribute as a pair.
impl Serialize for CartAttribute {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.key, &self.value).serialize(serializer)
    }
}

impl CartDraft {
    pub(crate) fn input(&self) -> Value {
        let mut input = json!({
            "lines": lines_input(&self.lines),
            "buyerIdentity": self.buyer.input(),
        });
        if !self.codes.is_empty() {
            input["discountCodes"] = json!(self.codes);
        }
        if !self.attributes.is_empty() {
            input["attributes"] = attributes_input(&self.attributes);
        }
        if let Some(address) = &self.address {
            input["delivery"] = json!({ "addresses": [address.input()] });
        }
        input
    }
}

pub(crate) fn lines_input(lines: &[VariantQuantity]) -> Value {
    let input =
        |line: &VariantQuantity| json!({ "merchandiseId": variant_gid(line.variant), "quantity": line.quantity });
    lines.iter().map(input).collect()
}

pub(crate) fn attributes_input(attributes: &[CartAttribute]) -> Value {
    let input = |one: &CartAttribute| json!({ "key": one.key, "value": one.value });
    attributes.iter().map(input).collect()
}

impl Buyer {
    /// Returns a digest that distinguishes buyers without revealing them; `None` for an anonymous buyer.
    pub(crate) fn mark(&self) -> Option<String> {
        if self.email.is_none() && self.customer_token.is_none() {
            return None;
        }
        let text = |hidden: &Option<SecretText>| hidden.as_ref().map_or("", SecretText::expose).to_owned();
        let both = format!("{}\n{}", text(&self.email), text(&self.customer_token));
        Some(hex::encode(&Sha256::digest(both)[..16]))
    }

    pub(crate) fn input(&self) -> Value {
        let mut input = json!({});
        if let Some(country) = &self.country {
            input["countryCode"] = json!(country);
        }
        if let Some(email) = &self.email {
            input["email"] = json!(email.expose());
        }
        if let Some(token) = &self.customer_token {
            input["customerAccessToken"] = json!(token.expose());
        }
        input
    }
}

impl CartAddress {
    pub(crate) fn input(&self) -> Value {
        let mut place = json!({ "countryCode": self.country });
        for (name, part) in [
            ("zip", &self.zip),
            ("provinceCode", &self.province),
            ("city", &self.city),
        ] {
            if let Some(part) = part {
                place[name] = json!(part);
            }
        }
        json!({ "address": { "deliveryAddress": place }, "selected": true, "oneTimeUse": false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_attribute_is_a_pair() {
        let attribute = CartAttribute {
            key: "gift".to_owned(),
            value: "yes".to_owned(),
        };
        let saved = json!(["gift", "yes"]);
        assert_eq!(serde_json::to_value(&attribute).unwrap(), saved);
        assert_eq!(serde_json::from_value::<CartAttribute>(saved).unwrap(), attribute);
    }
}

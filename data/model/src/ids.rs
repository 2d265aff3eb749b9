use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Reason why a text is not a valid identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text is not a host name. A host has letters, digits, dots, hyphens and an optional port.
    #[error("not a host name: {0:?}")]
    StoreHost(String),
    /// The text is not `sha:` followed by 40 hex digits.
    #[error("not a product uid: {0:?}")]
    ProductUid(String),
    /// The text is not a UUID.
    #[error("not a product id: {0:?}")]
    ProductId(String),
    /// The text is neither a UUID nor a `sha:` product id.
    #[error("neither a product uid nor a product id: {0:?}")]
    ProductIdent(String),
    /// The text is not a six-digit number with a non-zero first digit.
    #[error("not a pincode: {0:?}")]
    Pincode(String),
    /// The text is not a slug of lowercase letters and digits joined by single hyphens.
    #[error("not a brand slug: {0:?}")]
    BrandSlug(String),
    /// The text is not a release id.
    #[error("not a release id: {0:?}")]
    ReleaseId(String),
    /// The text is not a run id.
    #[error("not a run id: {0:?}")]
    RunId(String),
}

pub(crate) fn excerpt(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Permanent host of a store in lowercase, with its port unless it is the default port of the scheme. The host is the
/// platform's (`myshopify_domain` in `/meta.json`) or else the registered domain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreHost(Box<str>);

impl StoreHost {
    /// Returns the host as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the lake partition of this store, out of `buckets`: the first four bytes (big-endian) of the host's
    /// SHA-256, modulo `buckets`.
    #[must_use]
    pub fn bucket(&self, buckets: u32) -> u32 {
        let digest = Sha256::digest(self.0.as_bytes());
        u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]) % buckets.max(1)
    }
}

impl fmt::Display for StoreHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for StoreHost {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || IdError::StoreHost(excerpt(text));
        let lower = text.trim_ascii().trim_end_matches('.').to_ascii_lowercase();
        let (host, port) = lower
            .rsplit_once(':')
            .map_or((lower.as_str(), None), |(host, port)| (host, Some(port)));
        let label = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        if host.len() > 253 || !host.split('.').all(label) || port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return Err(refuse());
        }
        Ok(Self(lower.into_boxed_str()))
    }
}
crate::text_serde!(StoreHost);

/// Natural key of a product: `shopify:{permanent store host}:{platform product id}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProductKey {
    /// Store that sells the product.
    pub store: StoreHost,
    /// The platform's own product id.
    pub platform_id: u64,
}

/// Namespace of product ids, generated randomly once. It must never change, because all product ids would change.
const NAMESPACE_PRODUCT: Uuid = Uuid::from_u128(0x2e45_7a0f_6c1b_5d92_9a37_41c8_0be6_d5f3);

impl ProductKey {
    /// Returns `sha:` followed by the first 40 hex digits of the key's SHA-256.
    #[must_use]
    pub fn uid(&self) -> ProductUid {
        let digest = Sha256::digest(self.to_string().as_bytes());
        let mut bytes = [0; 20];
        bytes.copy_from_slice(&digest[..20]);
        ProductUid(bytes)
    }

    /// Returns the UUID v5 of the key in the fixed product namespace.
    #[must_use]
    pub fn id(&self) -> ProductId {
        // Avoids the formatting machinery of `Display`, because this runs for every product of a crawl.
        let name = ["shopify:", self.store.as_str(), ":", &self.platform_id.to_string()].concat();
        ProductId(Uuid::new_v5(&NAMESPACE_PRODUCT, name.as_bytes()))
    }
}

impl fmt::Display for ProductKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shopify:{}:{}", self.store, self.platform_id)
    }
}

/// Public uid of a product, written as `sha:` and 40 lowercase hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProductUid([u8; 20]);

impl ProductUid {
    /// Builds a uid from the first 20 bytes of the digest.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// Returns the 20 bytes that the hex digits encode.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }
}

impl fmt::Display for ProductUid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; 40];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        f.write_str("sha:")?;
        f.write_str(std::str::from_utf8(&digits).unwrap_or_default())
    }
}

impl FromStr for ProductUid {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || IdError::ProductUid(excerpt(text));
        let (scheme, digits) = text.split_once(':').ok_or_else(refuse)?;
        let digits = digits.as_bytes();
        if !scheme.eq_ignore_ascii_case("sha") || digits.len() != 40 {
            return Err(refuse());
        }
        let mut bytes = [0; 20];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let value = |digit: u8| char::from(digit).to_digit(16).ok_or_else(refuse);
            *byte = u8::try_from(value(pair[0])? * 16 + value(pair[1])?).map_err(|_| refuse())?;
        }
        Ok(Self(bytes))
    }
}
crate::text_serde!(ProductUid);

/// Public UUID of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProductId(Uuid);

impl ProductId {
    /// Builds an id from the 16 bytes of a UUID.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    /// Returns the 16 bytes of the UUID.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for ProductId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl FromStr for ProductId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let uuid = Uuid::try_parse(text).ok().filter(|_| text.len() == 36);
        uuid.map(Self).ok_or_else(|| IdError::ProductId(excerpt(text)))
    }
}
crate::text_serde!(ProductId);

/// A product identifier in either of its public forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProductIdent {
    /// An identifier of the form `sha:…`.
    Uid(ProductUid),
    /// A UUID.
    Id(ProductId),
}

impl fmt::Display for ProductIdent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uid(uid) => uid.fmt(f),
            Self::Id(id) => id.fmt(f),
        }
    }
}

impl FromStr for ProductIdent {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let uid = || text.parse().map(Self::Uid);
        uid()
            .or_else(|_| text.parse().map(Self::Id))
            .map_err(|_: IdError| IdError::ProductIdent(excerpt(text)))
    }
}
crate::text_serde!(ProductIdent);

/// The platform's id of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VariantId(pub u64);

impl fmt::Display for VariantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A category's id in the Google product taxonomy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CategoryId(pub u32);

impl fmt::Display for CategoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Postal code of India: six digits with a non-zero first digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pincode(u32);

impl Pincode {
    /// Returns the pincode with this numeric value, or `None` if the number does not have six digits.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        if number >= 100_000 && number <= 999_999 {
            Some(Self(number))
        } else {
            None
        }
    }

    /// Returns the pincode as a number from 100,000 to 999,999.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Pincode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Pincode {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let valid = text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        let number = valid.then(|| text.parse().ok()).flatten();
        number.map(Self).ok_or_else(|| IdError::Pincode(excerpt(text)))
    }
}
crate::text_serde!(Pincode);

/// Id of one crawler run, such as `20261121T012725Z-3f9a`. Ids sort by time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(Box<str>);

impl RunId {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let valid = (1..=64).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if valid {
            Ok(Self(text.into()))
        } else {
            Err(IdError::RunId(excerpt(text)))
        }
    }
}
crate::text_serde!(RunId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_from_the_key_alone() {
        let key = ProductKey {
            store: "Blue-Tokai.MyShopify.com".parse().unwrap(),
            platform_id: 42,
        };
        assert_eq!(key.to_string(), "shopify:blue-tokai.myshopify.com:42");
        let digest = Sha256::digest(b"shopify:blue-tokai.myshopify.com:42");
        assert!(digest.starts_with(key.uid().as_bytes()));
        assert_eq!(key.uid().to_string().parse(), Ok(key.uid()));
        assert_eq!(key.id().to_string().parse(), Ok(key.id()));
        assert_eq!(key.id().0.get_version_num(), 5);
    }

    #[test]
    fn an_ident_is_one_of_two_forms_and_nothing_else() {
        assert!(matches!(
            "sha:0123456789abcdef0123456789abcdef01234567".parse(),
            Ok(ProductIdent::Uid(_))
        ));
        assert!(matches!(
            "3f2504e0-4f89-51d3-9a0c-0305e82c3301".parse(),
            Ok(ProductIdent::Id(_))
        ));
        for wrong in [
            "",
            "sha:",
            "sha:xyz",
            "3f2504e04f8951d39a0c0305e82c3301",
            "42",
            "sha:0123456789abcdef0123456789abcdef0123456é",
        ] {
            assert!(wrong.parse::<ProductIdent>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn pincodes_are_six_digits() {
        assert!("560001".parse::<Pincode>().is_ok());
        for wrong in ["060001", "56001", "5600011", "56000a", "５60001", ""] {
            assert!(wrong.parse::<Pincode>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn hosts_are_normalised_and_checked() {
        assert_eq!(
            "Shop.Example.COM.".parse::<StoreHost>().unwrap().as_str(),
            "shop.example.com"
        );
        assert_eq!(
            "127.0.0.1:8080".parse::<StoreHost>().unwrap().as_str(),
            "127.0.0.1:8080"
        );
        for wrong in ["", "a b", "http://x", "x/y", "x..y", "x:port"] {
            assert!(wrong.parse::<StoreHost>().is_err(), "{wrong}");
        }
    }
}

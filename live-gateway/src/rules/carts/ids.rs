use std::fmt;
use std::str::FromStr;

use data_model::{ProductKey, StoreHost, StoredBrand, VariantId};
use sha2::{Digest, Sha256};

const CART_ID_BYTES: usize = 16;
const LINE_ID_BYTES: usize = 10;

/// Id of a cart: 128 random bits, as 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CartId(String);

/// Error for a text that is not a cart id. An invalid id is treated as the id of an unknown cart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoCartId;

impl CartId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the hash of the cart id for attribution tokens. The tokens are public, but the id is not.
    pub(crate) fn hash(&self) -> String {
        use base64::Engine as _;
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(Sha256::digest(&self.0))
    }
}

impl FromStr for CartId {
    type Err = NoCartId;

    fn from_str(text: &str) -> Result<Self, NoCartId> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let fits = text.len() == 2 * CART_ID_BYTES && text.bytes().all(is_digit);
        fits.then(|| Self(text.to_owned())).ok_or(NoCartId)
    }
}

impl fmt::Display for CartId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the id of a line. The id depends only on the line's content, so it stays the same when the store's cart is
/// rebuilt. The store's own line ids are not used, because they contain the id of the store's cart. `nth` distinguishes
/// several lines of a variant.
pub(crate) fn line_id(cart: &CartId, store: &StoreHost, variant: VariantId, nth: usize) -> String {
    let text = format!("haat/line/v1 {cart} {} {} {nth}", store.as_str(), variant.0);
    format!("line_{}", hex::encode(&Sha256::digest(text)[..LINE_ID_BYTES]))
}

pub(crate) fn product_id(brand: &StoredBrand, platform_id: u64) -> String {
    let store = brand.store.clone();
    ProductKey { store, platform_id }.id().to_string()
}

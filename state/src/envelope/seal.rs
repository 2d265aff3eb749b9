use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};

use super::key::{MasterKey, MasterKeyError, MasterKeyId, MasterKeys};
use crate::random;

/// First byte of an envelope.
const VERSION: u8 = 1;
const SALT_BYTES: usize = 24;
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;
const HEADER_BYTES: usize = 1 + MasterKeyId::BYTES + SALT_BYTES;

/// The kind of sealed data, such as `store-cart`. An envelope can be opened only for its own purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purpose(&'static str);

/// Reasons why an envelope cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The bytes are not an envelope in a known format.
    #[error("not an envelope in a format that this program knows")]
    Form,
    /// The envelope was sealed with a master key that was not given.
    #[error("sealed with master key {0}, which is not configured")]
    Key(MasterKeyId),
    /// The envelope was changed, or sealed for another purpose or place.
    #[error("the envelope was changed, or was sealed for another purpose or place")]
    Damaged,
}

impl Purpose {
    /// Creates a purpose. The name is part of every envelope's key derivation, so it must never change.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

impl MasterKeys {
    /// Seals `plain` with the current key. The envelope opens only with the same `purpose` and `place`, such as the id
    /// of its row. An envelope that was moved to another row does not open.
    ///
    /// Format of an envelope: the byte 1, eight bytes of the master key's id, a random salt of 24 bytes, and the text
    /// encrypted by AES-256-GCM with its tag of 16 bytes. The AES key and the nonce are 44 bytes derived by
    /// HKDF-SHA-256 from the master key, the salt and `haat/envelope/v1/` + purpose. Each envelope has its own key, so
    /// that no nonce is reused. The authenticated data is the first 33 bytes of the envelope and `place`.
    ///
    /// # Errors
    /// [`MasterKeyError::Random`].
    pub fn seal(&self, purpose: Purpose, place: &str, plain: &[u8]) -> Result<Vec<u8>, MasterKeyError> {
        let mut salt = [0; SALT_BYTES];
        random::fill(&mut salt).map_err(|_| MasterKeyError::Random)?;
        seal(self.current(), purpose, place, plain, salt).ok_or(MasterKeyError::Random)
    }

    /// Opens an envelope of [`MasterKeys::seal`], with the key that sealed it.
    pub fn open(&self, purpose: Purpose, place: &str, envelope: &[u8]) -> Result<Vec<u8>, OpenError> {
        let id = key_id(envelope).ok_or(OpenError::Form)?;
        let Some(key) = self.of(id) else {
            let mut bytes = [0; MasterKeyId::BYTES];
            bytes.copy_from_slice(id);
            return Err(OpenError::Key(MasterKeyId::from_bytes(bytes)));
        };
        let (header, sealed) = envelope.split_at(HEADER_BYTES);
        let (cipher, nonce) = derived(key, purpose, &header[HEADER_BYTES - SALT_BYTES..]).ok_or(OpenError::Damaged)?;
        let mut text = sealed.to_vec();
        let opened = cipher.open_in_place(nonce, Aad::from(bound_to(header, place)), &mut text);
        let length = opened.map_err(|_| OpenError::Damaged)?.len();
        text.truncate(length);
        Ok(text)
    }

    /// Returns true if an envelope was sealed with the current key. Other envelopes should be sealed again at their
    /// next write.
    #[must_use]
    pub fn is_current(&self, envelope: &[u8]) -> bool {
        key_id(envelope) == Some(self.current().id().as_bytes())
    }
}

/// Returns the id of the key that sealed an envelope. `None` if the bytes are not an envelope.
fn key_id(envelope: &[u8]) -> Option<&[u8]> {
    let is_one = envelope.first() == Some(&VERSION) && envelope.len() >= HEADER_BYTES + TAG_BYTES;
    is_one.then(|| &envelope[1..=MasterKeyId::BYTES])
}

fn seal(key: &MasterKey, purpose: Purpose, place: &str, plain: &[u8], salt: [u8; SALT_BYTES]) -> Option<Vec<u8>> {
    let mut envelope = Vec::with_capacity(HEADER_BYTES + plain.len() + TAG_BYTES);
    envelope.push(VERSION);
    envelope.extend_from_slice(key.id().as_bytes());
    envelope.extend_from_slice(&salt);
    let (cipher, nonce) = derived(key, purpose, &salt)?;
    let aad = Aad::from(bound_to(&envelope, place));
    let mut text = plain.to_vec();
    cipher.seal_in_place_append_tag(nonce, aad, &mut text).ok()?;
    envelope.append(&mut text);
    Some(envelope)
}

/// The header has a fixed length, so that the boundary between header and place is unambiguous.
fn bound_to(header: &[u8], place: &str) -> Vec<u8> {
    [header, place.as_bytes()].concat()
}

fn derived(key: &MasterKey, purpose: Purpose, salt: &[u8]) -> Option<(LessSafeKey, Nonce)> {
    let extracted = Salt::new(HKDF_SHA256, salt).extract(key.bytes());
    let info = [b"haat/envelope/v1/".as_slice(), purpose.0.as_bytes()];
    let mut bytes = [0; KEY_BYTES + NONCE_BYTES];
    let length = Length(bytes.len());
    extracted.expand(&info, length).ok()?.fill(&mut bytes).ok()?;
    let (key, nonce) = bytes.split_at(KEY_BYTES);
    let cipher = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).ok()?);
    Some((cipher, Nonce::try_assume_unique_for_key(nonce).ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CART: Purpose = Purpose::new("store-cart");
    const TOKEN: Purpose = Purpose::new("customer-token");

    fn key(byte: &str) -> MasterKeys {
        MasterKeys::parse(&byte.repeat(32)).unwrap()
    }

    #[test]
    fn an_envelope_keeps_the_form_that_was_decided_once() {
        let keys = key("42");
        let envelope = seal(keys.current(), CART, "c1", b"gid://cart/7", [7; SALT_BYTES]).unwrap();
        // Another program computed the expected values from the documentation of `MasterKeys::seal`.
        insta::assert_snapshot!(
            hex::encode(&envelope),
            @"01e35d1e10418b8b9a0707070707070707070707070707070707070707070707076754068590c9aef15895815fb31a07c6a44cc6bf2b7ba93908b2c619"
        );
        assert_eq!(keys.open(CART, "c1", &envelope).unwrap(), b"gid://cart/7");
    }

    #[test]
    fn an_envelope_opens_only_for_its_purpose_and_place_with_its_key() {
        let keys = key("42");
        let envelope = keys.seal(CART, "c1", b"secret").unwrap();
        assert_eq!(keys.open(TOKEN, "c1", &envelope), Err(OpenError::Damaged));
        assert_eq!(keys.open(CART, "c2", &envelope), Err(OpenError::Damaged));
        let other = key("43");
        let id = keys.current().id();
        assert_eq!(other.open(CART, "c1", &envelope), Err(OpenError::Key(id)));
        assert_ne!(keys.seal(CART, "c1", b"secret").unwrap(), envelope);
    }

    #[test]
    fn after_a_rotation_old_envelopes_open_and_new_ones_are_sealed_with_the_new_key() {
        let old = key("42");
        let envelope = old.seal(TOKEN, "a", b"secret").unwrap();
        let both = MasterKeys::parse(&format!("{},{}", "43".repeat(32), "42".repeat(32))).unwrap();
        assert_eq!(both.open(TOKEN, "a", &envelope).unwrap(), b"secret");
        assert!(old.is_current(&envelope) && !both.is_current(&envelope));
        let sealed_anew = both.seal(TOKEN, "a", b"secret").unwrap();
        assert!(both.is_current(&sealed_anew));
        assert!(old.open(TOKEN, "a", &sealed_anew).is_err());
    }

    proptest! {
        #[test]
        fn what_was_sealed_is_what_is_opened(plain in proptest::collection::vec(any::<u8>(), 0..300), place in ".*") {
            let keys = key("42");
            let envelope = keys.seal(CART, &place, &plain).unwrap();
            prop_assert_eq!(envelope.len(), 33 + plain.len() + 16);
            prop_assert_eq!(keys.open(CART, &place, &envelope).unwrap(), plain);
        }

        #[test]
        fn a_changed_bit_is_always_found(
            plain in proptest::collection::vec(any::<u8>(), 0..60),
            at in any::<prop::sample::Index>(),
            bit in 0..8_u8,
        ) {
            let keys = key("42");
            let mut envelope = keys.seal(CART, "c1", &plain).unwrap();
            let at = at.index(envelope.len());
            envelope[at] ^= 1 << bit;
            prop_assert!(keys.open(CART, "c1", &envelope).is_err());
        }

        #[test]
        fn no_bytes_make_the_reader_stumble(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            prop_assert!(key("42").open(CART, "c1", &bytes).is_err());
        }
    }
}

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::error::StateError;
use crate::names::KEY_PREFIX;
use crate::random;

/// 27 characters of a set of 62 encode 160 random bits.
const SECRET_CHARS: usize = 27;
/// Six characters of a set of 62 encode 32 bits.
const CHECK_CHARS: usize = 6;
const KEY_CHARS: usize = KEY_PREFIX.len() + SECRET_CHARS + CHECK_CHARS;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The plain text of an API key: `haat_live_`, 27 random characters (160 bits), and their CRC-32 in six more.
///
/// The checksum detects a mistyped key without a lookup: every change of one character, or of up to four consecutive
/// characters. Debug output never shows a key. [`ApiKey::expose`] may be called only to hand the key to its owner.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey([u8; KEY_CHARS]);

/// Reasons why a text cannot be a key. The error contains no part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApiKeyError {
    /// The text does not start with the key prefix.
    #[error("a key begins with haat_live_")]
    Prefix,
    /// The text is too short or too long.
    #[error("a key has {KEY_CHARS} characters")]
    Length,
    /// A character is not an ASCII letter or digit.
    #[error("a key contains only letters and digits")]
    Character,
    /// The checksum does not match.
    #[error("the key is mistyped: its checksum is wrong")]
    Checksum,
}

impl ApiKey {
    /// Generates a key with 160 random bits.
    ///
    /// # Errors
    /// [`StateError::Random`].
    pub fn generate() -> Result<Self, StateError> {
        Ok(Self::of(random::characters(ALPHABET)?))
    }

    fn of(secret: [u8; SECRET_CHARS]) -> Self {
        let mut text = [0; KEY_CHARS];
        let (prefix, rest) = text.split_at_mut(KEY_PREFIX.len());
        prefix.copy_from_slice(KEY_PREFIX.as_bytes());
        rest[..SECRET_CHARS].copy_from_slice(&secret);
        let check = checksum(&text[..KEY_CHARS - CHECK_CHARS]);
        text[KEY_CHARS - CHECK_CHARS..].copy_from_slice(&check);
        Self(text)
    }

    /// Returns the plain text of the key, to be shown once to its owner.
    #[must_use]
    pub fn expose(&self) -> &str {
        // The bytes are always ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the hash of the key.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(self.0).into())
    }

    /// Returns the last four characters, by which the owner recognises the key. They belong to the checksum and reveal
    /// 24 of the 160 random bits.
    #[must_use]
    pub fn hint(&self) -> &str {
        self.expose().get(KEY_CHARS - 4..).unwrap_or_default()
    }
}

/// Returns the CRC-32 of `text` as six characters, most significant first.
fn checksum(text: &[u8]) -> [u8; CHECK_CHARS] {
    let mut rest = crc32fast::hash(text);
    let mut characters = [b'0'; CHECK_CHARS];
    for character in characters.iter_mut().rev() {
        *character = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    characters
}

impl FromStr for ApiKey {
    type Err = ApiKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.starts_with(KEY_PREFIX) {
            return Err(ApiKeyError::Prefix);
        }
        let Ok(text) = <[u8; KEY_CHARS]>::try_from(text.as_bytes()) else {
            return Err(ApiKeyError::Length);
        };
        let (checked, check) = text.split_at(KEY_CHARS - CHECK_CHARS);
        if !text[KEY_PREFIX.len()..].iter().all(u8::is_ascii_alphanumeric) {
            return Err(ApiKeyError::Character);
        }
        if checksum(checked) != check {
            return Err(ApiKeyError::Checksum);
        }
        Ok(Self(text))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(***)")
    }
}

/// The SHA-256 of a key's text. Only this hash of a key is stored.
///
/// A plain hash is sufficient. Slow and salted hashes protect passwords, which can be guessed. 160 random bits cannot
/// be guessed, and a slow hash would add its cost to every request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// Returns the hash as bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyHash({}…)", hex::encode(&self.0[..4]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys() -> impl Strategy<Value = ApiKey> {
        proptest::array::uniform27(0..62_usize).prop_map(|at| ApiKey::of(at.map(|at| ALPHABET[at])))
    }

    #[test]
    fn a_keys_text_and_hash_stay_as_they_were_first_made() {
        let key = ApiKey::of(*b"0123456789ABCDEFGHIJKLMNOPQ");
        // Another program computed both values.
        insta::assert_snapshot!(key.expose(), @"haat_live_0123456789ABCDEFGHIJKLMNOPQ3jhKWZ");
        insta::assert_snapshot!(
            hex::encode(key.hash().as_bytes()),
            @"6e2ca986d9fa3288a4d220c98d8235c4de3db1c0e6cc1a2fcb46f4f0dae66fce"
        );
        assert_eq!(key.hint(), &key.expose()[39..]);
    }

    #[test]
    fn two_keys_are_never_the_same_and_use_every_character() {
        let made: Vec<_> = (0..200).map(|_| ApiKey::generate().unwrap()).collect();
        let mut hashes: Vec<_> = made.iter().map(|key| *key.hash().as_bytes()).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 200);
        let all: String = made.iter().map(|key| &key.expose()[10..37]).collect();
        assert!(ALPHABET.iter().all(|character| all.contains(char::from(*character))));
    }

    #[test]
    fn what_is_no_key_is_told_by_what_is_wrong_with_it() {
        let key = ApiKey::generate().unwrap();
        let key = key.expose();
        let refused = |text: &str| text.parse::<ApiKey>().unwrap_err();
        assert_eq!(refused(""), ApiKeyError::Prefix);
        assert_eq!(refused("sk_live_0123456789"), ApiKeyError::Prefix);
        assert_eq!(refused(&key.replace("live", "LIVE")), ApiKeyError::Prefix);
        assert_eq!(refused(&key[..42]), ApiKeyError::Length);
        assert_eq!(refused(&format!("{key} ")), ApiKeyError::Length);
        let with_dash = format!("{}-{}", &key[..12], &key[13..]);
        assert_eq!(refused(&with_dash), ApiKeyError::Character);
        assert_eq!(refused(&format!("haat_live_{}é", &key[10..41])), ApiKeyError::Character);
    }

    proptest! {
        #[test]
        fn a_key_is_read_as_it_is_written(key in keys()) {
            let read: ApiKey = key.expose().parse().unwrap();
            prop_assert_eq!(read.hash(), key.hash());
            prop_assert_eq!(read.expose(), key.expose());
        }

        #[test]
        fn a_changed_character_is_always_refused(key in keys(), at in 0..KEY_CHARS, other in any::<char>()) {
            let mut text: Vec<char> = key.expose().chars().collect();
            prop_assume!(text[at] != other);
            text[at] = other;
            prop_assert!(text.into_iter().collect::<String>().parse::<ApiKey>().is_err());
        }

        #[test]
        fn two_neighbours_that_change_places_are_always_refused(key in keys(), at in 10..KEY_CHARS - 1) {
            let mut text = key.0;
            prop_assume!(text[at] != text[at + 1]);
            text.swap(at, at + 1);
            prop_assert!(std::str::from_utf8(&text).unwrap().parse::<ApiKey>().is_err());
        }

        #[test]
        fn no_text_makes_the_reader_stumble(text in ".*") {
            prop_assert!(text.parse::<ApiKey>().is_err());
        }

        #[test]
        fn debug_output_holds_nothing_of_a_key(key in keys()) {
            prop_assert_eq!(format!("{key:?}"), "ApiKey(***)");
        }
    }
}

//! Checksum of a stored event: the last member of its JSON object is the SHA-256 of all bytes before it.

use serde::de::Error;
use sha2::{Digest, Sha256};

const NAME: &[u8] = br#","sha256":""#;
const END: &[u8] = br#""}"#;
const DIGEST_CHARS: usize = 64;

/// Adds the checksum to an object with at least one member.
pub(super) fn added(mut object: Vec<u8>) -> Vec<u8> {
    object.pop();
    let digest = hex::encode(Sha256::digest(&object));
    for part in [NAME, digest.as_bytes(), END] {
        object.extend(part);
    }
    object
}

/// Returns the object if its checksum is right.
pub(super) fn checked(object: &[u8]) -> Result<&[u8], serde_json::Error> {
    let length = object.len().saturating_sub(NAME.len() + DIGEST_CHARS + END.len());
    let (content, checksum) = object.split_at(length);
    let digest = hex::encode(Sha256::digest(content));
    match checksum == [NAME, digest.as_bytes(), END].concat() {
        true => Ok(object),
        false => Err(Error::custom("the checksum is absent or differs")),
    }
}

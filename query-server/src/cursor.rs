use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::config::CursorKey;

/// How many bytes of the signature a cursor carries.
const MAC_BYTES: usize = 16;

/// Signs positions in a list so that a cursor is good for one list of one release only, and cannot be made up.
#[derive(Debug)]
pub(crate) struct Cursors<'a> {
    key: &'a CursorKey,
    /// The release, the operation and its parameters: what the position is a position in.
    list: Vec<u8>,
}

impl<'a> Cursors<'a> {
    pub(crate) fn new(key: &'a CursorKey, parts: &[&[u8]]) -> Self {
        let mut list = Vec::new();
        for part in parts {
            list.extend_from_slice(&(part.len() as u64).to_le_bytes());
            list.extend_from_slice(part);
        }
        Self { key, list }
    }

    /// The cursor that continues at `position`.
    pub(crate) fn write(&self, position: u32) -> String {
        let mut bytes = [0; 4 + MAC_BYTES];
        bytes[..4].copy_from_slice(&position.to_be_bytes());
        bytes[4..].copy_from_slice(&self.mac(position));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position at which a cursor of this list continues; `None` for any other text.
    pub(crate) fn read(&self, cursor: &str) -> Option<u32> {
        let bytes: [u8; 4 + MAC_BYTES] = URL_SAFE_NO_PAD.decode(cursor).ok()?.try_into().ok()?;
        let (position, mac) = bytes.split_first_chunk::<4>()?;
        let position = u32::from_be_bytes(*position);
        // Compared without a shortcut: how long it takes tells nothing about where the first difference is.
        let differences = self
            .mac(position)
            .iter()
            .zip(mac)
            .fold(0, |differences, (one, other)| differences | (one ^ other));
        (differences == 0).then_some(position)
    }

    /// HMAC-SHA-256 (RFC 2104), cut.
    fn mac(&self, position: u32) -> [u8; MAC_BYTES] {
        let mut pads = [[0x36_u8; 64], [0x5c; 64]];
        for pad in &mut pads {
            for (byte, key) in pad.iter_mut().zip(self.key.bytes()) {
                *byte ^= key;
            }
        }
        let inner = Sha256::new()
            .chain_update(pads[0])
            .chain_update(&self.list)
            .chain_update(position.to_be_bytes());
        let outer = Sha256::new()
            .chain_update(pads[1])
            .chain_update(inner.finalize())
            .finalize();
        let mut mac = [0; MAC_BYTES];
        mac.copy_from_slice(&outer[..MAC_BYTES]);
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cursor_is_good_for_its_own_list_only(position in any::<u32>(), flip in 0_usize..20, text in "[A-Za-z0-9_-]{0,40}") {
            let key = CursorKey::from_secret("s");
            let list = Cursors::new(&key, &[b"r1", b"brands", b"q=a"]);
            let cursor = list.write(position);
            prop_assert_eq!(list.read(&cursor), Some(position));
            prop_assert_eq!(Cursors::new(&key, &[b"r2", b"brands", b"q=a"]).read(&cursor), None);
            prop_assert_eq!(Cursors::new(&CursorKey::from_secret("t"), &[b"r1", b"brands", b"q=a"]).read(&cursor), None);
            let mut bytes = URL_SAFE_NO_PAD.decode(&cursor).unwrap();
            bytes[flip] ^= 1;
            prop_assert_eq!(list.read(&URL_SAFE_NO_PAD.encode(bytes)), None);
            prop_assert_eq!(list.read(&text), None);
        }
    }
}

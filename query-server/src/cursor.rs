use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::config::CursorKey;
use crate::error::OperationError;
use crate::server::QueryServer;

const POSITION_BYTES: usize = 8;
const LIST_BYTES: usize = 16;
const MAC_BYTES: usize = 16;
const RELEASE_BYTES: usize = 8;
const SIGNED_BYTES: usize = POSITION_BYTES + LIST_BYTES + RELEASE_BYTES;

/// Signed end position of a page, sent as `next_cursor`. The operation that receives the cursor checks that it belongs
/// to the same list. See [`QueryServer::cursor`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor {
    position: u64,
    list: [u8; LIST_BYTES],
    release: [u8; RELEASE_BYTES],
    text: String,
}

impl Cursor {
    /// Parses a cursor. Returns `None` if the cursor was not signed with `key`.
    pub(crate) fn open(key: &CursorKey, text: &str) -> Option<Self> {
        let bytes: [u8; SIGNED_BYTES + MAC_BYTES] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let (signed, sent) = bytes.split_first_chunk::<SIGNED_BYTES>()?;
        // The comparison takes constant time, so that its duration does not reveal the first wrong byte.
        let differences = mac(key, signed)
            .iter()
            .zip(sent)
            .fold(0, |differences, (one, other)| differences | (one ^ other));
        if differences != 0 {
            return None;
        }
        let (position, rest) = signed.split_first_chunk::<POSITION_BYTES>()?;
        let (list, release) = rest.split_first_chunk::<LIST_BYTES>()?;
        Some(Self {
            position: u64::from_be_bytes(*position),
            list: *list,
            release: release.try_into().ok()?,
            text: text.to_owned(),
        })
    }
}

impl QueryServer {
    /// Parses a cursor from an earlier answer; `None` if it was not signed with this server's key.
    #[must_use]
    pub fn cursor(&self, text: &str) -> Option<Cursor> {
        Cursor::open(&self.0.config.cursor_key, text)
    }
}

/// Signer of positions in a list. A cursor is valid only for one list of one release, and clients cannot forge it.
#[derive(Debug)]
pub(crate) struct Cursors<'a> {
    key: &'a CursorKey,
    /// Digest of the release, the operation and its parameters, which together identify the list.
    list: [u8; LIST_BYTES],
    release: [u8; RELEASE_BYTES],
}

impl<'a> Cursors<'a> {
    /// Creates the signer for the list that `parts` identify, in the release with this stamp.
    pub(crate) fn new(key: &'a CursorKey, stamp: &[u8], parts: &[&[u8]]) -> Self {
        let mut digest = Sha256::new();
        for part in std::iter::once(&stamp).chain(parts) {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        Self {
            key,
            list: cut(&digest.finalize().into()),
            release: cut(&Sha256::digest(stamp).into()),
        }
    }

    /// Returns the signed cursor that continues at `position`.
    pub(crate) fn write(&self, position: usize) -> String {
        let mut bytes = [0; SIGNED_BYTES + MAC_BYTES];
        bytes[..POSITION_BYTES].copy_from_slice(&(position as u64).to_be_bytes());
        bytes[POSITION_BYTES..POSITION_BYTES + LIST_BYTES].copy_from_slice(&self.list);
        bytes[POSITION_BYTES + LIST_BYTES..SIGNED_BYTES].copy_from_slice(&self.release);
        let mac = mac(self.key, &bytes[..SIGNED_BYTES]);
        bytes[SIGNED_BYTES..].copy_from_slice(&mac);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Returns the position at which a cursor of this list continues.
    ///
    /// # Errors
    /// [`OperationError::ExpiredCursor`] for a cursor of another release, [`OperationError::ForeignCursor`] for a
    /// cursor of another list.
    pub(crate) fn position(&self, cursor: &Cursor) -> Result<usize, OperationError> {
        if cursor.list == self.list {
            return Ok(usize::try_from(cursor.position).unwrap_or(usize::MAX));
        }
        let text = cursor.text.clone();
        Err(if cursor.release == self.release {
            OperationError::ForeignCursor { cursor: text }
        } else {
            OperationError::ExpiredCursor { cursor: text }
        })
    }
}

fn mac(key: &CursorKey, signed: &[u8]) -> [u8; MAC_BYTES] {
    let mut pads = [[0x36_u8; 64], [0x5c; 64]];
    for pad in &mut pads {
        for (byte, key) in pad.iter_mut().zip(key.bytes()) {
            *byte ^= key;
        }
    }
    let inner = Sha256::new().chain_update(pads[0]).chain_update(signed);
    let outer = Sha256::new().chain_update(pads[1]).chain_update(inner.finalize());
    cut(&outer.finalize().into())
}

fn cut<const N: usize>(digest: &[u8; 32]) -> [u8; N] {
    std::array::from_fn(|at| digest[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cursor_is_good_for_its_own_list_only(position in any::<usize>(), flip in 0_usize..48, text in "[A-Za-z0-9_-]{0,60}") {
            let key = CursorKey::from_secret("s");
            let list = Cursors::new(&key, b"r1", &[b"brands", b"q=a"]);
            let written = list.write(position);
            let cursor = Cursor::open(&key, &written).unwrap();
            prop_assert_eq!(list.position(&cursor).unwrap(), position);
            let later = Cursors::new(&key, b"r2", &[b"brands", b"q=a"]).position(&cursor);
            prop_assert_eq!(later, Err(OperationError::ExpiredCursor { cursor: written.clone() }));
            let other = Cursors::new(&key, b"r1", &[b"brands", b"q=b"]).position(&cursor);
            prop_assert_eq!(other, Err(OperationError::ForeignCursor { cursor: written.clone() }));
            prop_assert!(Cursor::open(&CursorKey::from_secret("t"), &written).is_none());
            let mut bytes = URL_SAFE_NO_PAD.decode(&written).unwrap();
            bytes[flip] ^= 1;
            prop_assert!(Cursor::open(&key, &URL_SAFE_NO_PAD.encode(bytes)).is_none());
            prop_assert!(Cursor::open(&key, &text).is_none());
        }
    }
}

//! Posting list of one term.
//!
//! Rows are stored in blocks of 128; the last block may be shorter. A list has the length of the rows in bytes (`u32`),
//! a block table if there is more than one block, the rows, and a payload (`u16`) per row. An entry of the block table
//! has the last row (`u32`), the offset of the rows (`u32`) and the maximum payload (`u16`). A full block has one byte
//! with the bit width, followed by bit-packed differences. A short block has the differences as variable-length
//! integers.

use bitpacking::{BitPacker, BitPacker4x};

use super::{NO_ROW, PostingPayload};

pub(super) const BLOCK: usize = BitPacker4x::BLOCK_LEN;
const BLOCK_ENTRY_BYTES: usize = 10;

pub(super) struct Posting {
    pub(super) row: u32,
    pub(super) payload: PostingPayload,
}

/// `postings` must be in row order.
pub(super) fn write(postings: &[Posting], out: &mut Vec<u8>) {
    let mut rows = Vec::with_capacity(2 * postings.len());
    let mut table = Vec::new();
    let mut last = 0;
    for block in postings.chunks(BLOCK) {
        let at = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        let most = block
            .iter()
            .fold(PostingPayload::default(), |most, posting| most.max(posting.payload));
        let end = block.last().map_or(last, |posting| posting.row);
        table.extend_from_slice(&end.to_le_bytes());
        table.extend_from_slice(&at.to_le_bytes());
        table.extend_from_slice(&most.0.to_le_bytes());
        if block.len() == BLOCK {
            let mut plain = [0; BLOCK];
            for (to, posting) in plain.iter_mut().zip(block) {
                *to = posting.row;
            }
            let packer = BitPacker4x::new();
            let bits = packer.num_bits_sorted(last, &plain);
            let mut packed = [0; 4 * BLOCK];
            let length = packer.compress_sorted(last, &plain, &mut packed, bits);
            rows.push(bits);
            rows.extend_from_slice(packed.get(..length).unwrap_or_default());
        } else {
            let mut before = last;
            for Posting { row, .. } in block {
                varint(row - before, &mut rows);
                before = *row;
            }
        }
        last = end;
    }
    out.extend_from_slice(&u32::try_from(rows.len()).unwrap_or(u32::MAX).to_le_bytes());
    if postings.len() > BLOCK {
        out.extend_from_slice(&table);
    }
    out.extend_from_slice(&rows);
    for Posting { payload, .. } in postings {
        out.extend_from_slice(&payload.0.to_le_bytes());
    }
}

fn varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Posting list of a term: the products that contain it.
#[derive(Debug, Clone, Copy)]
pub struct TermList<'a> {
    count: usize,
    table: &'a [u8],
    rows: &'a [u8],
    holdings: &'a [u8],
}

impl<'a> TermList<'a> {
    /// Opens the list of `count` postings at the start of `bytes`. Returns `None` if `bytes` is too short.
    pub(super) fn read(count: u32, bytes: &'a [u8]) -> Option<Self> {
        let count = usize::try_from(count).ok()?;
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let blocks = if count > BLOCK { count.div_ceil(BLOCK) } else { 0 };
        let (table, rest) = rest.split_at_checked(blocks.checked_mul(BLOCK_ENTRY_BYTES)?)?;
        let (rows, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some(Self {
            count,
            table,
            rows,
            holdings: rest.get(..count.checked_mul(2)?)?,
        })
    }

    /// Returns the number of products that contain the term, including dead rows.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.count).unwrap_or(u32::MAX)
    }

    /// Returns the payload of the posting at this index of the list.
    #[must_use]
    #[inline]
    pub fn holding(&self, place: usize) -> PostingPayload {
        let bytes = self.holdings.get(2 * place..2 * place + 2);
        PostingPayload(
            bytes
                .and_then(|bytes| bytes.try_into().ok())
                .map_or(0, u16::from_le_bytes),
        )
    }

    pub(super) const fn block_count(&self) -> usize {
        self.count.div_ceil(BLOCK)
    }

    fn most(&self, block: usize) -> PostingPayload {
        self.entry(block).map_or(PostingPayload::MOST, |entry| {
            PostingPayload(u16::from_le_bytes([entry[8], entry[9]]))
        })
    }

    pub(super) fn end(&self, block: usize) -> u32 {
        match self.entry(block) {
            Some(entry) => u32_at(entry, 0),
            // A list without a block table has one block with every row. Beyond the last block there are no rows.
            None if block == 0 => NO_ROW - 1,
            None => NO_ROW,
        }
    }

    fn entry(&self, block: usize) -> Option<&'a [u8]> {
        let from = block * BLOCK_ENTRY_BYTES;
        self.table.get(from..from + BLOCK_ENTRY_BYTES)
    }

    /// Returns the postings for `rows` of a block. `place` is the index of the first of these rows in the list.
    pub(super) fn postings<'r>(&self, rows: &'r [u32], place: usize) -> Postings<'r>
    where
        'a: 'r,
    {
        let (from, to) = (2 * place, 2 * (place + rows.len()));
        Postings {
            rows,
            holdings: self.holdings.get(from..to).unwrap_or_default(),
        }
    }

    /// Returns all postings in row order, block by block. This is much faster than a cursor if most postings are
    /// needed.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'a>> + use<'a> {
        let list = *self;
        (0..self.block_count()).map(move |at| Block { list, at })
    }

    pub(super) fn decode(&self, block: usize, rows: &mut [u32; BLOCK]) -> usize {
        let before = match block.checked_sub(1) {
            Some(before) => self.end(before),
            None => 0,
        };
        let from = self.entry(block).map_or(0, |entry| u32_at(entry, 4) as usize);
        let bytes = self.rows.get(from..).unwrap_or_default();
        let length = (self.count - block * BLOCK).min(BLOCK);
        if length == BLOCK {
            let Some((bits, packed)) = bytes.split_first() else {
                return 0;
            };
            if *bits > 32 || packed.len() < usize::from(*bits) * BLOCK / 8 {
                return 0;
            }
            BitPacker4x::new().decompress_sorted(before, packed, rows, *bits);
            return BLOCK;
        }
        let (mut bytes, mut row) = (bytes.iter(), before);
        for to in rows.iter_mut().take(length) {
            let (mut difference, mut shift) = (0_u32, 0);
            for byte in bytes.by_ref() {
                difference |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            row = row.saturating_add(difference);
            *to = row;
        }
        length
    }
}

/// Block of a posting list that is not yet decoded.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    list: TermList<'a>,
    at: usize,
}

/// Buffer into which the rows of a block are decoded.
pub type BlockRows = [u32; BLOCK];

impl<'a> Block<'a> {
    /// Initial buffer for the rows of any block.
    pub const ROOM: BlockRows = [NO_ROW; BLOCK];

    /// Returns the number of postings in the block.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no block is empty")]
    pub fn len(&self) -> usize {
        (self.list.count - self.at * BLOCK).min(BLOCK)
    }

    /// Returns an upper bound on every payload of the block.
    #[must_use]
    pub fn most(&self) -> PostingPayload {
        self.list.most(self.at)
    }

    /// Decodes the postings of the block.
    #[inline]
    pub fn read<'r>(&self, room: &'r mut BlockRows) -> Postings<'r>
    where
        'a: 'r,
    {
        let length = self.list.decode(self.at, room);
        let rows = room.get(..length).unwrap_or_default();
        self.list.postings(rows, self.at * BLOCK)
    }
}

/// Consecutive postings of a list.
#[derive(Debug, Clone, Copy)]
pub struct Postings<'a> {
    rows: &'a [u32],
    holdings: &'a [u8],
}

impl<'a> Postings<'a> {
    /// Returns the rows in ascending order.
    #[must_use]
    pub const fn rows(self) -> &'a [u32] {
        self.rows
    }

    /// Returns the rows with their payloads.
    pub fn iter(self) -> impl Iterator<Item = (u32, PostingPayload)> + use<'a> {
        let (holdings, _) = self.holdings.as_chunks::<2>();
        let holdings = holdings.iter().map(|bytes| PostingPayload(u16::from_le_bytes(*bytes)));
        self.rows.iter().copied().zip(holdings)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(rows: &[u32]) -> Vec<u8> {
        let postings: Vec<_> = rows
            .iter()
            .map(|row| Posting {
                row: *row,
                payload: PostingPayload((*row % 2_000) as u16),
            })
            .collect();
        let mut out = Vec::new();
        write(&postings, &mut out);
        out
    }

    proptest! {
        #[test]
        fn a_list_reads_back(rows in proptest::collection::btree_set(0..200_000_u32, 1..700)) {
            let rows: Vec<u32> = rows.into_iter().collect();
            let bytes = encoded(&rows);
            let list = TermList::read(rows.len() as u32, &bytes).unwrap();
            let mut cursor = list.cursor();
            for row in &rows {
                prop_assert_eq!(cursor.row(), *row);
                prop_assert_eq!(cursor.holding(), PostingPayload((*row % 2_000) as u16));
                cursor.advance();
            }
            prop_assert_eq!(cursor.row(), NO_ROW);
            prop_assert_eq!(cursor.decoded() as usize, rows.len());
            let (mut postings, mut room) = (Vec::new(), Block::ROOM);
            for block in list.blocks() {
                let read = block.read(&mut room);
                prop_assert_eq!(read.rows().len(), block.len());
                let most = block.most();
                for (_, held) in read.iter() {
                    prop_assert_eq!(most.max(held).kind(), PostingPayload(most.0 & 0x07ff).kind());
                }
                postings.extend(read.iter());
            }
            let expected: Vec<_> = rows.iter().map(|row| (*row, PostingPayload((*row % 2_000) as u16))).collect();
            prop_assert_eq!(postings, expected);
        }

        #[test]
        fn seeking_finds_what_walking_does(
            rows in proptest::collection::btree_set(0..60_000_u32, 1..900),
            targets in proptest::collection::btree_set(0..61_000_u32, 1..30),
        ) {
            let rows: Vec<u32> = rows.into_iter().collect();
            let bytes = encoded(&rows);
            let mut cursor = TermList::read(rows.len() as u32, &bytes).unwrap().cursor();
            for target in targets {
                let found = rows.iter().copied().find(|row| *row >= target).unwrap_or(NO_ROW);
                prop_assert_eq!(cursor.seek(target), found);
                if found != NO_ROW {
                    prop_assert_eq!(cursor.holding(), PostingPayload((found % 2_000) as u16));
                }
            }
        }

        #[test]
        fn what_is_told_until_a_row_is_what_walking_finds(
            rows in proptest::collection::btree_set(0..6_000_u32, 1..900),
            ends in proptest::collection::btree_set(0..6_100_u32, 0..12),
        ) {
            let rows: Vec<u32> = rows.into_iter().collect();
            let bytes = encoded(&rows);
            let mut cursor = TermList::read(rows.len() as u32, &bytes).unwrap().cursor();
            let mut told = Vec::new();
            for end in ends.into_iter().chain([NO_ROW]) {
                let before = told.len();
                let count = cursor.each_until(end, |row, held| told.push((row, held)));
                prop_assert_eq!(told.len(), before + count);
                prop_assert_eq!(cursor.row(), rows.get(told.len()).copied().unwrap_or(NO_ROW));
                prop_assert!(cursor.row() >= end && told.last().is_none_or(|(row, _)| *row < end));
            }
            let expected: Vec<_> = rows.iter().map(|row| (*row, PostingPayload((*row % 2_000) as u16))).collect();
            prop_assert_eq!(told, expected);
        }

        #[test]
        fn damaged_bytes_never_panic(mut bytes in Just(encoded(&(0..1_000).map(|row| 3 * row).collect::<Vec<_>>())),
            at in 0..1_000_usize, by in 1..=255_u8, cut in 0..2_000_usize, target in 0..4_000_u32) {
            bytes[at] ^= by;
            bytes.truncate(bytes.len() - cut.min(bytes.len()));
            if let Some(list) = TermList::read(1_000, &bytes) {
                for block in list.blocks() {
                    let (most, mut room) = (block.most(), Block::ROOM);
                    let read = block.read(&mut room);
                    assert!(read.iter().count() <= read.rows().len() && most.kind() < PostingPayload::KINDS);
                }
                let mut cursor = list.cursor();
                let _ = cursor.seek(target);
                let _ = list.cursor().each_until(target, |_, _| ());
                for _ in 0..1_100 {
                    let _ = (cursor.holding(), cursor.advance());
                }
            }
        }
    }
}

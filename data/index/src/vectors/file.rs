use std::ops::Range;

use bytes::Bytes;
use data_embedding::{BLOCK_ROWS, DIMENSIONS_MAX, Query, Vector, block_bytes, stride};

/// The file's name within a part.
pub(crate) const VECTORS: &str = "vectors.bin";

const MAGIC: &[u8; 8] = b"HAATVEC1";
/// Sections begin at multiples of this.
const ALIGNMENT: usize = 64;

/// A part's vectors, opened.
#[derive(Debug)]
pub(crate) struct Vectors {
    rows: u32,
    dimensions: usize,
    stride: usize,
    /// One bit a row: whether it has a vector.
    present: Bytes,
    sign_codes: Bytes,
    vectors: Bytes,
}

/// The ranges of a file's sections: first a bit a row, then the sign codes in blocks, then the vectors as
/// [`Query::store`] writes them.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) present: Range<usize>,
    pub(super) sign_codes: Range<usize>,
    pub(super) vectors: Range<usize>,
}

impl Layout {
    /// `None` when the file would be larger than memory.
    pub(super) fn of(rows: u32, dimensions: usize) -> Option<Self> {
        let rows = rows as usize;
        let mut end = ALIGNMENT;
        let mut section = |items: usize, size_bytes: usize| {
            let start = end.checked_next_multiple_of(ALIGNMENT)?;
            end = start.checked_add(items.checked_mul(size_bytes)?)?;
            Some(start..end)
        };
        Some(Self {
            present: section(rows.div_ceil(8), 1)?,
            sign_codes: section(rows.div_ceil(BLOCK_ROWS), block_bytes(dimensions))?,
            vectors: section(rows, stride(dimensions))?,
        })
    }
}

/// The first bytes of a file.
pub(super) fn header(rows: u32, dimensions: usize) -> Vec<u8> {
    let dimensions = u32::try_from(dimensions).unwrap_or(u32::MAX);
    [&MAGIC[..], &rows.to_le_bytes(), &dimensions.to_le_bytes()].concat()
}

impl Vectors {
    /// Reads a file, and checks that it is as long as its rows need: whatever its bytes are, they can be read then.
    pub(crate) fn open(bytes: &Bytes, rows: u32, dimensions: u32) -> Result<Self, &'static str> {
        let dimensions = dimensions as usize;
        if !(1..=DIMENSIONS_MAX).contains(&dimensions) {
            return Err("vectors of no length, or of too great a one");
        }
        if !bytes.starts_with(&header(rows, dimensions)) {
            return Err("other rows or vectors than the manifest's");
        }
        let layout = Layout::of(rows, dimensions).filter(|layout| layout.vectors.end == bytes.len());
        let layout = layout.ok_or("shorter or longer than its rows need")?;
        Ok(Self {
            rows,
            dimensions,
            stride: stride(dimensions),
            present: bytes.slice(layout.present),
            sign_codes: bytes.slice(layout.sign_codes),
            vectors: bytes.slice(layout.vectors),
        })
    }

    /// The blocks of sign codes, each of the next [`BLOCK_ROWS`] rows.
    pub(crate) fn blocks(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.sign_codes.chunks_exact(block_bytes(self.dimensions))
    }

    /// The stored vector of a row; `None` when it has none.
    pub(crate) fn stored(&self, row: u32) -> Option<&[u8]> {
        let at = row as usize;
        let present = row < self.rows && self.present.get(at / 8)? >> (at % 8) & 1 == 1;
        let stored = present.then(|| self.vectors.get(at * self.stride..(at + 1) * self.stride));
        stored.flatten()
    }

    /// The vector of a row.
    pub(crate) fn vector(&self, row: u32) -> Option<Vector> {
        self.stored(row).and_then(|stored| Query::load(stored, self.dimensions))
    }
}

use std::ops::Range;

use bytes::Bytes;
use data_embedding::{BLOCK_ROWS, DIMENSIONS_MAX, Query, Vector, block_bytes, stride};

pub(crate) const VECTORS: &str = "vectors.bin";

const MAGIC: &[u8; 8] = b"HAATVEC1";
/// Alignment of sections, in bytes.
const ALIGNMENT: usize = 64;

#[derive(Debug)]
pub(crate) struct Vectors {
    rows: u32,
    dimensions: usize,
    stride: usize,
    /// One bit per row, which is set if the row has a vector.
    present: Bytes,
    sign_codes: Bytes,
    vectors: Bytes,
}

/// Ranges of the sections of a file: one bit per row, then the sign codes in blocks, then the vectors as written by
/// [`Query::store`].
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) present: Range<usize>,
    pub(super) sign_codes: Range<usize>,
    pub(super) vectors: Range<usize>,
}

impl Layout {
    /// Returns `None` if the file would exceed the address space.
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

pub(super) fn header(rows: u32, dimensions: usize) -> Vec<u8> {
    let dimensions = u32::try_from(dimensions).unwrap_or(u32::MAX);
    [&MAGIC[..], &rows.to_le_bytes(), &dimensions.to_le_bytes()].concat()
}

impl Vectors {
    /// Checks the length of the file against the number of rows, so that later reads are in bounds.
    pub(crate) fn open(bytes: &Bytes, rows: u32, dimensions: u32) -> Result<Self, &'static str> {
        let dimensions = dimensions as usize;
        if !(1..=DIMENSIONS_MAX).contains(&dimensions) {
            return Err("the number of dimensions is zero or too large");
        }
        if !bytes.starts_with(&header(rows, dimensions)) {
            return Err("the rows or vectors differ from the manifest's");
        }
        let layout = Layout::of(rows, dimensions).filter(|layout| layout.vectors.end == bytes.len());
        let layout = layout.ok_or("the file's length does not match its number of rows")?;
        Ok(Self {
            rows,
            dimensions,
            stride: stride(dimensions),
            present: bytes.slice(layout.present),
            sign_codes: bytes.slice(layout.sign_codes),
            vectors: bytes.slice(layout.vectors),
        })
    }

    /// A block has the sign codes of [`BLOCK_ROWS`] rows.
    pub(crate) fn blocks(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.sign_codes.chunks_exact(block_bytes(self.dimensions))
    }

    pub(crate) fn stored(&self, row: u32) -> Option<&[u8]> {
        let at = row as usize;
        let present = row < self.rows && self.present.get(at / 8)? >> (at % 8) & 1 == 1;
        let stored = present.then(|| self.vectors.get(at * self.stride..(at + 1) * self.stride));
        stored.flatten()
    }

    pub(crate) fn vector(&self, row: u32) -> Option<Vector> {
        self.stored(row).and_then(|stored| Query::load(stored, self.dimensions))
    }
}

use std::ops::Range;

use arrow::buffer::{Buffer, ScalarBuffer};
use bytes::Bytes;
use data_embedding::{Query, Vector, stride};

use super::cluster::Lists;

/// The file's name within a part.
pub(crate) const VECTORS: &str = "vectors.bin";

const MAGIC: &[u8; 8] = b"HAATVEC1";
/// Sections begin at multiples of this.
const ALIGNMENT: usize = 64;
/// The position of a row that has no vector.
const NOWHERE: u32 = u32::MAX;
/// As many components as a vector may have.
const DIMENSIONS_MAX: u32 = 1 << 16;

/// A part's vectors, opened: positions are the order in which they lie, rows those of the part's columns.
#[derive(Debug)]
pub(crate) struct Vectors {
    dimensions: usize,
    stride: usize,
    /// Where each list's positions end.
    ends: ScalarBuffer<u32>,
    centroids: Bytes,
    rows: ScalarBuffer<u32>,
    positions: ScalarBuffer<u32>,
    vectors: Bytes,
}

/// Where the sections of a file lie.
#[derive(Debug)]
struct Layout {
    ends: Range<usize>,
    centroids: Range<usize>,
    rows: Range<usize>,
    positions: Range<usize>,
    vectors: Range<usize>,
}

impl Layout {
    /// `None` when the file would be larger than memory.
    fn of([rows, dimensions, lists, count]: [u32; 4]) -> Option<Self> {
        let stride = stride(dimensions as usize);
        let mut end = ALIGNMENT;
        let mut section = |items: u32, size_bytes: usize| {
            let start = end.checked_next_multiple_of(ALIGNMENT)?;
            end = start.checked_add((items as usize).checked_mul(size_bytes)?)?;
            Some(start..end)
        };
        Some(Self {
            ends: section(lists, 4)?,
            centroids: section(lists, stride)?,
            rows: section(count, 4)?,
            positions: section(rows, 4)?,
            vectors: section(count, stride)?,
        })
    }
}

impl Vectors {
    /// The bytes of the file, of rows as [`Query::store`] writes them: `stored` holds one for each row that has a
    /// vector, `present` says which do.
    pub(super) fn write(dimensions: usize, present: &[bool], stored: &[u8], lists: &Lists) -> Option<Vec<u8>> {
        let number = |count: usize| u32::try_from(count).ok();
        let with_vector: Vec<u32> = (0..)
            .zip(present)
            .filter(|(_, has)| **has)
            .map(|(row, _)| row)
            .collect();
        let header = [
            number(present.len())?,
            number(dimensions)?,
            number(lists.members.len())?,
            number(with_vector.len())?,
        ];
        let layout = Layout::of(header)?;
        let mut out = Vec::with_capacity(layout.vectors.end);
        out.extend_from_slice(MAGIC);
        put(&mut out, header);
        out.resize(layout.ends.start, 0);
        let ends = lists.members.iter().scan(0, |end, members| {
            *end += number(members.len())?;
            Some(*end)
        });
        put(&mut out, ends);
        out.resize(layout.centroids.start, 0);
        out.extend_from_slice(&lists.centroids);
        out.resize(layout.rows.start, 0);
        let mut positions = vec![NOWHERE; present.len()];
        let in_lists = lists.members.iter().flatten();
        for (position, nth) in (0..).zip(in_lists.clone()) {
            let row = with_vector[*nth as usize];
            positions[row as usize] = position;
            put(&mut out, [row]);
        }
        out.resize(layout.positions.start, 0);
        put(&mut out, positions);
        out.resize(layout.vectors.start, 0);
        let stride = stride(dimensions);
        for nth in in_lists {
            let from = *nth as usize * stride;
            out.extend_from_slice(&stored[from..from + stride]);
        }
        Some(out)
    }

    /// Reads a file, and checks everything that later reads rely on.
    pub(crate) fn open(bytes: &Bytes, rows: u32, dimensions: u32) -> Result<Self, &'static str> {
        let header = header(bytes).ok_or("no header")?;
        let [found_rows, found_dimensions, lists, count] = header;
        if found_rows != rows {
            return Err("another number of rows than the manifest's");
        }
        if found_dimensions != dimensions || !(1..=DIMENSIONS_MAX).contains(&dimensions) {
            return Err("vectors of another length than the manifest's");
        }
        if count > rows || (lists == 0) != (count == 0) {
            return Err("more vectors than rows, or no list for them");
        }
        let layout = Layout::of(header).filter(|layout| layout.vectors.end == bytes.len());
        let layout = layout.ok_or("shorter or longer than it says")?;
        let opened = Self {
            dimensions: dimensions as usize,
            stride: stride(dimensions as usize),
            ends: numbers(bytes, layout.ends)?,
            centroids: bytes.slice(layout.centroids),
            rows: numbers(bytes, layout.rows)?,
            positions: numbers(bytes, layout.positions)?,
            vectors: bytes.slice(layout.vectors),
        };
        opened.check(count)?;
        Ok(opened)
    }

    fn check(&self, count: u32) -> Result<(), &'static str> {
        if !self.ends.is_sorted() || self.ends.last().copied().unwrap_or(0) != count {
            return Err("lists that do not hold the vectors");
        }
        let met = |(position, row): (u32, &u32)| self.positions.get(*row as usize) == Some(&position);
        let placed = self.positions.iter().filter(|position| **position != NOWHERE).count();
        if (0..).zip(self.rows.iter()).all(met) && placed == count as usize {
            Ok(())
        } else {
            Err("positions that are not those of the rows")
        }
    }

    /// How many vectors there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn lists(&self) -> usize {
        self.ends.len()
    }

    /// The positions of a list.
    pub(super) fn list(&self, list: usize) -> Range<usize> {
        let end = |list: usize| self.ends.get(list).map_or(0, |end| *end as usize);
        list.checked_sub(1).map_or(0, end)..end(list)
    }

    /// The centroids, one stored row a list.
    pub(super) fn centroids(&self) -> &[u8] {
        &self.centroids
    }

    /// The stored rows at these positions.
    pub(super) fn stored(&self, positions: Range<usize>) -> &[u8] {
        let bytes = positions.start * self.stride..positions.end * self.stride;
        self.vectors.get(bytes).unwrap_or_default()
    }

    /// The part's row at a position.
    pub(super) fn row_at(&self, position: usize) -> u32 {
        self.rows.get(position).copied().unwrap_or(NOWHERE)
    }

    /// What is stored of a part's row; `None` when it has no vector.
    pub(super) fn of_row(&self, row: u32) -> Option<&[u8]> {
        let position = *self.positions.get(row as usize)? as usize;
        self.vectors
            .get(position.checked_mul(self.stride)?..)?
            .get(..self.stride)
    }

    /// The vector of a part's row.
    pub(crate) fn vector(&self, row: u32) -> Option<Vector> {
        self.of_row(row).and_then(|stored| Query::load(stored, self.dimensions))
    }
}

fn put(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = u32>) {
    numbers
        .into_iter()
        .for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}

fn header(bytes: &[u8]) -> Option<[u32; 4]> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (numbers, _) = rest.get(..16)?.as_chunks::<4>();
    let mut numbers = numbers.iter().map(|bytes| u32::from_le_bytes(*bytes));
    Some([numbers.next()?, numbers.next()?, numbers.next()?, numbers.next()?])
}

/// Numbers read in place, on a processor that keeps them as the file does.
fn numbers(bytes: &Bytes, section: Range<usize>) -> Result<ScalarBuffer<u32>, &'static str> {
    let buffer = Buffer::from(bytes.slice(section));
    if buffer.as_ptr().align_offset(align_of::<u32>()) != 0 || cfg!(target_endian = "big") {
        return Err("it cannot be read in place here");
    }
    Ok(ScalarBuffer::from(buffer))
}

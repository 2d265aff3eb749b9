/// Number of symbols that are stored next to a row's kind.
const SYMBOLS: usize = 7;

/// Facet values of a part's rows in packed form. Values that many rows share have one number, the kind. Counting a row
/// means counting its kind and its few own symbols.
#[derive(Debug)]
pub(super) struct PackedValues {
    rows: Vec<Row>,
    /// Symbols of rows with more than fit next to the kind, with the start of each row's symbols.
    further: Vec<u32>,
    further_starts: Vec<u32>,
    /// Symbols below this value are codes of values in the part, and the others are sets of codes.
    sets_from: u32,
    sets: Vec<Box<[u32]>>,
    kinds: Vec<Kind>,
}

/// Values of a row in half a cache line, so that reading them waits for memory only once.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(super) struct Row {
    pub(super) kind: u32,
    /// Unused slots contain a placeholder. The last slot may point to further symbols.
    pub(super) symbols: [u32; SYMBOLS],
}

/// Values that some rows of a part share.
#[derive(Debug, Default)]
pub(super) struct Kind {
    /// Codes in the part.
    pub(super) codes: Vec<u32>,
    /// Facets of the values, as indexes in the part.
    pub(super) facets: Vec<usize>,
}

impl PackedValues {
    pub(super) fn new(codes: usize, sets: Vec<Box<[u32]>>, kinds: Vec<Kind>, rows: usize) -> Self {
        Self {
            rows: Vec::with_capacity(rows),
            further: Vec::new(),
            further_starts: vec![0],
            sets_from: number(codes),
            sets,
            kinds,
        }
    }

    /// Adds the next row with its kind and its other values.
    pub(super) fn push(&mut self, kind: u32, held: &[u32]) {
        let nothing_from = self.sets_from + number(self.sets.len());
        let mut symbols: [u32; SYMBOLS] = std::array::from_fn(|at| nothing_from + number(at));
        let beside = if held.len() > SYMBOLS { SYMBOLS - 1 } else { held.len() };
        let (beside, further) = held.split_at(beside);
        symbols
            .iter_mut()
            .zip(beside)
            .for_each(|(symbol, held)| *symbol = *held);
        if !further.is_empty() {
            symbols[SYMBOLS - 1] = self.further_from() + number(self.further_starts.len() - 1);
            self.further.extend(further);
            self.further_starts.push(number(self.further.len()));
        }
        self.rows.push(Row { kind, symbols });
    }

    #[inline]
    pub(super) fn row(&self, row: u32) -> Option<&Row> {
        self.rows.get(row as usize)
    }

    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Returns the symbols of a row that are not stored next to its kind.
    #[inline]
    pub(super) fn further(&self, row: &Row) -> &[u32] {
        let Some(at) = row.symbols[SYMBOLS - 1].checked_sub(self.further_from()) else {
            return &[];
        };
        match self.further_starts.get(at as usize..at as usize + 2) {
            Some([start, end]) => self.further.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    #[inline]
    pub(super) fn codes<'a>(&'a self, symbol: &'a u32) -> &'a [u32] {
        match symbol.checked_sub(self.sets_from) {
            None => std::slice::from_ref(symbol),
            Some(at) => self.sets.get(at as usize).map_or(&[], |set| &**set),
        }
    }

    /// Returns the number of symbols that are codes, which come first.
    pub(super) const fn codes_len(&self) -> usize {
        self.sets_from as usize
    }

    /// Returns the sets of codes for the symbols after the codes.
    pub(super) fn sets(&self) -> &[Box<[u32]>] {
        &self.sets
    }

    /// Returns the number of symbols, including placeholders and without those that point to further symbols.
    pub(super) fn symbols_len(&self) -> usize {
        self.further_from() as usize
    }

    fn further_from(&self) -> u32 {
        self.sets_from + number(self.sets.len() + SYMBOLS)
    }
}

/// A part has fewer rows than fit in a `u32`, and a row has at most some thousand values.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

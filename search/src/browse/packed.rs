/// So many symbols of a row stand beside its kind.
const SYMBOLS: usize = 7;

/// The facet values of a part's rows, those that many rows have alike under one number: to count a row is to count its kind
/// and the few symbols that are its own.
#[derive(Debug)]
pub(super) struct PackedValues {
    rows: Vec<Row>,
    /// The symbols of rows that have more of them than stand beside the kind, and where those of each begin.
    further: Vec<u32>,
    further_starts: Vec<u32>,
    /// A symbol below is the part's code of a value; the next ones are sets of codes.
    sets_from: u32,
    sets: Vec<Box<[u32]>>,
    kinds: Vec<Kind>,
}

/// A row's values, in half a line of the processor's cache: a look at it waits for memory once.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(super) struct Row {
    pub(super) kind: u32,
    /// A place that is not needed has a symbol of its own that stands for nothing; the last may point to further ones.
    pub(super) symbols: [u32; SYMBOLS],
}

/// The values that some rows of a part have alike.
#[derive(Debug, Default)]
pub(super) struct Kind {
    /// The part's codes of values that they all have.
    pub(super) codes: Vec<u32>,
    /// The facets that they have any value of, by their places in the part.
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

    /// Adds the next row: its kind, and its further values.
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

    /// The symbols of a row that do not stand beside its kind.
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

    /// The codes that a symbol stands for.
    #[inline]
    pub(super) fn codes<'a>(&'a self, symbol: &'a u32) -> &'a [u32] {
        match symbol.checked_sub(self.sets_from) {
            None => std::slice::from_ref(symbol),
            Some(at) => self.sets.get(at as usize).map_or(&[], |set| &**set),
        }
    }

    /// The number of symbols that are codes; they are the first.
    pub(super) const fn codes_len(&self) -> usize {
        self.sets_from as usize
    }

    /// The codes that the symbols behind those stand for.
    pub(super) fn sets(&self) -> &[Box<[u32]>] {
        &self.sets
    }

    /// The number of symbols, with those that stand for nothing and without those that say where there are more.
    pub(super) fn symbols_len(&self) -> usize {
        self.further_from() as usize
    }

    fn further_from(&self) -> u32 {
        self.sets_from + number(self.sets.len() + SYMBOLS)
    }
}

/// A part has fewer rows than a `u32` counts, and no row has more than some thousand values.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

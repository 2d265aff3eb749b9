use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use data_index::{Part, Release, RowAddress};
use data_model::{CurrencyCode, Kind, Kinds};

use super::bits::{Bits, ROWS_PER_WORD, positions};
use crate::lexical::{Order, Sort};
use crate::siblings::{Family, Siblings, Stretch};

/// All rows of a release, numbered part after part, with the live rows in each sort order. The first row of each part
/// has a multiple of 64 as its number.
#[derive(Debug)]
pub(crate) struct Rows {
    /// First row of each part, followed by the end of the last part.
    starts: Vec<u32>,
    /// Bitmap of the live rows of the kind goods.
    goods: Vec<u64>,
    /// Bitmap of the live rows with a price above 0, by currency.
    currencies: Vec<(CurrencyCode, Vec<u64>)>,
    /// Live rows of each brand, by index in [`Release::brands`].
    brands: Vec<Vec<Range<u32>>>,
    /// Brands sorted by slug, and the rank of each brand in that order.
    brands_by_slug: Vec<u32>,
    places_by_slug: Vec<u32>,
    relevance: Vec<u32>,
    /// Rank of each row in `relevance`.
    ranks: Vec<u32>,
    rating: Vec<u32>,
    newest: Vec<u32>,
    /// Both price orders group by currency, because prices of different currencies are never compared. Rows without a
    /// price are last in their currency.
    price_ascending: Vec<u32>,
    price_descending: Vec<u32>,
    /// Range of each currency in the two price orders, and its number of rows with a price.
    price_spans: Vec<(CurrencyCode, Range<usize>, usize)>,
}

/// Rows of one part within a window.
pub(super) struct Segment<'a> {
    pub(super) at: usize,
    pub(super) part: &'a Part,
    /// First word of the segment, relative to the part.
    pub(super) first: usize,
    /// Words of the window in the segment.
    pub(super) words: Range<usize>,
}

/// Rows of a set in one part, by their ascending numbers in the part.
pub(super) struct PartRows<'a> {
    pub(super) at: usize,
    pub(super) part: &'a Part,
    pub(super) rows: Vec<u32>,
}

impl Rows {
    pub(super) fn of(release: &Release) -> Self {
        let mut starts = vec![0_u32];
        for part in release.parts() {
            let start = starts.last().copied().unwrap_or(0);
            starts.push(start.saturating_add(part.rows()).next_multiple_of(64));
        }
        let words = starts.last().map_or(0, |end| *end as usize / ROWS_PER_WORD);
        let mut rows = Self {
            goods: Vec::new(),
            currencies: Vec::new(),
            brands: vec![Vec::new(); release.brands().len()],
            brands_by_slug: Vec::new(),
            places_by_slug: vec![0; release.brands().len()],
            relevance: Vec::new(),
            ranks: vec![u32::MAX; words * ROWS_PER_WORD],
            rating: Vec::new(),
            newest: Vec::new(),
            price_ascending: Vec::new(),
            price_descending: Vec::new(),
            price_spans: Vec::new(),
            starts,
        };
        let mut alive = Bits::empty(0..words);
        for (start, part) in rows.starts.iter().zip(release.parts()) {
            for held in part.entry().stores.iter().filter(|held| held.live && held.rows > 0) {
                let range = start + held.first_row..start + held.first_row + held.rows;
                alive.insert_range(range.clone());
                let brand = release.brand_index(&held.store).and_then(|at| rows.brands.get_mut(at));
                if let Some(ranges) = brand {
                    ranges.push(range);
                }
            }
        }
        rows.note_slugs(release);
        rows.note_currencies(release, &alive);
        rows.sort(release, &alive);
        for (start, part) in rows.starts.iter().zip(release.parts()) {
            part.unlisted().iter().for_each(|row| alive.remove(start + row));
        }
        rows.goods = alive.words;
        rows
    }

    fn note_slugs(&mut self, release: &Release) {
        let mut slugs: Vec<_> = (0..)
            .zip(release.brands())
            .map(|(at, entry)| (&entry.facts.brand.slug, at))
            .collect();
        slugs.sort_unstable();
        self.brands_by_slug = slugs.into_iter().map(|(_, at)| at).collect();
        for (place, at) in (0..).zip(&self.brands_by_slug) {
            if let Some(known) = self.places_by_slug.get_mut(*at as usize) {
                *known = place;
            }
        }
    }

    fn note_currencies(&mut self, release: &Release, alive: &Bits) {
        let mut currencies: Vec<(CurrencyCode, Bits)> = Vec::new();
        for row in alive.iter() {
            let Some((part, at)) = self.row(release, row) else {
                continue;
            };
            let currency = part.cards().currency(at);
            if part.cards().price_min_minor(at) <= 0 {
                continue;
            }
            let known = currencies.iter().position(|(known, _)| *known == currency);
            let known = known.unwrap_or_else(|| {
                currencies.push((currency, Bits::empty(alive.window())));
                currencies.len() - 1
            });
            currencies[known].1.insert(row);
        }
        currencies.sort_by_key(|(currency, _)| *currency);
        self.currencies = currencies
            .into_iter()
            .map(|(currency, bits)| (currency, bits.words))
            .collect();
    }

    fn sort(&mut self, release: &Release, alive: &Bits) {
        // Products in stock come before those that are sold out. Quality is not negative, so that its bits compare like
        // its value.
        let keyed = |row| {
            let (part, at) = self.row(release, row)?;
            let (cards, id) = (part.cards(), *part.cards().id(at).as_bytes());
            let presentable = (cards.in_stock(at), cards.quality(at).to_bits());
            Some((Reverse(presentable), u128::from_be_bytes(id), row))
        };
        let mut sorted: Vec<_> = alive.iter().filter_map(keyed).collect();
        sorted.sort_unstable();
        self.relevance = sorted.into_iter().map(|(_, _, row)| row).collect();
        for (rank, row) in (0..).zip(&self.relevance) {
            self.ranks[*row as usize] = rank;
        }
        self.rating = self.sorted(release, Order::Rating);
        self.newest = self.sorted(release, Order::Newest);
        self.price_ascending = self.sorted(release, Order::PriceAscending);
        self.price_descending = self.sorted(release, Order::PriceDescending);
        let currency_of = |row: &u32| Some(self.row(release, *row)?.0.cards().currency(self.address(*row).row));
        let mut spans = Vec::new();
        let mut start = 0;
        let alike = self
            .price_ascending
            .chunk_by(|one, other| currency_of(one) == currency_of(other));
        for rows in alike {
            let span = start..start + rows.len();
            start = span.end;
            if let Some(currency) = rows.first().and_then(currency_of) {
                let words = self.in_currency(currency).unwrap_or_default();
                let priced = words.iter().map(|word| word.count_ones() as usize).sum();
                spans.push((currency, span, priced));
            }
        }
        self.price_spans = spans;
    }

    /// Returns all live rows in a sort order. Ties are in order of relevance.
    fn sorted(&self, release: &Release, order: Order) -> Vec<u32> {
        let sort = Sort { order, currency: None };
        let keyed = (0_u32..).zip(&self.relevance).filter_map(|(rank, row)| {
            let (part, at) = self.row(release, *row)?;
            Some((Reverse(sort.key(part, at)), rank))
        });
        let mut keyed: Vec<_> = keyed.collect();
        keyed.sort_unstable();
        keyed
            .into_iter()
            .map(|(_, rank)| self.relevance[rank as usize])
            .collect()
    }

    pub(super) fn row<'a>(&self, release: &'a Release, row: u32) -> Option<(&'a Part, u32)> {
        let address = self.address(row);
        Some((release.part(address.part)?, address.row))
    }

    pub(super) fn address(&self, row: u32) -> RowAddress {
        let part = self.starts.partition_point(|start| *start <= row).saturating_sub(1);
        RowAddress {
            part: u32::try_from(part).unwrap_or(u32::MAX),
            row: row - self.starts.get(part).copied().unwrap_or(0),
        }
    }

    pub(super) fn number(&self, at: RowAddress) -> Option<u32> {
        Some(self.starts.get(at.part as usize)? + at.row)
    }

    pub(super) fn family(&self, release: &Release, siblings: &Siblings, row: u32) -> Option<Family> {
        let (part, at) = self.row(release, row)?;
        let brand = part.brand_index(at);
        siblings.family(brand, row, || self.stretches(release, brand))
    }

    fn stretches<'a>(&self, release: &'a Release, brand: usize) -> Vec<Stretch<'a>> {
        let stretch = |rows: &Range<u32>| {
            let at = self.address(rows.start);
            let start = rows.start - at.row;
            Some(Stretch {
                part: release.part(at.part)?,
                start,
                rows: at.row..rows.end - start,
            })
        };
        self.brand(brand).iter().filter_map(stretch).collect()
    }

    pub(super) fn goods(&self) -> &[u64] {
        &self.goods
    }

    pub(super) fn of_kinds(&self, release: &Release, kinds: Kinds) -> Cow<'_, [u64]> {
        if kinds == Kinds::GOODS {
            return Cow::Borrowed(&self.goods);
        }
        let mut bits = Bits::empty(0..self.goods.len());
        if kinds.has(Kind::Goods) {
            bits.words.copy_from_slice(&self.goods);
        }
        for (start, part) in self.starts.iter().zip(release.parts()) {
            let rows = part.others(kinds).flatten();
            rows.for_each(|row| bits.insert(start + row));
        }
        Cow::Owned(bits.words)
    }

    pub(super) fn live(&self) -> usize {
        self.relevance.len()
    }

    pub(super) fn brand(&self, brand: usize) -> &[Range<u32>] {
        self.brands.get(brand).map_or(&[], Vec::as_slice)
    }

    /// Returns the rank of a brand by slug.
    pub(super) fn place_by_slug(&self, brand: usize) -> u32 {
        self.places_by_slug.get(brand).copied().unwrap_or(u32::MAX)
    }

    /// Returns the brand with this rank by slug.
    pub(super) fn brand_by_slug(&self, place: u32) -> Option<usize> {
        self.brands_by_slug.get(place as usize).map(|at| *at as usize)
    }

    /// Returns `None` if no live row has a price in this currency.
    pub(super) fn in_currency(&self, currency: CurrencyCode) -> Option<&[u64]> {
        let at = self
            .currencies
            .binary_search_by_key(&currency, |(known, _)| *known)
            .ok()?;
        self.currencies.get(at).map(|(_, words)| words.as_slice())
    }

    pub(super) fn currencies(&self) -> impl ExactSizeIterator<Item = CurrencyCode> {
        self.currencies.iter().map(|(currency, _)| *currency)
    }

    /// Returns one bitmap per other currency.
    pub(super) fn in_others(&self, currency: CurrencyCode) -> impl Iterator<Item = &[u64]> {
        let others = self.currencies.iter().filter(move |(known, _)| *known != currency);
        others.map(|(_, words)| words.as_slice())
    }

    pub(super) fn rank(&self, row: u32) -> u32 {
        self.ranks.get(row as usize).copied().unwrap_or(u32::MAX)
    }

    /// Returns the row with this rank by relevance.
    pub(super) fn ranked(&self, rank: u32) -> u32 {
        self.relevance.get(rank as usize).copied().unwrap_or(u32::MAX)
    }

    /// Returns all live rows as consecutive runs. A sort by price starts with rows priced in `currency`, followed by
    /// other rows by currency.
    pub(super) fn order(&self, order: Order, currency: CurrencyCode) -> [&[u32]; 3] {
        let by_currency = |rows| {
            let span = self.price_span(currency).map_or(0..0, |(span, _)| span);
            let run = |range| <[u32]>::get(rows, range).unwrap_or_default();
            [run(span.clone()), run(0..span.start), run(span.end..rows.len())]
        };
        match order {
            Order::Relevance => [&self.relevance, &[], &[]],
            Order::Rating => [&self.rating, &[], &[]],
            Order::Newest => [&self.newest, &[], &[]],
            Order::PriceAscending => by_currency(&self.price_ascending),
            Order::PriceDescending => by_currency(&self.price_descending),
        }
    }

    /// Returns the live rows with a price in a currency, cheapest first.
    pub(super) fn cheapest(&self, currency: CurrencyCode) -> &[u32] {
        let span = self.price_span(currency);
        let priced = span.map(|(span, priced)| span.start..span.start + priced);
        priced
            .and_then(|rows| self.price_ascending.get(rows))
            .unwrap_or_default()
    }

    fn price_span(&self, currency: CurrencyCode) -> Option<(Range<usize>, usize)> {
        let mut spans = self.price_spans.iter().filter(|(known, ..)| *known == currency);
        spans.next().map(|(_, span, priced)| (span.clone(), *priced))
    }

    /// Returns the segments of the parts in a window.
    pub(super) fn segments<'a>(
        &self,
        release: &'a Release,
        window: &Range<usize>,
    ) -> impl Iterator<Item = Segment<'a>> + use<'_, 'a> {
        let window = window.clone();
        let bounds = self.starts.windows(2).zip(release.parts()).enumerate();
        bounds.filter_map(move |(at, (bounds, part))| {
            let [start, end] = [bounds[0], bounds[1]].map(|row| row as usize / ROWS_PER_WORD);
            let (from, to) = (start.max(window.start), end.min(window.end));
            (from < to).then(|| Segment {
                at,
                part,
                first: from - start,
                words: from - window.start..to - window.start,
            })
        })
    }

    /// Returns the rows of a set by part. Listing them once is faster than scanning the bitmap several times.
    pub(super) fn listed<'a>(&self, release: &'a Release, of: &Bits) -> Vec<PartRows<'a>> {
        let listed = self.segments(release, &of.window()).map(|segment| {
            let words = of.words.get(segment.words).unwrap_or_default();
            PartRows {
                at: segment.at,
                part: segment.part,
                rows: positions(segment.first, words),
            }
        });
        listed.collect()
    }
}

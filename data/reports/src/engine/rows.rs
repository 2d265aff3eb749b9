use std::collections::{BTreeMap, HashMap, HashSet};

use arrow::array::RecordBatch;

use crate::figures::{BrandFigures, EXAMPLES_MAX, Field, PriceMove, PriceMoves, SIZES, UNMOVED};
use crate::flat::{FiguresError, RowColumns, RowGaps};

#[derive(Default)]
struct StoreTally<'a> {
    figures: BrandFigures,
    ids: HashSet<i64>,
    handles: HashSet<&'a str>,
    titles: HashSet<&'a str>,
}

/// Computes the figures by store. The rows of `products` must have [`crate::COLUMNS`].
pub fn figures(products: &[RecordBatch]) -> Result<BTreeMap<String, BrandFigures>, FiguresError> {
    let batches: Vec<RowGaps> = products.iter().map(RowGaps::of).collect::<Result<_, _>>()?;
    let mut stores: HashMap<&str, StoreTally<'_>> = HashMap::new();
    for batch in &batches {
        for row in 0..batch.keys.len() {
            count(stores.entry(batch.keys.store.value(row)).or_default(), batch, row);
        }
    }
    let figures = stores.into_iter().map(|(store, seen)| (store.to_owned(), seen.figures));
    Ok(figures.collect())
}

fn count<'a>(seen: &mut StoreTally<'a>, batch: &'a RowGaps, row: usize) {
    let (keys, figures) = (&batch.keys, &mut seen.figures);
    figures.products += 1;
    for (field, missing) in Field::ALL.into_iter().zip(&batch.missing) {
        if missing.value(row) {
            *figures.missing.entry(field).or_default() += 1;
        }
    }
    let duplicates = &mut figures.duplicates;
    duplicates.ids += u64::from(!seen.ids.insert(keys.id.value(row)));
    duplicates.handles += u64::from(!seen.handles.insert(batch.handle.value(row)));
    // Index 0 is the title, the first of the fields.
    if !batch.missing[0].value(row) {
        duplicates.titles += u64::from(!seen.titles.insert(keys.title.value(row)));
    }
    let currency = keys.currency.value(row);
    match figures.currencies.get_mut(currency) {
        Some(products) => *products += 1,
        None => _ = figures.currencies.insert(currency.to_owned(), 1),
    }
}

type Places<'a> = BTreeMap<(&'a str, i64), (&'a RowColumns, usize)>;

fn places(batches: &[RowColumns]) -> Places<'_> {
    let mut places = Places::new();
    for batch in batches {
        for row in 0..batch.len() {
            let key = (batch.store.value(row), batch.id.value(row));
            places.entry(key).or_insert((batch, row));
        }
    }
    places
}

/// Computes the price changes from `before` to `now` by store. The rows of `products` must have
/// [`crate::PRICE_COLUMNS`]. A price jumped if it rose or fell by at least `jump_factor`. The first of several rows
/// with the same id counts.
pub fn moves(
    before: &[RecordBatch],
    now: &[RecordBatch],
    jump_factor: u32,
) -> Result<BTreeMap<String, PriceMoves>, FiguresError> {
    let before: Vec<RowColumns> = before.iter().map(RowColumns::of).collect::<Result<_, _>>()?;
    let now: Vec<RowColumns> = now.iter().map(RowColumns::of).collect::<Result<_, _>>()?;
    let (before, now) = (places(&before), places(&now));
    let mut stores: BTreeMap<String, PriceMoves> = BTreeMap::new();
    for ((store, id), (batch, row)) in now {
        let Some((was, place)) = before.get(&(store, id)) else {
            continue;
        };
        let moves = match stores.get_mut(store) {
            Some(moves) => moves,
            None => stores.entry(store.to_owned()).or_default(),
        };
        moves.compared += 1;
        if was.currency.value(*place) != batch.currency.value(row) {
            moves.currency_changed += 1;
            continue;
        }
        let (from, to) = (was.price.value(*place), batch.price.value(row));
        moves.by_size[size(from, to)] += 1;
        if is_jump(from, to, i64::from(jump_factor)) {
            moves.jumped += 1;
            if moves.examples.len() < EXAMPLES_MAX {
                moves.examples.push(PriceMove {
                    platform_product_id: id,
                    title: batch.title.value(row).to_owned(),
                    currency: batch.currency.value(row).to_owned(),
                    before_minor: from,
                    now_minor: to,
                });
            }
        }
    }
    Ok(stores)
}

fn is_jump(from: i64, to: i64, factor: i64) -> bool {
    from != to && (to >= from.saturating_mul(factor) || to.saturating_mul(factor) <= from)
}

fn size(from: i64, to: i64) -> usize {
    match () {
        () if from == to => UNMOVED,
        () if to * 10 <= from => 0,
        () if to * 2 <= from => 1,
        () if to * 5 <= from * 4 => 2,
        () if to < from => 3,
        () if to >= from * 10 => SIZES.len() - 1,
        () if to >= from * 2 => 7,
        () if to * 4 >= from * 5 => 6,
        () => 5,
    }
}

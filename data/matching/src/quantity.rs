use crate::pieces::Piece;

/// Kind of a quantity. Amounts of one measure are compared in its smallest unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Measure {
    Mass,
    Volume,
    Length,
    Share,
    Count,
    Charge,
    Power,
    Voltage,
    Storage,
    Grammage,
    ThreadCount,
    Light,
    Frequency,
    Age,
}

/// Amount in thousandths of the measure's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity {
    pub(crate) measure: Measure,
    pub(crate) milli: i64,
    /// `true` if the amount is stated in inches, ounces or other imperial units.
    pub(crate) is_imperial: bool,
}

#[derive(Debug)]
struct Unit {
    spellings: &'static [&'static str],
    measure: Measure,
    /// Size of the unit in the base unit of its measure.
    size: f64,
    /// `true` if the unit is not a power of ten of the base unit.
    is_imperial: bool,
}

const fn metric(spellings: &'static [&'static str], measure: Measure, size: f64) -> Unit {
    Unit {
        spellings,
        measure,
        size,
        is_imperial: false,
    }
}

const fn imperial(spellings: &'static [&'static str], measure: Measure, size: f64) -> Unit {
    Unit {
        is_imperial: true,
        ..metric(spellings, measure, size)
    }
}

const UNITS: &[Unit] = &[
    metric(&["%"], Measure::Share, 1.0),
    metric(&["mg"], Measure::Mass, 0.001),
    metric(&["g", "gm", "gms", "gram", "grams"], Measure::Mass, 1.0),
    metric(
        &["kg", "kgs", "kilo", "kilos", "kilogram", "kilograms"],
        Measure::Mass,
        1000.0,
    ),
    imperial(&["oz"], Measure::Mass, 28.35),
    imperial(&["lb", "lbs"], Measure::Mass, 453.6),
    metric(&["ml", "mls", "millilitre", "milliliter"], Measure::Volume, 1.0),
    metric(
        &["l", "ltr", "ltrs", "litre", "litres", "liter", "liters"],
        Measure::Volume,
        1000.0,
    ),
    metric(&["cl"], Measure::Volume, 10.0),
    metric(&["mm"], Measure::Length, 1.0),
    metric(&["cm", "cms"], Measure::Length, 10.0),
    metric(
        &["m", "mtr", "metre", "metres", "meter", "meters"],
        Measure::Length,
        1000.0,
    ),
    imperial(&["in", "inch", "inches"], Measure::Length, 25.4),
    imperial(&["ft", "feet", "foot"], Measure::Length, 304.8),
    metric(
        &[
            "pc", "pcs", "piece", "pieces", "count", "ct", "nos", "tab", "tabs", "tablet", "tablets", "cap", "caps",
            "capsule", "capsules", "softgel", "softgels", "gummies", "sachets", "bags", "sheets", "wipes", "pods",
        ],
        Measure::Count,
        1.0,
    ),
    metric(&["mah"], Measure::Charge, 1.0),
    metric(&["w", "watt", "watts"], Measure::Power, 1.0),
    metric(&["kw"], Measure::Power, 1000.0),
    metric(&["v", "volt", "volts"], Measure::Voltage, 1.0),
    metric(&["mb"], Measure::Storage, 0.001),
    metric(&["gb"], Measure::Storage, 1.0),
    metric(&["tb"], Measure::Storage, 1000.0),
    metric(&["gsm"], Measure::Grammage, 1.0),
    metric(&["tc"], Measure::ThreadCount, 1.0),
    metric(&["lumen", "lumens"], Measure::Light, 1.0),
    metric(&["hz"], Measure::Frequency, 1.0),
    metric(&["khz"], Measure::Frequency, 1e3),
    metric(&["mhz"], Measure::Frequency, 1e6),
    metric(&["ghz"], Measure::Frequency, 1e9),
    metric(&["month", "months"], Measure::Age, 1.0),
    metric(&["year", "years", "yr", "yrs"], Measure::Age, 12.0),
];

/// Words before a number that state a pack size.
const PACKS: &[&str] = &["pack", "set", "combo", "bundle", "case", "box"];

#[derive(Debug, Default)]
pub(crate) struct TextQuantities {
    pub(crate) quantities: Vec<Quantity>,
    /// Number of items per pack, 1 by default.
    pub(crate) pack: u32,
    /// For each piece: `true` if it is part of a quantity.
    pub(crate) taken: Vec<bool>,
    /// A number that may be a count, if no count was found.
    pub(crate) counted: Option<CountCandidate>,
}

/// A number with the words that it may count. `100 Tea Bags` are 100 items, but `Omega 3 Fish Capsules` are not three
/// items. The number can only agree with a count in another title.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountCandidate {
    pub(crate) quantity: Quantity,
    pub(crate) number: usize,
    pub(crate) unit: usize,
}

/// Maximum number of words between a number and the counted noun.
const WORDS_BETWEEN: usize = 3;

impl Quantity {
    fn of(number: f64, unit: &Unit) -> Self {
        Self {
            measure: unit.measure,
            milli: (number * unit.size * 1000.0).round() as i64,
            is_imperial: unit.is_imperial,
        }
    }

    /// Returns `true` if the amounts are equal, apart from rounding between metric and imperial units.
    pub(crate) fn is_same(self, other: Self) -> bool {
        let least = self.milli.min(other.milli).max(0);
        let slack = if self.is_imperial == other.is_imperial {
            1
        } else {
            least / 50
        };
        self.measure == other.measure && self.milli.abs_diff(other.milli) <= slack.unsigned_abs()
    }
}

fn unit(piece: &Piece) -> Option<&'static Unit> {
    UNITS.iter().find(|unit| unit.spellings.contains(&piece.text.as_str()))
}

/// Returns the unit after the number at `at` and the number of words in the unit.
fn unit_after(pieces: &[Piece], at: usize) -> Option<(&'static Unit, usize)> {
    let next = pieces.get(at + 1)?;
    if next.text == "fl" && pieces.get(at + 2).is_some_and(|second| second.text == "oz") {
        static FLUID_OUNCE: Unit = imperial(&["fl oz"], Measure::Volume, 29.57);
        return Some((&FLUID_OUNCE, 2));
    }
    if next.text == "thread" && pieces.get(at + 2).is_some_and(|second| second.text == "count") {
        static THREADS: Unit = metric(&["thread count"], Measure::ThreadCount, 1.0);
        return Some((&THREADS, 2));
    }
    let unit = unit(next)?;
    // `in` is also a preposition. It is a unit if it is attached to its number, or if another side, a pack size or
    // nothing follows.
    let ends = pieces
        .get(at + 2)
        .is_none_or(|piece| piece.text == "x" || PACKS.contains(&piece.text.as_str()));
    (next.text != "in" || next.is_glued || ends).then_some((unit, 1))
}

/// Parses quantities and packs: `30 ml`, `6 x 200ml`, `16x16 in`, `3-6 months`, `pack of 2`, `2 pack`.
pub(crate) fn read(pieces: &[Piece]) -> TextQuantities {
    let mut read = TextQuantities {
        pack: 1,
        taken: vec![false; pieces.len()],
        ..TextQuantities::default()
    };
    let mut packs = Vec::new();
    for at in 0..pieces.len() {
        if read.taken.get(at) == Some(&true) {
            continue;
        }
        let Some(number) = pieces.get(at).and_then(|piece| piece.number) else {
            continue;
        };
        if let Some(taken) = pack_at(pieces, at) {
            packs.push(number as u32);
            take(&mut read.taken, taken);
            continue;
        }
        if let Some((unit, length)) = unit_after(pieces, at) {
            read.quantities.push(Quantity::of(number, unit));
            take(&mut read.taken, at..at + 1 + length);
            if let Some((times, taken)) = times_after(pieces, at + 1 + length).filter(|_| is_portion(unit)) {
                packs.push(times as u32);
                take(&mut read.taken, taken);
            }
            continue;
        }
        packs.extend(series(pieces, at, number, &mut read).map(|times| times as u32));
    }
    packs.sort_unstable();
    packs.dedup();
    // Equal pack sizes count once, and packs of sets multiply. Larger results cannot be distinguished from nonsense.
    let all = packs
        .into_iter()
        .fold(1_u32, |all, pack| all.saturating_mul(pack.max(1)));
    read.pack = all.min(10_000);
    read.quantities.sort_unstable();
    read.quantities.dedup();
    let has_count = read.quantities.iter().any(|said| said.measure == Measure::Count);
    read.counted = (0..pieces.len())
        .find_map(|at| counted(pieces, at, &read.taken))
        .filter(|_| !has_count);
    read
}

fn counted(pieces: &[Piece], at: usize, taken: &[bool]) -> Option<CountCandidate> {
    let number = pieces.get(at).filter(|piece| !piece.is_glued)?.number?;
    let is_free = |at: usize| taken.get(at) == Some(&false);
    let words = pieces.iter().enumerate().skip(at + 1).take(WORDS_BETWEEN + 1);
    let mut words = words.take_while(|(at, piece)| piece.number.is_none() && is_free(*at));
    let (found, unit) = words.find_map(|(at, piece)| Some((at, unit(piece)?)))?;
    let is_count = unit.measure == Measure::Count && is_free(at);
    is_count.then(|| CountCandidate {
        quantity: Quantity::of(number, unit),
        number: at,
        unit: found,
    })
}

fn take(taken: &mut [bool], range: std::ops::Range<usize>) {
    taken.get_mut(range).into_iter().flatten().for_each(|one| *one = true);
}

/// Parses `pack of 2`, `set of 3`, `pack 2`, `2 pack` or `3-pack`.
fn pack_at(pieces: &[Piece], at: usize) -> Option<std::ops::Range<usize>> {
    let text = |at: usize| pieces.get(at).map(|piece| piece.text.as_str());
    let before = |back: usize| at.checked_sub(back).and_then(text);
    if before(1) == Some("of") && before(2).is_some_and(|word| PACKS.contains(&word)) {
        return Some(at - 2..at + 1);
    }
    if before(1) == Some("pack") && unit_after(pieces, at).is_none() {
        return Some(at - 1..at + 1);
    }
    (text(at + 1) == Some("pack") || text(at + 1) == Some("pk")).then_some(at..at + 2)
}

/// Portions are sold in multiples, and lengths are not.
fn is_portion(unit: &Unit) -> bool {
    matches!(unit.measure, Measure::Mass | Measure::Volume | Measure::Count)
}

/// Returns the multiplier after the amount that ends before `at`, as in `40 g x 6`.
fn times_after(pieces: &[Piece], at: usize) -> Option<(f64, std::ops::Range<usize>)> {
    let is_times = pieces.get(at).is_some_and(|piece| piece.text == "x");
    let times = pieces.get(at + 1).filter(|_| is_times)?.number?;
    if unit_after(pieces, at + 1).is_some() {
        return None;
    }
    let names_pack = |piece: &Piece| matches!(piece.text.as_str(), "pack" | "pk");
    let length = if pieces.get(at + 2).is_some_and(names_pack) {
        3
    } else {
        2
    };
    Some((times, at..at + length))
}

/// Parses a series: `6 x 200 ml` is a pack, `16 x 16 in` is two lengths, `3-6 months` is a range. Returns the pack
/// size.
fn series(pieces: &[Piece], at: usize, number: f64, read: &mut TextQuantities) -> Option<f64> {
    let is_times = pieces
        .get(at + 1)
        .is_some_and(|piece| matches!(piece.text.as_str(), "x" | "to"));
    let second = if is_times { at + 2 } else { at + 1 };
    let next = pieces.get(second).filter(|next| is_times || next.is_hyphened)?;
    let (other, (unit, length)) = next.number.zip(unit_after(pieces, second))?;
    let is_pack = is_times && is_portion(unit);
    if !is_pack {
        read.quantities.push(Quantity::of(number, unit));
    }
    read.quantities.push(Quantity::of(other, unit));
    take(&mut read.taken, at..second + 1 + length);
    is_pack.then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::pieces;

    fn told(text: &str) -> (Vec<(Measure, i64)>, u32) {
        let read = read(&pieces(text));
        let quantities = read.quantities.into_iter().map(|one| (one.measure, one.milli / 1000));
        (quantities.collect(), read.pack)
    }

    #[test]
    fn quantities_are_read_in_all_their_spellings() {
        assert_eq!(told("Oil 1 Litre"), (vec![(Measure::Volume, 1000)], 1));
        assert_eq!(told("Oil 1000ml"), (vec![(Measure::Volume, 1000)], 1));
        assert_eq!(told("Can 6 x 200ml"), (vec![(Measure::Volume, 200)], 6));
        assert_eq!(told("Can 200ml (Pack of 6)"), (vec![(Measure::Volume, 200)], 6));
        assert_eq!(told("Can 200 ml 6-pack"), (vec![(Measure::Volume, 200)], 6));
        assert_eq!(told("Can 200 ml x 6"), (vec![(Measure::Volume, 200)], 6));
        assert_eq!(told("Can 6 x 200ml (Pack of 6)"), (vec![(Measure::Volume, 200)], 6));
        assert_eq!(told("Mugs Set of 2 (Pack of 3)"), (vec![], 6));
        assert_eq!(
            told("Cover 12x18 in"),
            (vec![(Measure::Length, 304), (Measure::Length, 457)], 1)
        );
        assert_eq!(
            told("Romper 3-6 Months"),
            (vec![(Measure::Age, 3), (Measure::Age, 6)], 1)
        );
        assert_eq!(told("Skillet 10\""), (vec![(Measure::Length, 254)], 1));
        assert_eq!(
            told("Pillows 16 x 24 in (Set of 2)"),
            (vec![(Measure::Length, 406), (Measure::Length, 609)], 2)
        );
        // Model numbers, years and words that look like units are not quantities.
        assert_eq!(told("Omega-3 Fish Oil"), (vec![], 1));
        assert_eq!(told("Blend 2 in 1"), (vec![], 1));
        assert_eq!(told("Darjeeling 2025 100 g"), (vec![(Measure::Mass, 100)], 1));
    }

    #[test]
    fn amounts_are_one_where_only_units_round() {
        let one = |text| read(&pieces(text)).quantities[0];
        assert!(one("10 inch").is_same(one("25.4 cm")));
        assert!(one("0.2 kg").is_same(one("200g")));
        assert!(!one("200 g").is_same(one("201 g")));
        assert!(!one("5%").is_same(one("10%")));
        // Values within one system of units are compared without rounding.
        assert!(!one("100 cm").is_same(one("101 cm")));
        assert!(!one("1.43 inch").is_same(one("1.45 inch")));
        assert!(one("2 ft").is_same(one("24 in")));
        assert!(one("128 GB").is_same(one("128GB")));
        assert!(!one("128 GB").is_same(one("256GB")));
        assert!(one("1 L").is_same(one("1000 ml")));
    }
}

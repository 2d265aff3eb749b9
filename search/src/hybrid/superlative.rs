use std::cmp::Reverse;

use data_index::{Release, RowAddress};
use data_text::plain_words;
use data_understanding::Superlative;

use super::{FusedRow, SearchQuery, tuning};
use crate::context::SearchContext;
use crate::lexical::{Order, Sort};

/// Quantity by which products are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Length,
    Volume,
    Mass,
    Charge,
    Memory,
    Power,
    Area,
    Count,
    /// Size words, such as `large` and `mini`.
    Word,
}

/// Measures in order of precedence, which decides if equally many products state them.
const MEASURES: [Measure; 9] = [
    Measure::Length,
    Measure::Volume,
    Measure::Memory,
    Measure::Charge,
    Measure::Area,
    Measure::Mass,
    Measure::Power,
    Measure::Count,
    Measure::Word,
];

/// Moves the cheapest, largest or newest of the best fitting rows to the top. These rows have all words of the best
/// row, and nearly its score. The others follow in their previous order.
pub(super) fn put_first(served: &SearchContext, query: &SearchQuery<'_>, first: Superlative, rows: &mut Vec<FusedRow>) {
    let tier = |row: &FusedRow| row.by_words.map_or(0, |found| found.tier);
    let Some(best) = rows.first().map(|row| (tier(row), row.score)) else {
        return;
    };
    let fits = |row: &FusedRow| tier(row) >= best.0 && row.score >= tuning::SUPERLATIVE_SHARE_MIN * best.1;
    let (mut fitting, others): (Vec<FusedRow>, Vec<FusedRow>) = rows.drain(..).partition(fits);
    let release = &served.release;
    match order(first) {
        Some(order) => {
            let sort = Sort {
                order,
                currency: Some(query.currency),
            };
            fitting.sort_by_key(|row| Reverse(sort.key_at(release, row.at)));
        }
        None => by_size(release, first, &mut fitting),
    }
    rows.extend(fitting.into_iter().chain(others));
}

/// Returns the order of lists for a superlative.
pub(crate) const fn order(first: Superlative) -> Option<Order> {
    match first {
        Superlative::Cheapest => Some(Order::PriceAscending),
        Superlative::Dearest => Some(Order::PriceDescending),
        Superlative::Newest => Some(Order::Newest),
        Superlative::BestRated => Some(Order::Rating),
        Superlative::Largest | Superlative::Smallest | Superlative::Heaviest | Superlative::Lightest => None,
    }
}

/// Sorts rows by the measure, such as length, that is most common in their titles. Rows without it are last.
fn by_size(release: &Release, first: Superlative, rows: &mut [FusedRow]) {
    let stated: Vec<Vec<(Measure, f64)>> = rows.iter().map(|row| quantities(release, row.at)).collect();
    let counted = |measure: &Measure| stated.iter().flatten().filter(|(other, _)| other == measure).count();
    let measure = match first {
        Superlative::Heaviest | Superlative::Lightest => Some(Measure::Mass),
        _ => MEASURES.into_iter().rev().max_by_key(counted),
    };
    let Some(measure) = measure else { return };
    let sign = match first {
        Superlative::Largest | Superlative::Heaviest => -1.0,
        _ => 1.0,
    };
    let key = |stated: &Vec<(Measure, f64)>| {
        let of_measure = stated.iter().filter(|(other, _)| *other == measure);
        let most = of_measure.map(|(_, amount)| *amount).reduce(f64::max);
        most.map_or(f64::INFINITY, |amount| sign * amount)
    };
    let mut keyed: Vec<(f64, FusedRow)> = stated.iter().map(key).zip(rows.iter().copied()).collect();
    keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (row, (_, sorted)) in rows.iter_mut().zip(keyed) {
        *row = sorted;
    }
}

fn quantities(release: &Release, at: RowAddress) -> Vec<(Measure, f64)> {
    let title = release.part(at.part).map_or("", |part| part.cards().title(at.row));
    plain_words(title).iter().filter_map(|word| quantity(word)).collect()
}

/// Parses an analysed number with its unit, such as `55in` or `0.5l`, or a size word.
fn quantity(word: &str) -> Option<(Measure, f64)> {
    let digits = word.find(|char: char| !char.is_ascii_digit() && char != '.')?;
    let (number, unit) = word.split_at(digits);
    if number.is_empty() {
        let size = match word {
            "mini" | "tiny" | "nano" => 0.0,
            "small" | "compact" | "s" => 1.0,
            "medium" | "m" => 2.0,
            "large" | "big" | "l" => 3.0,
            "xl" | "huge" | "jumbo" | "giant" | "max" => 4.0,
            "xxl" | "mega" => 5.0,
            _ => return None,
        };
        return Some((Measure::Word, size));
    }
    let (measure, times) = match unit {
        "mm" => (Measure::Length, 0.001),
        "cm" => (Measure::Length, 0.01),
        "in" => (Measure::Length, 0.025_4),
        "ft" => (Measure::Length, 0.304_8),
        "yd" => (Measure::Length, 0.914_4),
        "m" => (Measure::Length, 1.0),
        "ml" => (Measure::Volume, 0.001),
        "l" => (Measure::Volume, 1.0),
        "cuft" => (Measure::Volume, 28.3),
        "mg" => (Measure::Mass, 0.000_001),
        "g" => (Measure::Mass, 0.001),
        "oz" => (Measure::Mass, 0.028_35),
        "lb" => (Measure::Mass, 0.453_6),
        "kg" => (Measure::Mass, 1.0),
        "mah" => (Measure::Charge, 1.0),
        "mb" => (Measure::Memory, 1.0),
        "gb" => (Measure::Memory, 1_024.0),
        "tb" => (Measure::Memory, 1_048_576.0),
        "w" => (Measure::Power, 1.0),
        "hp" => (Measure::Power, 745.7),
        "btu" => (Measure::Power, 0.293),
        "sqft" => (Measure::Area, 1.0),
        "pc" | "pk" | "ct" => (Measure::Count, 1.0),
        _ => return None,
    };
    Some((measure, number.parse::<f64>().ok()? * times))
}

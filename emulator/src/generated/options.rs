use std::sync::LazyLock;

use super::dice::Dice;
use super::trades::WORDS;
use crate::table::rows;

/// Option of a product: its name, its values, and the price change for each value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<&'static str>,
    /// Percentage by which each value costs more than the previous one.
    pub(crate) rise_pct: u64,
}

/// One option of a set, from which products' options are drawn.
#[derive(Debug)]
struct AxisKind {
    set: &'static str,
    name: &'static str,
    /// Minimum number of values; for colours the maximum.
    bound: u64,
    rise_pct: u64,
    /// All values in order; empty for colours.
    values: Vec<&'static str>,
}

static KINDS: LazyLock<Vec<AxisKind>> = LazyLock::new(|| {
    rows(include_str!("../../data/options.tsv"))
        .filter_map(|row| AxisKind::read(&row))
        .collect()
});

impl AxisKind {
    fn read(row: &[&'static str]) -> Option<Self> {
        let (set, name, bound, rise_pct, values) = match *row {
            [set, name, bound] => (set, name, bound, "0", Vec::new()),
            [set, name, bound, rise_pct, values] => (set, name, bound, rise_pct, values.split('|').collect()),
            _ => return None,
        };
        Some(Self {
            set,
            name,
            bound: bound.parse().ok()?,
            rise_pct: rise_pct.parse().ok()?,
            values,
        })
    }
}

impl Axis {
    fn draw(dice: &mut Dice, kind: &AxisKind) -> Self {
        if kind.values.is_empty() {
            return Self::colours(dice, kind.bound);
        }
        let all = kind.values.len() as u64;
        let count = dice.between(kind.bound.min(all), all);
        let start = dice.below(all - count + 1) as usize;
        Self {
            name: kind.name,
            values: kind.values[start..start + count as usize].to_vec(),
            rise_pct: kind.rise_pct,
        }
    }

    fn colours(dice: &mut Dice, most: u64) -> Self {
        let count = dice.between(2, most);
        let colours = &WORDS.colours;
        let (start, stride) = (dice.below(colours.len() as u64), 2 * dice.below(7) + 1);
        let values = (0..count)
            .map(|nth| colours[((start + nth * stride) % colours.len() as u64) as usize].name)
            .collect();
        let name = if dice.chance(600) { "Color" } else { "Colour" };
        Self {
            name,
            values,
            rise_pct: 0,
        }
    }

    pub(crate) fn is_colour(&self) -> bool {
        self.name.starts_with("Colo")
    }
}

/// Generates the options of a product; empty for a product with only the default variant.
pub(crate) fn draw(dice: &mut Dice, options: &str, country: &str) -> Vec<Axis> {
    // Nearly half of the platform's products have only the default variant, whatever their kind.
    if options == "single" || dice.chance(330) {
        return Vec::new();
    }
    let set = match (options, country) {
        ("shoe", "IN" | "GB") => "shoe-uk",
        ("shoe", "US") => "shoe-us",
        ("shoe", _) => "shoe-eu",
        _ => options,
    };
    let kinds = KINDS.iter().filter(|kind| kind.set == set);
    kinds.map(|kind| Axis::draw(dice, kind)).collect()
}

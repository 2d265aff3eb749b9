use super::dice::Dice;
use super::trades::WORDS;

/// One option of a product: its name, its values, and the price change for each value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<&'static str>,
    /// Percentage by which each value costs more than the previous one.
    pub(crate) rise_pct: u64,
}

impl Axis {
    fn run(dice: &mut Dice, name: &'static str, all: &[&'static str], least: u64, rise_pct: u64) -> Self {
        let count = dice.between(least.min(all.len() as u64), all.len() as u64) as usize;
        let start = dice.below((all.len() - count + 1) as u64) as usize;
        Self {
            name,
            values: all[start..start + count].to_vec(),
            rise_pct,
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

    /// Returns true if the option's values are colours.
    pub(crate) fn is_colour(&self) -> bool {
        self.name.starts_with("Colo")
    }
}

const SIZES: &[&str] = &["XS", "S", "M", "L", "XL", "XXL"];
const SHOES_UK: &[&str] = &["UK 4", "UK 5", "UK 6", "UK 7", "UK 8", "UK 9", "UK 10", "UK 11"];
const SHOES_EU: &[&str] = &["37", "38", "39", "40", "41", "42", "43", "44"];
const SHOES_US: &[&str] = &["6", "6.5", "7", "7.5", "8", "9", "10", "11"];
const WEIGHTS: &[&str] = &["100 g", "250 g", "500 g", "1 kg", "2 kg"];
const POUCHES: &[&str] = &["250g", "500g", "1kg"];
const GRINDS: &[&str] = &[
    "Whole Bean",
    "French Press",
    "Espresso",
    "South Indian Filter",
    "AeroPress®",
    "Moka Pot",
];
const VOLUMES: &[&str] = &["30 ml", "50 ml", "100 ml", "200 ml"];
const SHADES: &[&str] = &[
    "01 Bare",
    "02 Rosewood",
    "03 Brick",
    "04 Mauve",
    "05 Chai",
    "06 Cherry",
    "07 Plum",
    "08 Café",
    "09 Coral",
    "10 Wine",
];
const RINGS: &[&str] = &["6", "7", "8", "9", "10", "12", "14"];
const METALS: &[&str] = &["Gold", "Silver", "Rose Gold"];
const PACKS: &[&str] = &["Pack of 1", "Pack of 2", "Pack of 4", "Pack of 6"];
const BEDS: &[&str] = &["Single", "Double", "Queen", "King"];
const AGES: &[&str] = &["0-3 M", "3-6 M", "6-12 M", "1-2 Y", "2-3 Y", "4-5 Y", "6-7 Y"];
const LOADS: &[&str] = &["1 kg", "2.5 kg", "5 kg", "7.5 kg", "10 kg"];
const RULINGS: &[&str] = &["Ruled", "Dotted", "Plain"];

/// Generates the options of a product; empty for a product with only the default variant.
pub(crate) fn draw(dice: &mut Dice, options: &str, country: &str) -> Vec<Axis> {
    // Nearly half of the platform's products have only the default variant, whatever their kind.
    if options == "single" || dice.chance(330) {
        return Vec::new();
    }
    let shoes = match country {
        "IN" | "GB" => SHOES_UK,
        "US" => SHOES_US,
        _ => SHOES_EU,
    };
    match options {
        "size" => vec![Axis::run(dice, "Size", SIZES, 3, 0)],
        "size-colour" => vec![Axis::run(dice, "Size", SIZES, 3, 0), Axis::colours(dice, 3)],
        "shoe" => vec![Axis::run(dice, "Size", shoes, 4, 0)],
        "colour" => vec![Axis::colours(dice, 4)],
        "weight" => vec![Axis::run(dice, "Weight", WEIGHTS, 2, 80)],
        "grind" => vec![
            Axis::run(dice, "Size", POUCHES, 1, 85),
            Axis::run(dice, "Grind", GRINDS, 3, 0),
        ],
        "volume" => vec![Axis::run(dice, "Volume", VOLUMES, 1, 60)],
        "shade" => vec![Axis::run(dice, "Shade", SHADES, 3, 0)],
        "ring" => vec![Axis::run(dice, "Ring Size", RINGS, 3, 0)],
        "metal" => vec![Axis::run(dice, "Finish", METALS, 1, 0)],
        "pack" => vec![Axis::run(dice, "Pack", PACKS, 2, 75)],
        "bed" => vec![Axis::run(dice, "Size", BEDS, 2, 25)],
        "age" => vec![Axis::run(dice, "Age", AGES, 3, 0)],
        "load" => vec![Axis::run(dice, "Weight", LOADS, 2, 70)],
        "ruling" => vec![Axis::run(dice, "Ruling", RULINGS, 2, 0)],
        _ => Vec::new(),
    }
}

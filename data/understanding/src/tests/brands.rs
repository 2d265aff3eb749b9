use super::line_among;
use crate::intent::{BrandNames, NamedBrand, brand_keys};

/// Brands, each with true if the name is ambiguous.
pub(super) struct Brands(pub(super) &'static [(&'static str, bool)]);

impl BrandNames for Brands {
    fn named(&self, key: &str) -> Option<NamedBrand> {
        let has = |(name, _): &(&str, bool)| brand_keys(name).iter().any(|known| known == key);
        let at = self.0.iter().position(has)?;
        let is_plain = self.0[at].1;
        Some(NamedBrand { at, is_plain })
    }
}

pub(super) const BRANDS: Brands = Brands(&[
    ("Blue Tokai", false),
    ("Nike", false),
    ("The Souled Store", false),
    ("Title", true),
    ("Sugar", false),
    ("Indigo", false),
    ("Leather", true),
    ("boAt", false),
    ("Off White", false),
]);

fn lines(texts: &[&str]) -> String {
    let lines: Vec<String> = texts.iter().map(|text| line_among(text, &BRANDS)).collect();
    lines.join("\n")
}

#[test]
fn brands_that_are_refused_are_no_words() {
    let texts = [
        "coffee except blue tokai",
        "coffee not from Blue Tokai",
        "coffee but not from Blue Tokai",
        "coffee from any brand but Blue Tokai",
        "coffee not blue tokai",
        "blue tokai ke alawa coffee",
        "bluetokai ke alawa coffee",
        "coffee -bluetokai",
        "mug, no Nike",
        "tee not the souled store",
        "shoes except nike and adidas",
        "shoes other than adidas and nike brand",
        "shoes not nike or puma",
        "shirt not title",
        "shirt not from title",
        "shirt not of the brand title",
        "blue coffee mug not blue",
        "not nike",
    ];
    insta::assert_snapshot!(lines(&texts), @r"
    coffee except blue tokai → coffee [except blue tokai: not of Blue Tokai]
    coffee not from Blue Tokai → coffee [not from Blue Tokai: not of Blue Tokai]
    coffee but not from Blue Tokai → coffee [but not from Blue Tokai: not of Blue Tokai]
    coffee from any brand but Blue Tokai → coffee [from any brand but Blue Tokai: not of Blue Tokai]
    coffee not blue tokai → coffee [not blue tokai: not of Blue Tokai]
    blue tokai ke alawa coffee → coffee [blue tokai ke alawa: not of Blue Tokai]
    bluetokai ke alawa coffee → coffee [bluetokai ke alawa: not of Blue Tokai]
    coffee -bluetokai → coffee [-bluetokai: not of Blue Tokai]
    mug, no Nike → mug, [no Nike: not of Nike]
    tee not the souled store → tee [not the souled store: not of The Souled Store]
    shoes except nike and adidas → shoes [except nike: not of Nike] [and adidas: not adidas]
    shoes other than adidas and nike brand → shoes [other than adidas: not adidas] [and nike brand: not of Nike]
    shoes not nike or puma → shoes [not nike: not of Nike] [or puma: not puma]
    shirt not title → shirt [not title: not title]
    shirt not from title → shirt [not from title: not of Title]
    shirt not of the brand title → shirt [not of the brand title: not of Title]
    blue coffee mug not blue → blue coffee mug [not blue: not blue]
    not nike → not nike
    ");
}

#[test]
fn a_brand_that_is_called_like_a_thing_is_refused_where_it_is_said_to_be_one() {
    let texts = [
        "chai without sugar",
        "kurta not indigo",
        "kurta not from indigo",
        "kurta -indigo",
        "chocolate free of sugar",
        "kurta apart from indigo",
        "bag not made of leather",
        "kurta not boat neck",
        "earphones not boat",
        "everything except black or white shirts",
        "everything except leather and suede bags",
        "coffee from any brand but blue tokai and nescafe",
        "blue tokai brand ke alawa coffee",
        "leather brand ke alawa bag",
        "shoes except nike and new balance",
    ];
    insta::assert_snapshot!(lines(&texts), @r"
    chai without sugar → chai [without sugar: lacks sugar]
    kurta not indigo → kurta [not indigo: not indigo]
    kurta not from indigo → kurta [not from indigo: not of Indigo]
    kurta -indigo → kurta [-indigo: not indigo]
    chocolate free of sugar → chocolate [free of sugar: lacks sugar]
    kurta apart from indigo → kurta [apart from indigo: not indigo]
    bag not made of leather → bag [not made of leather: not leather]
    kurta not boat neck → kurta [not boat neck: not boat neck]
    earphones not boat → earphones [not boat: not of boAt]
    everything except black or white shirts → shirts [everything except black or white: not black or white]
    everything except leather and suede bags → and suede bags [everything except leather: not leather]
    coffee from any brand but blue tokai and nescafe → coffee [from any brand but blue tokai: not of Blue Tokai] [and nescafe: not nescafe]
    blue tokai brand ke alawa coffee → coffee [blue tokai brand ke alawa: not of Blue Tokai]
    leather brand ke alawa bag → bag [leather brand ke alawa: not of Leather]
    shoes except nike and new balance → shoes [except nike: not of Nike] [and new balance: not new balance]
    ");
}

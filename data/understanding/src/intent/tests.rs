use proptest::prelude::*;

use super::*;

struct Names(&'static [(&'static str, bool)]);

impl BrandNames for Names {
    fn named(&self, key: &str) -> Option<NamedBrand> {
        let has = |(name, _): &(&str, bool)| brand_keys(name).iter().any(|known| known == key);
        let at = self.0.iter().position(has)?;
        Some(NamedBrand {
            at,
            is_plain: self.0[at].1,
        })
    }
}

const NAMES: Names = Names(&[
    ("Levi's", false),
    ("The Souled Store", false),
    ("Cotton", true),
    ("H&M", false),
]);

fn line(text: &str) -> String {
    let intent = Intent::of(text, &NAMES);
    let mut told = vec![format!("{text:?} → {:?}", intent.text)];
    let Price { min, max, currency, .. } = intent.price;
    let whole = |amount: Option<u64>| amount.map_or(String::new(), |amount| (amount / 1_000).to_string());
    if min.is_some() || max.is_some() {
        let currency = currency.map_or(
            "",
            |currency| if currency.as_str() == "INR" { " INR" } else { " other" },
        );
        told.push(format!("{}..{}{currency}", whole(min), whole(max)));
    }
    if !intent.colours.is_empty() {
        told.push(format!("colour {}", intent.colours.join(" or ")));
    }
    if !intent.sizes.is_empty() {
        told.push(format!("size {}", intent.sizes.join(" or ")));
    }
    told.extend(intent.audience.map(|audience| format!("for {}", audience.as_str())));
    told.extend(intent.occasion.map(str::to_owned));
    told.extend(intent.brand.map(|at| NAMES.0[at].0.to_owned()));
    told.extend(intent.unwanted.iter().map(|unwanted| format!("not {}", unwanted.what)));
    told.extend(
        intent
            .unwanted_brands
            .iter()
            .map(|at| format!("not of {}", NAMES.0[*at].0)),
    );
    told.extend(intent.age_months.map(|months| format!("{months} months")));
    told.join(" | ")
}

#[test]
fn a_sentence_is_read_field_by_field() {
    let lines = [
        "red cotton saree for my wife under 3000",
        "mere papa ke liye black wallet do hazar se kam",
        "running shoes size UK 9 not white from Levi's",
        "The Souled Store t-shirt in M for men, no prints please",
        "office wear kurti in navy blue, XL or XXL, between 800 and 1500",
        "office chair in black",
        "black tea without sugar",
        "toys for my 3 year old niece",
        "mom jeans size 28",
        "shirts other than H&M",
        "cotton shirts",
        "cotton brand shirts",
        "olive oil",
        "olive green jacket or rust coloured shawl",
        "sugar free cookies for diwali gift",
        "9 number ke joote",
        "shirts but not from H&M",
        "shirts from any brand but H&M, from Levi's",
        "red shirts except H&M and Levi's",
    ];
    let lines: Vec<String> = lines.iter().map(|text| line(text)).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
        "red cotton saree for my wife under 3000" → "red cotton saree for my wife" | ..3000 | colour red | for women
        "mere papa ke liye black wallet do hazar se kam" → "mere papa ke liye black wallet" | ..2000 | colour black | for men
        "running shoes size UK 9 not white from Levi's" → "running shoes not white" | size UK 9 | Levi's | not white
        "The Souled Store t-shirt in M for men, no prints please" → "t-shirt for men, no prints please" | size M | for men | The Souled Store | not prints
        "office wear kurti in navy blue, XL or XXL, between 800 and 1500" → "office wear kurti in navy blue, ," | 800..1500 | colour navy blue | size XL or XXL | office
        "office chair in black" → "office chair in black" | colour black
        "black tea without sugar" → "black tea without sugar" | not sugar
        "toys for my 3 year old niece" → "toys for my 3 year old niece" | for girls | 36 months
        "mom jeans size 28" → "mom jeans" | size 28
        "shirts other than H&M" → "shirts other than H&M" | not of H&M
        "cotton shirts" → "cotton shirts"
        "cotton brand shirts" → "shirts" | Cotton
        "olive oil" → "olive oil"
        "olive green jacket or rust coloured shawl" → "olive green jacket or rust coloured shawl" | colour olive green or rust
        "sugar free cookies for diwali gift" → "sugar free cookies for diwali gift" | diwali | not sugar
        "9 number ke joote" → "ke joote" | size 9
        "shirts but not from H&M" → "shirts but not from H&M" | not of H&M
        "shirts from any brand but H&M, from Levi's" → "shirts from any brand but H&M," | Levi's | not of H&M
        "red shirts except H&M and Levi's" → "red shirts except H&M and Levi's" | colour red | not of H&M | not of Levi's
        "#);
}

/// The bit set of tokens for a need has no bit for tokens after the 64th.
#[test]
fn a_need_is_read_in_a_question_of_more_words_than_are_counted() {
    for words in [57, 58, 59, 60, 61, 200] {
        let text = format!("something to keep coffee hot {}", "zq ".repeat(words));
        let intent = Intent::of(&text, &NAMES);
        assert_eq!(intent.price, Intent::of("something", &NAMES).price);
    }
}

proptest! {
    #[test]
    fn whatever_is_read_is_bounded(text in ".{0,300}") {
        let intent = Intent::of(&text, &NAMES);
        prop_assert!(intent.colours.len() <= 6 && intent.sizes.len() <= 6);
        prop_assert!(intent.price.min.zip(intent.price.max).is_none_or(|(min, max)| min <= max));
    }

    #[test]
    fn a_budget_holds_wherever_it_stands(
        before in "[a-z ]{0,20}", budget in 100_u32..1_000_000, after in prop::sample::select(vec!["please", "in red", "size M"]),
    ) {
        let text = format!("{before} shirt under {budget} {after}");
        let read = Intent::of(&text, &NoBrands).price.max;
        prop_assert!(read.is_some_and(|max| max <= u64::from(budget) * 1_000), "{text}: {read:?}");
    }
}

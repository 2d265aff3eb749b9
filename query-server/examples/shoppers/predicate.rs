//! Conditions for products that answer a query, on title, attributes, category, brand and price.

use anyhow::Context;
use data_index::taxonomy;
use data_model::Product;
use data_text::runs;

/// Conditions that must all be true, separated by spaces.
///
/// `t:a|b`: the title has a word that starts with one of these (`_` means a space). `a:` also searches the values of
/// options and attributes. `w:` also searches the product type, the tags, the category path and the description. `c:`
/// searches the category path, `b:` the brand's slug. `p<=N` and `p>=N` compare the lowest price in whole units, in
/// rupees unless a currency follows. `!` before a condition negates it.
#[derive(Debug)]
pub(crate) struct Predicate(Vec<Condition>);

#[derive(Debug)]
struct Condition {
    holds: bool,
    test: Test,
}

#[derive(Debug)]
enum Test {
    Title(Vec<String>),
    Attribute(Vec<String>),
    Words(Vec<String>),
    Category(Vec<String>),
    Brand(String),
    PriceMax(f64, String),
    PriceMin(f64, String),
}

/// Product texts normalised for the conditions.
#[derive(Debug)]
pub(crate) struct FoldedProduct {
    title: String,
    attributes: String,
    words: String,
    category: String,
    brand: String,
    price: f64,
    currency: String,
}

impl FoldedProduct {
    pub(crate) fn of(product: &Product, brand: &str) -> Self {
        let title = folded(&product.title);
        let options = product.options.iter().flat_map(|option| option.values.iter());
        let values = product.attributes.iter().flat_map(|attribute| attribute.values.iter());
        let attributes: Vec<String> = options.chain(values).map(|value| folded(value)).collect();
        let attributes = format!("{title} {}", attributes.join(" "));
        let category = product.category.and_then(taxonomy::by_id);
        let category = category.map_or(String::new(), |category| folded(category.path));
        let kind = folded(product.product_type.as_deref().unwrap_or_default());
        let tags = folded(&product.tags.join(" "));
        let words = format!("{attributes} {kind} {tags} {category} {}", folded(&product.description));
        let minor = product
            .variants
            .iter()
            .map(|variant| variant.price_minor)
            .min()
            .unwrap_or(0);
        let unit = 10_f64.powi(product.currency.exponent().cast_signed());
        Self {
            title,
            attributes,
            words,
            category,
            brand: brand.to_owned(),
            price: minor as f64 / unit,
            currency: product.currency.as_str().to_owned(),
        }
    }
}

/// Converts a text to lowercase, and replaces everything except letters and digits by single spaces. One space is added
/// at both ends.
fn folded(text: &str) -> String {
    let lower = text.to_lowercase();
    format!(" {} ", runs(&lower).collect::<Vec<_>>().join(" "))
}

/// True if a word or word sequence of the text starts with one of `ways`.
fn has(text: &str, ways: &[String]) -> bool {
    ways.iter().any(|way| text.contains(way.as_str()))
}

impl Predicate {
    pub(crate) fn read(text: &str) -> anyhow::Result<Self> {
        let conditions = text
            .split_whitespace()
            .map(|one| condition(one).with_context(|| one.to_owned()));
        Ok(Self(conditions.collect::<anyhow::Result<_>>()?))
    }

    pub(crate) fn holds(&self, product: &FoldedProduct) -> bool {
        self.0
            .iter()
            .all(|condition| condition.test.is_met(product) == condition.holds)
    }
}

fn condition(text: &str) -> anyhow::Result<Condition> {
    let (holds, text) = match text.strip_prefix('!') {
        Some(text) => (false, text),
        None => (true, text),
    };
    let ways = |list: &str| -> Vec<String> {
        list.split('|')
            .map(|way| format!(" {}", way.replace('_', " ")))
            .collect()
    };
    let price = |text: &str| -> anyhow::Result<(f64, String)> {
        let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
        let currency = if digits.len() == text.len() {
            "INR"
        } else {
            &text[digits.len()..]
        };
        Ok((digits.parse()?, currency.to_owned()))
    };
    let test = if let Some(amount) = text.strip_prefix("p<=") {
        let (amount, currency) = price(amount)?;
        Test::PriceMax(amount, currency)
    } else if let Some(amount) = text.strip_prefix("p>=") {
        let (amount, currency) = price(amount)?;
        Test::PriceMin(amount, currency)
    } else {
        let (name, list) = text.split_once(':').context("neither a price nor a name with words")?;
        match name {
            "t" => Test::Title(ways(list)),
            "a" => Test::Attribute(ways(list)),
            "w" => Test::Words(ways(list)),
            "c" => Test::Category(ways(list)),
            "b" => Test::Brand(list.to_owned()),
            _ => anyhow::bail!("unknown name"),
        }
    };
    Ok(Condition { holds, test })
}

impl Test {
    fn is_met(&self, product: &FoldedProduct) -> bool {
        match self {
            Self::Title(ways) => has(&product.title, ways),
            Self::Attribute(ways) => has(&product.attributes, ways),
            Self::Words(ways) => has(&product.words, ways),
            Self::Category(ways) => has(&product.category, ways),
            Self::Brand(slug) => product.brand == *slug,
            Self::PriceMax(most, currency) => product.currency == *currency && product.price <= *most,
            Self::PriceMin(least, currency) => product.currency == *currency && product.price >= *least,
        }
    }
}

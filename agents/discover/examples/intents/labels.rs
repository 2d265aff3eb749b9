use std::collections::BTreeMap;

use agents_discover::{BrandList, Constraints};
use anyhow::Context as _;
use data_understanding::intent::Audience;

/// Fields for which precision and recall are counted.
pub(crate) const FIELDS: [&str; 9] = [
    "max", "min", "currency", "colour", "size", "for", "occasion", "not", "brand",
];

pub(crate) type Fields = BTreeMap<&'static str, Vec<String>>;

/// Sentence with its expected constraints.
#[derive(Debug, Clone)]
pub(crate) struct LabelledSentence {
    pub(crate) sentence: String,
    pub(crate) fields: Fields,
}

pub(crate) fn read(file: &str) -> anyhow::Result<Vec<LabelledSentence>> {
    let lines = file.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let (sentence, stated) = line.split_once('\t').with_context(|| format!("no tab: {line:?}"))?;
            let mut fields = Fields::new();
            for field in stated.split(';').filter(|field| !field.is_empty()) {
                let (name, values) = field.split_once('=').with_context(|| format!("no value: {line:?}"))?;
                let name = FIELDS.iter().find(|known| **known == name);
                let name = name.with_context(|| format!("an unknown field: {line:?}"))?;
                fields.insert(*name, sorted(values.split('|').map(str::to_owned).collect()));
            }
            Ok(LabelledSentence {
                sentence: sentence.to_owned(),
                fields,
            })
        })
        .collect()
}

/// Converts parsed constraints to labels.
pub(crate) fn told(read: &Constraints, brands: &BrandList) -> Fields {
    let mut fields = Fields::new();
    let mut add = |name: &'static str, values: Vec<String>| {
        if !values.is_empty() {
            fields.insert(name, sorted(values));
        }
    };
    let whole = |thousandths: Option<u64>| {
        thousandths
            .map(|amount| (amount / 1_000).to_string())
            .into_iter()
            .collect()
    };
    add("max", whole(read.price.max));
    add("min", whole(read.price.min));
    add(
        "currency",
        read.price
            .currency
            .iter()
            .map(|currency| currency.as_str().to_owned())
            .collect(),
    );
    add(
        "colour",
        read.colours.iter().map(|colour| (*colour).to_owned()).collect(),
    );
    add("size", read.sizes.clone());
    add(
        "for",
        read.audience
            .map(Audience::as_str)
            .map(str::to_owned)
            .into_iter()
            .collect(),
    );
    add("occasion", read.occasion.map(str::to_owned).into_iter().collect());
    let name = |at: usize| brands.at(at).map(|brand| brand.name.clone());
    let unwanted = read.unwanted.iter().map(|unwanted| unwanted.what.clone());
    let unwanted_brands = read
        .unwanted_brands
        .iter()
        .filter_map(|at| name(*at))
        .map(|name| format!("@{name}"));
    add("not", unwanted.chain(unwanted_brands).collect());
    add("brand", read.brand.and_then(name).into_iter().collect());
    fields
}

fn sorted(mut values: Vec<String>) -> Vec<String> {
    values.sort_unstable();
    values.dedup();
    values
}

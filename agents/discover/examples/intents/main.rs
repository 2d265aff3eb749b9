//! Measures precision and recall of the interpretation of sentences, by field and value. Runs with the rules alone, and
//! with scripted language models: one returns the labels, one returns nothing, and one returns false values.
//!
//! `cargo run -p agents-discover --example intents [--wrong]`

mod labels;
mod scripted;

use std::collections::BTreeMap;
use std::io::Write;

use agents_discover::{BrandList, BrandOfList, Constraints, Model, ModelConfig};
use anyhow::Context as _;
use data_understanding::intent::Intent;

use self::labels::{FIELDS, LabelledSentence, told};
use self::scripted::{Endpoint, Script};

const FIRST: &str = include_str!("first.tsv");
const SECOND: &str = include_str!("second.tsv");
/// Brands of the catalogue for which sentences are interpreted. The name of the last brand is a common word.
const BRANDS: [(&str, bool); 9] = [
    ("Kalaya", false),
    ("Nordpine", false),
    ("The Quiet Loom", false),
    ("Urban Trail", false),
    ("Blue Heron", false),
    ("Mintleaf", false),
    ("Teja Shoes", false),
    ("Rooh", false),
    ("Cotton", true),
];

/// Numbers of correct, returned and expected values.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    right: usize,
    read: usize,
    wanted: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let brands = BRANDS.iter().map(|(name, is_plain)| {
        let slug = name.to_lowercase().replace(' ', "-").parse().context("a slug")?;
        Ok(BrandOfList {
            slug,
            name: (*name).to_owned(),
            currency: None,
            is_plain: *is_plain,
        })
    });
    let brands = BrandList::new("labelled".to_owned(), brands.collect::<anyhow::Result<_>>()?);
    let shows_wrong = std::env::args().any(|argument| argument == "--wrong");
    let mut out = std::io::stdout().lock();
    for (name, file) in [("first", FIRST), ("second", SECOND)] {
        let sentences = labels::read(file)?;
        writeln!(out, "{name}: {} sentences", sentences.len())?;
        writeln!(
            out,
            "{:<28}{}",
            "precision / recall",
            FIELDS.map(|field| format!("{field:>12}")).concat()
        )?;
        let rules = |labelled: &LabelledSentence| Constraints::of_rules(Intent::of(&labelled.sentence, &brands));
        let mut counts = BTreeMap::new();
        for labelled in &sentences {
            let read = told(&rules(labelled), &brands);
            count(&mut counts, labelled, &read);
            if shows_wrong && read != labelled.fields {
                writeln!(
                    out,
                    "  {:?}\n    wanted {:?}\n    read   {read:?}",
                    labelled.sentence, labelled.fields
                )?;
            }
        }
        row(&mut out, "rules", &counts)?;
        for script in Script::ALL {
            let endpoint = Endpoint::start(script, &sentences).await?;
            let model = Model::of(&ModelConfig {
                url: endpoint.url(),
                model: "scripted".to_owned(),
                ..ModelConfig::default()
            })?;
            let model = model.context("a model")?;
            let mut counts = BTreeMap::new();
            let mut loosened = 0;
            for labelled in &sentences {
                let ruled = rules(labelled);
                let reply = model
                    .read(&labelled.sentence)
                    .await
                    .map_err(|why| anyhow::anyhow!(why.as_str()))?;
                let both = ruled.with_reply(&reply, &labelled.sentence, &brands);
                loosened += usize::from(is_loosened(&ruled, &both));
                count(&mut counts, labelled, &told(&both, &brands));
            }
            row(&mut out, &format!("rules and model that {}", script.name()), &counts)?;
            writeln!(out, "{:<28}constraints loosened in {loosened} sentences", "")?;
        }
    }
    Ok(())
}

/// True if `both` allows products that `ruled` excludes.
fn is_loosened(ruled: &Constraints, both: &Constraints) -> bool {
    let higher = ruled
        .price
        .max
        .is_some_and(|max| both.price.max.is_none_or(|other| other > max));
    let lower = ruled
        .price
        .min
        .is_some_and(|min| both.price.min.is_none_or(|other| other < min));
    higher
        || lower
        || !ruled.colours.is_empty() && ruled.colours != both.colours
        || !ruled.sizes.is_empty() && ruled.sizes != both.sizes
        || ruled.audience.is_some() && ruled.audience != both.audience
        || ruled.brand.is_some() && ruled.brand != both.brand
        || !ruled.unwanted.iter().all(|unwanted| both.unwanted.contains(unwanted))
        || !ruled
            .unwanted_brands
            .iter()
            .all(|brand| both.unwanted_brands.contains(brand))
}

fn count(counts: &mut BTreeMap<&'static str, Count>, labelled: &LabelledSentence, read: &labels::Fields) {
    for field in FIELDS {
        let (wanted, read) = (labelled.fields.get(field), read.get(field));
        let count = counts.entry(field).or_default();
        count.wanted += wanted.map_or(0, Vec::len);
        count.read += read.map_or(0, Vec::len);
        let right = |value: &&String| wanted.is_some_and(|wanted| wanted.contains(*value));
        count.right += read.map_or(0, |read| read.iter().filter(right).count());
    }
}

fn row(out: &mut impl Write, name: &str, counts: &BTreeMap<&'static str, Count>) -> std::io::Result<()> {
    let share = |part: usize, of: usize| match (100 * part).checked_div(of) {
        Some(percent) => percent.to_string(),
        None => "–".to_owned(),
    };
    let cells = FIELDS.map(|field| {
        let count = counts.get(field).copied().unwrap_or_default();
        format!(
            "{:>12}",
            format!(
                "{} / {}",
                share(count.right, count.read),
                share(count.right, count.wanted)
            )
        )
    });
    writeln!(out, "{name:<28}{}", cells.concat())
}

//! Coverage and precision of categories over recorded stores, against what a person says of 657 of their products.
//!
//! `cargo run -p pipeline-normalise --example categories -- --recorded DIR [--verbose]`
//!
//! DIR has a folder a store with catalogue pages `products*.json` as the store answered them; `judgements.tsv` beside
//! this file says which products are judged and what is right. Coverage is the share of products with a category among
//! those whose category can be told; precision is the share of right ones among those with a category. `--verbose` names
//! by their ids what was missed or wrong in half A.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use data_model::{CurrencyCode, Product, StoreHost};
use google_taxonomy::ProductCategory;
use pipeline_normalise::{CatalogueBuilder, StoreContext};
use sha2::{Digest, Sha256};

/// A category counts as right up to so many levels above the one that is exactly right, but no department does.
const LEVELS_ABOVE: usize = 2;
const LEVELS_MIN: usize = 2;

#[derive(Debug)]
struct Judged<'a> {
    half: &'a str,
    store: &'a str,
    id: u64,
    title_hash: &'a str,
    right: Right<'a>,
}

#[derive(Debug)]
struct Right<'a> {
    tokens: &'a str,
    none_is_right: bool,
}

impl Right<'_> {
    fn of(text: &str) -> Right<'_> {
        Right {
            tokens: text.trim_start_matches('?'),
            none_is_right: text.starts_with(['?', '-']),
        }
    }

    fn allows(&self, path: &str) -> bool {
        self.tokens.split_whitespace().any(|token| {
            let id = token.trim_end_matches('*').parse().ok();
            let Some(exact) = id.and_then(|id: u32| ProductCategory::from_id(id).ok()) else {
                return false;
            };
            let is_below =
                |path: &str, above: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with(" > "));
            let levels = |path: &str| path.split(" > ").count();
            let exact = exact.name();
            let near = levels(path) >= LEVELS_MIN.max(levels(exact).saturating_sub(LEVELS_ABOVE));
            path == exact || (near && is_below(exact, path)) || (token.ends_with('*') && is_below(path, exact))
        })
    }
}

#[derive(Debug, Default)]
struct Score {
    judged: usize,
    tellable: usize,
    covered: usize,
    told: usize,
    right: usize,
}

fn judgements() -> Vec<Judged<'static>> {
    let lines = include_str!("judgements.tsv").lines();
    let read = |line: &'static str| {
        let mut columns = line.split('\t');
        Some(Judged {
            half: columns.next()?,
            store: columns.next()?,
            id: columns.next()?.parse().ok()?,
            title_hash: columns.next()?,
            right: Right::of(columns.next()?),
        })
    };
    lines.filter(|line| !line.starts_with('#')).filter_map(read).collect()
}

/// The pages of a store's folder, in the order of their names.
fn pages(store: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(store)? {
        let path = entry?.path();
        if path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("products"))
        {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(pages)
}

fn catalogue(folder: &Path, store: &str) -> Result<HashMap<u64, Product>, Box<dyn Error>> {
    let context = StoreContext {
        store: format!("{store}.example").parse::<StoreHost>()?,
        currency: "EUR".parse::<CurrencyCode>()?,
        base_url: format!("https://{store}.example"),
    };
    let mut builder = CatalogueBuilder::new(context);
    for page in pages(&folder.join(store))? {
        builder.page(&fs::read(page)?)?;
    }
    let products = builder.finish().products.into_iter();
    Ok(products.map(|product| (product.key.platform_id, product)).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut folder, mut verbose) = (None, false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--recorded" => folder = arguments.next(),
            "--verbose" => verbose = true,
            other => return Err(format!("{other}: not known").into()),
        }
    }
    let folder = PathBuf::from(folder.ok_or("--recorded: the folder of recorded stores is missing")?);
    let mut out = std::io::stdout().lock();
    let mut stores: HashMap<&str, HashMap<u64, Product>> = HashMap::new();
    let mut scores: BTreeMap<(&str, &str), Score> = BTreeMap::new();
    for judged in judgements() {
        if !stores.contains_key(judged.store) {
            stores.insert(judged.store, catalogue(&folder, judged.store)?);
        }
        let product = stores.get(judged.store).and_then(|products| products.get(&judged.id));
        let Some(product) = product else {
            writeln!(out, "{} {}: not there", judged.store, judged.id)?;
            continue;
        };
        if !hex::encode(Sha256::digest(&product.title)).starts_with(judged.title_hash) {
            writeln!(out, "{} {}: has another title now", judged.store, judged.id)?;
        }
        let category = product.category.and_then(|id| ProductCategory::from_id(id.0).ok());
        let right = category.is_some_and(|category| judged.right.allows(category.name()));
        let told = category.is_some();
        if verbose && judged.half == "A" && (told != right || (!told && !judged.right.none_is_right)) {
            let path = category.map_or("none", |category| category.name());
            writeln!(out, "{} {}: {path}", judged.store, judged.id)?;
        }
        for key in [(judged.half, " all"), (judged.half, judged.store)] {
            let score = scores.entry(key).or_default();
            score.judged += 1;
            score.tellable += usize::from(!judged.right.none_is_right);
            score.covered += usize::from(told && !judged.right.none_is_right);
            score.told += usize::from(told);
            score.right += usize::from(right);
        }
    }
    writeln!(out, "half store                 judged  coverage  of all  precision")?;
    let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
    for ((half, store), score) in &scores {
        writeln!(
            out,
            "{half}    {store:<22} {:>5}     {:.3}   {:.3}      {:.3}",
            score.judged,
            share(score.covered, score.tellable),
            share(score.told, score.judged),
            share(score.right, score.told),
        )?;
    }
    Ok(())
}

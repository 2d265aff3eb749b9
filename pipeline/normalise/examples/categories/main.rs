//! Measures coverage and precision of product categories on recorded stores, against human judgements of 657 products.
//!
//! `cargo run -p pipeline-normalise --example categories -- --recorded DIR [--judgements FILE] [--verbose]
//! [--leave-one-out [--beside DIR]] [--stated FILE] [--list]`
//!
//! DIR contains one folder per store with its catalogue pages `products*.json`, verbatim. `judgements.tsv` next to this
//! file, or FILE in the same format, lists the labelled products and their right categories. Coverage is the share of
//! products with a category among those whose category can be determined. Precision is the share of right categories
//! among products with a category. `--verbose` prints the ids of missed and wrong products in half A.
//!
//! `--leave-one-out` tests each store only with rules that also matched a product of another store, in DIR or in the
//! store folders of `--beside`. A rule that matches only one store may have been learned from it. The run fails if a
//! score is below its minimum, over all stores or for a store with enough labelled products. `--list` prints every
//! product of DIR with its category instead. `--stated` reads categories that stores themselves state: store TAB
//! product id TAB names of the path, joined by ` > `.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use data_model::{CurrencyCode, Product, StoreHost};
use google_taxonomy::ProductCategory;
use pipeline_normalise::{CatalogueBuilder, CategoryRules, StoreContext};
use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};

/// A category counts as right at most this many levels above the exact one. A department never counts as right.
const LEVELS_ABOVE: usize = 2;
const LEVELS_MIN: usize = 2;

/// Key of the score over both halves.
const BOTH: &str = "AB";

#[derive(Debug)]
struct Judgement<'a> {
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

/// Minimum scores for `--leave-one-out` in thousandths: over all stores, and for each store with at least
/// `STORE_JUDGED_MIN` judged products.
const ALL_MIN: Bounds = Bounds {
    precision: 950,
    coverage: 850,
};
const STORE_MIN: Bounds = Bounds {
    precision: 850,
    coverage: 700,
};
const STORE_JUDGED_MIN: usize = 20;

#[derive(Debug)]
struct Bounds {
    precision: usize,
    coverage: usize,
}

#[derive(Debug, Default)]
struct Score {
    judged: usize,
    tellable: usize,
    covered: usize,
    told: usize,
    right: usize,
}

fn judgements(text: &str) -> Vec<Judgement<'_>> {
    let read = |line| {
        let mut columns = str::split(line, '\t');
        Some(Judgement {
            half: columns.next()?,
            store: columns.next()?,
            id: columns.next()?.parse().ok()?,
            title_hash: columns.next()?,
            right: Right::of(columns.next()?),
        })
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(read).collect()
}

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

/// Path of names by store and product id.
type StatedPaths<'a> = HashMap<(&'a str, u64), &'a str>;

fn stated(text: &str) -> StatedPaths<'_> {
    let read = |line| {
        let mut columns = str::splitn(line, 3, '\t');
        Some(((columns.next()?, columns.next()?.parse().ok()?), columns.next()?))
    };
    text.lines().filter_map(read).collect()
}

fn catalogue(folder: &Path, store: &str, stated: &StatedPaths<'_>) -> Result<Vec<Product>, Box<dyn Error>> {
    let context = StoreContext {
        store: format!("{store}.example").parse::<StoreHost>()?,
        currency: "EUR".parse::<CurrencyCode>()?,
        base_url: format!("https://{store}.example"),
    };
    let mut builder = CatalogueBuilder::new(context);
    for page in pages(&folder.join(store))? {
        builder.page(&fs::read(page)?)?;
    }
    builder.believe_store(|id| stated.get(&(store, id)).copied());
    Ok(builder.finish().products)
}

fn catalogues(folder: &Path, stated: &StatedPaths<'_>) -> Result<BTreeMap<String, Vec<Product>>, Box<dyn Error>> {
    let mut stores = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let store = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() && !pages(&entry.path())?.is_empty() {
            stores.insert(store.clone(), catalogue(folder, &store, stated)?);
        }
    }
    Ok(stores)
}

/// The rules for a store are those that matched another store too.
fn leave_one_out(
    stores: &mut BTreeMap<String, Vec<Product>>,
    beside: &[PathBuf],
    stated: &StatedPaths<'_>,
) -> Result<(), Box<dyn Error>> {
    let rules = CategoryRules::without(FxHashSet::default());
    let mut fired: HashMap<String, FxHashSet<String>> = HashMap::new();
    let mut note = |store: &str, products: &[Product]| {
        for phrase in products.iter().flat_map(|product| rules.fired(product)) {
            fired.entry(phrase).or_default().insert(store.to_owned());
        }
    };
    for (store, products) in stores.iter() {
        note(store, products);
    }
    for folder in beside {
        for (store, products) in catalogues(folder, &StatedPaths::default())? {
            note(&format!("{}/{store}", folder.display()), &products);
        }
    }
    for (store, products) in stores.iter_mut() {
        let own = fired
            .iter()
            .filter(|(_, stores)| stores.len() == 1 && stores.contains(store));
        let rules = CategoryRules::without(own.map(|(phrase, _)| phrase.clone()).collect());
        let categories = rules.categories(products, |id| stated.get(&(store.as_str(), id)).copied());
        for (product, category) in products.iter_mut().zip(categories) {
            product.category = category;
        }
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Arguments {
    recorded: PathBuf,
    judgements: Option<PathBuf>,
    beside: Vec<PathBuf>,
    stated: Option<PathBuf>,
    verbose: bool,
    leave_one_out: bool,
    list: bool,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let (mut read, mut recorded) = (Arguments::default(), None);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--recorded" => recorded = given.next(),
            "--judgements" => read.judgements = given.next().map(PathBuf::from),
            "--beside" => read.beside.extend(given.next().map(PathBuf::from)),
            "--stated" => read.stated = given.next().map(PathBuf::from),
            "--verbose" => read.verbose = true,
            "--leave-one-out" => read.leave_one_out = true,
            "--list" => read.list = true,
            other => return Err(format!("{other}: not known").into()),
        }
    }
    read.recorded = recorded
        .ok_or("--recorded: the folder of recorded stores is missing")?
        .into();
    Ok(read)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let mut out = std::io::stdout().lock();
    let told = arguments.stated.as_deref().map(fs::read_to_string).transpose()?;
    let stated = stated(told.as_deref().unwrap_or_default());
    let mut stores = catalogues(&arguments.recorded, &stated)?;
    if arguments.list {
        return list(&stores, &mut out);
    }
    if arguments.leave_one_out {
        leave_one_out(&mut stores, &arguments.beside, &stated)?;
    }
    let given = arguments.judgements.as_deref().map(fs::read_to_string).transpose()?;
    let mut scores: BTreeMap<(&str, &str), Score> = BTreeMap::new();
    for judged in judgements(given.as_deref().unwrap_or(include_str!("judgements.tsv"))) {
        let products = stores.get(judged.store).map_or(&[][..], Vec::as_slice);
        let Some(product) = products.iter().find(|product| product.key.platform_id == judged.id) else {
            writeln!(out, "{} {}: not there", judged.store, judged.id)?;
            continue;
        };
        if !hex::encode(Sha256::digest(&product.title)).starts_with(judged.title_hash) {
            writeln!(out, "{} {}: has another title now", judged.store, judged.id)?;
        }
        let category = product.category.and_then(|id| ProductCategory::from_id(id.0).ok());
        let right = category.is_some_and(|category| judged.right.allows(category.name()));
        let told = category.is_some();
        if arguments.verbose && judged.half == "A" && (told != right || (!told && !judged.right.none_is_right)) {
            let path = category.map_or("none", |category| category.name());
            writeln!(out, "{} {}: {path}", judged.store, judged.id)?;
        }
        for key in [
            (judged.half, " all"),
            (judged.half, judged.store),
            (BOTH, " all"),
            (BOTH, judged.store),
        ] {
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
    below_bounds(&scores, arguments.leave_one_out)
}

fn below_bounds(scores: &BTreeMap<(&str, &str), Score>, is_bound: bool) -> Result<(), Box<dyn Error>> {
    let is_below = |part: usize, of: usize, least: usize| part * 1_000 < of * least;
    let mut below = Vec::new();
    for ((_, store), score) in scores.iter().filter(|((half, _), _)| *half == BOTH) {
        let bounds = if *store == " all" { ALL_MIN } else { STORE_MIN };
        let is_counted = is_bound && score.judged >= STORE_JUDGED_MIN;
        if is_counted
            && (is_below(score.right, score.told, bounds.precision)
                || is_below(score.covered, score.tellable, bounds.coverage))
        {
            below.push(store.trim());
        }
    }
    if below.is_empty() {
        Ok(())
    } else {
        Err(format!("below the bounds: {}", below.join(", ")).into())
    }
}

fn list(stores: &BTreeMap<String, Vec<Product>>, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    for (store, products) in stores {
        for product in products {
            let category = product.category.and_then(|id| ProductCategory::from_id(id.0).ok());
            let path = category.map_or("none", |category| category.name());
            let product_type = product.product_type.as_deref().unwrap_or_default();
            writeln!(
                out,
                "{store}\t{}\t{product_type}\t{}\t{path}",
                product.key.platform_id, product.title
            )?;
        }
    }
    Ok(())
}

//! Builds a release from titles in a file, one per line, and measures recall and speed of the nearest-neighbour search.
//!
//! `cargo run --release -p data-release --example nearest -- titles.txt 200000`: titles are repeated, each time with a
//! word from another title, until there are that many. Queries are words of titles at regular intervals.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for a person who measures, not for users"
)]

use std::collections::BTreeSet;
use std::path::Path;

use data_embedding::Vector;
use data_index::{BuildOptions, PriceRange, Release, RowAddress, RowFilter};
use data_model::{Brand, Product};

const WANTED: usize = 100;
const QUERIES: usize = 500;
const PRODUCTS_PER_STORE: usize = 200;

fn main() {
    let mut args = std::env::args().skip(1);
    let titles = std::fs::read_to_string(args.next().unwrap()).unwrap();
    let titles: Vec<&str> = titles.lines().collect();
    let count: usize = args.next().map_or(titles.len(), |count| count.parse().unwrap());
    let titles: Vec<String> = (0..count).map(|at| title(&titles, at)).collect();
    let dir = tempfile::tempdir().unwrap();
    let begun = cpu();
    build(&titles, None, &dir.path().join("without"));
    let without = cpu() - begun;
    let begun = cpu();
    let release = build(&titles, data_embedding::shipped(), &dir.path().join("with"));
    println!(
        "{count} products: built in {:.2} s of CPU, without vectors in {:.2} s",
        cpu() - begun,
        without
    );
    let embedder = data_embedding::shipped().unwrap();
    let texts: Vec<String> = titles
        .iter()
        .step_by((count / QUERIES).max(1))
        .map(|title| title.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
        .collect();
    let begun = cpu();
    let queries: Vec<Vector> = texts
        .iter()
        .filter_map(|text| embedder.embed_query(text).unwrap())
        .collect();
    each("embedding a query", begun, texts.len());
    let filters = [
        ("all products", RowFilter::default()),
        ("half of them", dearer(i64::try_from(count / 2).unwrap())),
        ("one in a hundred", dearer(i64::try_from(count - count / 100).unwrap())),
    ];
    for (name, filter) in filters {
        let filter = release.filter(&filter);
        let filter = (name != "all products").then_some(&filter);
        let mut shared = 0;
        for query in queries.iter().take(100) {
            let exact = exact(&release, query, filter);
            let found: BTreeSet<RowAddress> = release
                .nearest(query, WANTED, filter)
                .into_iter()
                .map(|hit| hit.0)
                .collect();
            shared += exact.iter().filter(|at| found.contains(at)).count();
        }
        let recall = shared as f64 / (queries.len().min(100) * WANTED) as f64;
        let begun = cpu();
        for query in &queries {
            std::hint::black_box(release.nearest(query, WANTED, filter));
        }
        each(&format!("{name}: recall {recall:.3},"), begun, queries.len());
    }
}

/// Returns this thread's CPU time so far, in seconds.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn each(what: &str, begun: f64, count: usize) {
    println!("{what} {:.1} µs of CPU each", (cpu() - begun) * 1e6 / count as f64);
}

fn title(titles: &[&str], at: usize) -> String {
    let (copy, nth) = (at / titles.len(), at % titles.len());
    let own = titles[nth];
    match copy {
        0 => own.to_owned(),
        _ => {
            let other = titles[(nth * 31 + copy * 7919) % titles.len()];
            format!("{own} {}", other.split_whitespace().nth(copy % 4).unwrap_or_default())
        }
    }
}

fn dearer(min_minor: i64) -> RowFilter {
    RowFilter {
        price: Some(PriceRange {
            currency: "INR".parse().unwrap(),
            min_minor: Some(min_minor),
            max_minor: None,
        }),
        ..RowFilter::default()
    }
}

fn exact(release: &Release, query: &Vector, filter: Option<&data_index::Filter>) -> Vec<RowAddress> {
    let mut all = Vec::new();
    for (part, held) in (0..).zip(release.parts()) {
        let rows = (0..held.rows()).map(|row| RowAddress { part, row });
        let rows: Vec<RowAddress> = rows
            .filter(|at| filter.is_none_or(|filter| filter.matches(*at)))
            .collect();
        all.extend(
            release
                .similarities(query, rows.iter().copied())
                .zip(&rows)
                .filter_map(|(cosine, at)| Some((cosine?, held.cards().id(at.row), *at))),
        );
    }
    all.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    all.into_iter().take(WANTED).map(|(_, _, at)| at).collect()
}

fn build(titles: &[String], embedder: Option<std::sync::Arc<dyn data_embedding::Embedder>>, dir: &Path) -> Release {
    let options = BuildOptions {
        embedder,
        ..BuildOptions::default()
    };
    let titles: Vec<(u64, &String)> = (0..).zip(titles).collect();
    let store = |(number, titles): (usize, &[(u64, &String)])| {
        let brand = Brand {
            store: format!("s{number:06}.example").parse().unwrap(),
            ..kit::brand(&format!("Brand {number}"))
        };
        // Each product's price is its number, so that a price filter selects a known share of the products.
        let product = |(id, title): &(u64, &String)| Product {
            handle: format!("p{id}"),
            variants: vec![kit::variant(*id, i64::try_from(*id).unwrap())],
            ..kit::product(&brand, *id, title)
        };
        let products: Vec<Product> = titles.iter().map(product).collect();
        (kit::facts(brand), products)
    };
    let stores: Vec<_> = titles.chunks(PRODUCTS_PER_STORE).enumerate().map(store).collect();
    let catalogue: Vec<_> = stores
        .iter()
        .map(|(facts, products)| kit::StoreProducts { facts, products })
        .collect();
    kit::open(kit::build(&catalogue, &options, dir), dir)
}

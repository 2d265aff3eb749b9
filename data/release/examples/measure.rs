//! Builds, publishes, fetches and opens a release of synthetic products, and says how long each step takes.
//!
//! `cargo run --release -p data-release --example measure -- 200000`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for a person who measures, not for users"
)]

use std::collections::BTreeMap;
use std::time::Instant;

use data_index::{BrandFacts, BuildOptions, FacetClause, PriceRange, Release, RowFilter};
use data_model::{
    Attribute, Brand, CategoryId, Media, MediaKind, OptionValue, Product, ProductIdent, ProductKey, ProductOption,
    Rating, Timestamp, Variant, VariantId,
};
use data_release::{
    Assembly, CheckOptions, LakeStore, PartsBuilder, PlanOptions, Publication, ReleaseStore, assemble, plan,
};
use data_storage::Storage;
use data_text::{Analysis, analyse};

const WORDS: &[&str] = &[
    "cotton",
    "linen",
    "silk",
    "wool",
    "denim",
    "shirt",
    "kurta",
    "saree",
    "dress",
    "jacket",
    "running",
    "walking",
    "shoes",
    "sandals",
    "leather",
    "coffee",
    "filter",
    "roast",
    "arabica",
    "dark",
    "tea",
    "green",
    "organic",
    "honey",
    "oil",
    "face",
    "serum",
    "vitamin",
    "cream",
    "lotion",
    "blue",
    "red",
    "black",
    "white",
    "printed",
    "embroidered",
    "handmade",
    "classic",
    "slim",
    "regular",
    "oversized",
    "winter",
    "summer",
    "kids",
    "men",
    "women",
    "gift",
    "pack",
    "bottle",
    "steel",
    "glass",
    "wooden",
    "lamp",
    "cushion",
    "cover",
    "bedsheet",
    "double",
    "king",
    "size",
    "soft",
];
const COLORS: &[&str] = &["Black", "White", "Blue", "Red", "Green", "Mustard", "Pink", "Grey"];
const SIZES: &[&str] = &["XS", "S", "M", "L", "XL"];

/// A small generator: the same numbers wherever it runs.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit as u64).unwrap_or(0)
    }

    fn words(&mut self, count: usize) -> String {
        // Squaring makes some words common and others rare.
        let mut word = || WORDS[self.below(WORDS.len()) * self.below(WORDS.len()) / WORDS.len()];
        (0..count).map(|_| word()).collect::<Vec<_>>().join(" ")
    }
}

fn facts(store: usize) -> BrandFacts {
    let brand = Brand {
        store: format!("store-{store:04}.example").parse().unwrap(),
        ..kit::brand(&format!("Store {store}"))
    };
    BrandFacts {
        catalogue_hash: format!("{store:064}"),
        ..kit::facts(brand)
    }
}

fn variants(random: &mut Random, id: u64, color: &str) -> Vec<Variant> {
    let price = 19_900 + 100 * i64::try_from(random.below(4_000)).unwrap();
    let marked_down = random.below(3) == 0;
    SIZES
        .iter()
        .zip(0..)
        .map(|(size, at)| Variant {
            id: VariantId(id * 10 + at),
            title: format!("{color} / {size}"),
            sku: Some(format!("SKU-{id}-{size}")),
            barcode: None,
            size: None,
            options: vec![
                OptionValue {
                    name: "Color".into(),
                    value: color.into(),
                },
                OptionValue {
                    name: "Size".into(),
                    value: (*size).into(),
                },
            ],
            price_minor: price,
            compare_at_minor: marked_down.then_some(price * 5 / 4),
            available: random.below(5) > 0,
            grams: Some(300),
            image: None,
        })
        .collect()
}

fn product(facts: &BrandFacts, id: u64) -> Product {
    let mut random = Random(id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    random.below(2);
    let color = COLORS[random.below(COLORS.len())];
    let variants = variants(&mut random, id, color);
    let categories = [212, 1604, 187, 1868, 2271, 574, 632];
    let words = random.words(5);
    Product {
        key: ProductKey {
            store: facts.brand.store.clone(),
            platform_id: id,
        },
        handle: format!("{}-{id}", words.replace(' ', "-")),
        title: words,
        description: random.words(120),
        vendor: Some(facts.brand.name.clone()),
        product_type: Some(random.words(1)),
        category: Some(CategoryId(categories[random.below(categories.len())])),
        tags: (0..6).map(|_| random.words(1)).collect(),
        options: vec![
            ProductOption {
                name: "Color".into(),
                values: vec![color.into()],
            },
            ProductOption {
                name: "Size".into(),
                values: SIZES.iter().map(|size| (*size).into()).collect(),
            },
        ],
        attributes: vec![Attribute {
            name: "material".into(),
            values: vec![random.words(1)],
        }],
        media: (0..5)
            .map(|at| Media {
                url: format!("https://cdn.example/s/files/{id}/{at}.jpg?v=1700000000"),
                kind: MediaKind::Image,
                alt: None,
                width: Some(1200),
                height: Some(1600),
            })
            .collect(),
        variants,
        currency: facts.brand.currency,
        rating: Some(Rating {
            average: 4.2,
            count: u32::try_from(random.below(900)).unwrap(),
        }),
        reviews: Vec::new(),
        created_at: Some(Timestamp::from_micros(1_700_000_000_000_000)),
        published_at: None,
        updated_at: None,
    }
}

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_whitespace().nth(1))
            .and_then(|kib| kib.parse::<u64>().ok())
            .unwrap_or(0)
    };
    value("RssAnon:") / 1024
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    println!(
        "{what:<44} {:>9.1} ms   {:>6} MiB anonymous",
        start.elapsed().as_secs_f64() * 1e3,
        resident_mib()
    );
    done
}

fn build(
    previous: Option<&data_index::Manifest>,
    stores: &[LakeStore],
    per_store: u64,
    dir: &std::path::Path,
) -> data_index::Manifest {
    let plan = plan(previous, stores, &PlanOptions::default());
    println!(
        "  {} rows in {} parts to build, {} parts kept",
        plan.rows_to_index(),
        plan.build.len(),
        plan.keep.len()
    );
    let group = |group: &data_release::PartPlan| {
        let mut parts = PartsBuilder::new(dir, &BuildOptions::default());
        for host in &group.stores {
            let at = stores
                .binary_search_by(|store| store.facts.brand.store.cmp(host))
                .unwrap();
            for id in 0..per_store {
                parts
                    .push(
                        &product(&stores[at].facts, at as u64 * per_store + id),
                        &stores[at].facts,
                    )
                    .unwrap();
            }
        }
        parts.finish().unwrap()
    };
    let built = std::thread::scope(|scope| {
        let threads: Vec<_> = plan
            .build
            .iter()
            .map(|planned| scope.spawn(|| group(planned)))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let built_at = Timestamp::from_micros(1_790_000_000_000_000);
    assemble(Assembly {
        previous,
        plan,
        built,
        stores,
        lake: BTreeMap::new(),
        built_at,
    })
    .unwrap()
}

fn look_up(release: &Release, query: &str) -> usize {
    let words = analyse(Analysis::Plain, query);
    let dictionaries = release
        .parts()
        .iter()
        .flat_map(|part| [part.titles(), part.brand_names()]);
    let held = dictionaries.map(|words_held| {
        let found = words.iter().filter_map(|word| words_held.find(&word.text));
        found.map(|entry| entry.rows().count()).sum::<usize>()
    });
    held.sum()
}

/// Looks up, reads words, filters and counts.
fn read(release: &Release, facts: &BrandFacts, products: u64) {
    timed("find 10,000 products", || {
        let ids = (0..10_000).map(|at| product(facts, at % products).key.id());
        ids.filter(|id| release.find(&ProductIdent::Id(*id)).is_some()).count()
    });
    timed("1,000 times two words in two dictionaries", || {
        (0..1_000)
            .map(|at| look_up(release, &Random(at).words(2)))
            .sum::<usize>()
    });
    let filter = RowFilter {
        price: Some(PriceRange {
            currency: "INR".parse().unwrap(),
            min_minor: Some(50_000),
            max_minor: Some(150_000),
        }),
        in_stock: true,
        facets: vec![FacetClause {
            name: "color".into(),
            values: vec!["blue".into(), "red".into()],
        }],
        ..RowFilter::default()
    };
    timed("100 filters to bitmaps", || {
        (0..100)
            .map(|_| {
                release
                    .filter(&filter)
                    .parts()
                    .iter()
                    .map(|part| part.bitmap().len())
                    .sum::<u64>()
            })
            .max()
    });
    timed("100 facet counts over all hits", || {
        let all = release.filter(&RowFilter::default());
        for _ in 0..100 {
            for (part, filter) in release.parts().iter().zip(all.parts()) {
                let hits = filter.bitmap();
                for name in ["color", "size", "tag"] {
                    let _ = part.facets().counts(part.cards(), name, &hits);
                }
            }
        }
    });
}

#[tokio::main]
async fn main() {
    let products: u64 = std::env::args()
        .nth(1)
        .and_then(|count| count.parse().ok())
        .unwrap_or(20_000);
    let per_store = 400;
    let lake = |changed: usize| -> Vec<LakeStore> {
        let stores = 0..usize::try_from(products / per_store).unwrap().max(1);
        let store = |at| {
            let mut facts = facts(at);
            facts.catalogue_hash.push_str(if at < changed { "changed" } else { "" });
            LakeStore {
                facts,
                product_count: per_store,
            }
        };
        stores.map(store).collect()
    };
    let home = tempfile::tempdir().unwrap();
    let (files, cache) = (home.path().join("build"), home.path().join("cache"));
    let stores = lake(0);
    timed("generate the products", || {
        (0..products)
            .map(|id| product(&stores[0].facts, id).title.len())
            .sum::<usize>()
    });
    let first = timed("build", || build(None, &stores, per_store, &files));
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    first
        .files()
        .for_each(|file| *sizes.entry(file.name.as_str()).or_default() += file.size_bytes);
    sizes
        .iter()
        .for_each(|(name, size)| println!("  {name:<20} {:>9.1} MiB", *size as f64 / 1_048_576.0));
    let storage = Storage::from_path(home.path()).unwrap().child("releases");
    let releases = ReleaseStore::new(storage, kit::SetClock::noon());
    let checks = CheckOptions::default();
    let publication = |manifest, expected| Publication {
        manifest,
        files: &files,
        cache: &cache,
        expected,
        checks: &checks,
    };
    let start = Instant::now();
    println!("{:?}", releases.publish(publication(&first, None)).await.unwrap());
    println!(
        "{:<44} {:>9.1} ms   {:>6} MiB anonymous",
        "publish (upload, verify, open, probe)",
        start.elapsed().as_secs_f64() * 1e3,
        resident_mib()
    );
    let start = Instant::now();
    let local = releases.fetch(&first, &cache).await.unwrap();
    println!("{:<44} {:>9.1} ms", "fetch again", start.elapsed().as_secs_f64() * 1e3);
    let release = timed("open", || local.open().unwrap());
    read(&release, &stores[0].facts, products);
    let changed = lake(stores.len().div_ceil(100));
    timed("build with 1% of the stores changed", || {
        build(Some(&first), &changed, per_store, &files)
    });
}

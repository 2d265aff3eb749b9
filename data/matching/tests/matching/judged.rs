use data_embedding::{DocumentText, Vector};
use data_matching::{Basis, Item, ItemVariant, judge};
use data_model::Gtin;

const PAIRS: &str = include_str!("judged.tsv");
const PRECISION_MIN: f64 = 0.97;

struct Pair {
    half: &'static str,
    is_same: bool,
    one: Item<'static>,
    other: Item<'static>,
}

fn pairs() -> Vec<Pair> {
    let lines = PAIRS.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            assert_eq!(cells.len(), 10, "{line}");
            Pair {
                half: cells[0],
                is_same: cells[1] == "1",
                one: item(&cells[2..6]),
                other: item(&cells[6..10]),
            }
        })
        .collect()
}

fn item(cells: &[&'static str]) -> Item<'static> {
    let mut item = Item {
        brand: cells[0],
        vendor: Some(cells[1]).filter(|vendor| !vendor.is_empty()),
        title: cells[2],
        currency: "INR",
        ..Item::default()
    };
    let mut variant = ItemVariant::default();
    let mut options: Vec<Vec<&'static str>> = Vec::new();
    for field in cells[3].split(';').filter(|field| !field.is_empty()) {
        let (name, value) = field.split_once('=').unwrap_or_else(|| panic!("{field}"));
        match name {
            "type" => item.product_type = Some(value),
            "price" => variant.price_minor = value.parse().unwrap(),
            "barcode" => variant.barcode = Gtin::read(value),
            "sku" => variant.sku = Some(value),
            "currency" => item.currency = value,
            "options" => {
                for option in value.split(',') {
                    let (name, values) = option.split_once(':').unwrap();
                    let values: Vec<_> = values.split('/').collect();
                    item.attributes.push((name, values.clone()));
                    options.push(values);
                }
            }
            other => item.attributes.push((other, vec![value])),
        }
    }
    let mut combined: Vec<Vec<&'static str>> = vec![Vec::new()];
    for values in options {
        let with = |so_far: &Vec<&'static str>| {
            let so_far = so_far.clone();
            values
                .iter()
                .map(move |value| [so_far.as_slice(), &[*value]].concat())
                .collect::<Vec<_>>()
        };
        combined = combined.iter().flat_map(with).collect();
    }
    let with_options = |(id, options)| ItemVariant {
        id,
        options,
        ..variant.clone()
    };
    item.variants = (1..).zip(combined).map(with_options).collect();
    item
}

/// The similarity comes from the program's own embedder.
fn similarity(pair: &Pair) -> f32 {
    let document = |item: &Item<'_>| DocumentText {
        title: item.title.to_owned(),
        category: item.product_type.unwrap_or_default().to_owned(),
        brand: item.vendor.unwrap_or(item.brand).to_owned(),
        options: item
            .attributes
            .iter()
            .flat_map(|(_, values)| values.join(" ").into_bytes())
            .map(char::from)
            .collect(),
        description: String::new(),
    };
    let embedder = data_embedding::shipped().unwrap();
    let vectors = embedder
        .embed_documents(&[document(&pair.one), document(&pair.other)])
        .unwrap();
    let vectors: Vec<Vector> = vectors.into_iter().flatten().collect();
    vectors[0].cosine(&vectors[1])
}

fn counted(pairs: &[Pair]) -> (usize, usize, usize) {
    let (mut right, mut wrong, mut missed) = (0, 0, 0);
    for pair in pairs {
        let judged = judge(&pair.one, &pair.other, Some(similarity(pair)));
        let told = format!("{} | {}  |  {:?}", pair.one.title, pair.other.title, judged);
        match (&judged, pair.is_same) {
            (Ok(_), true) => right += 1,
            (Ok(_), false) => {
                wrong += 1;
                println!("wrong: {told}");
            }
            (Err(_), true) => {
                missed += 1;
                println!("missed: {told}");
            }
            (Err(_), false) => {}
        }
    }
    (right, wrong, missed)
}

#[test]
fn of_each_half_of_the_judged_pairs_nearly_none_is_wrong() {
    let mut pairs = pairs();
    // Number of pairs in each half, and minimum number of true matches among them.
    let halves = [
        ("first", 200, 60),
        ("second", 200, 60),
        ("third", 80, 25),
        ("fourth", 110, 25),
    ];
    for (half, all, same) in halves {
        let pairs: Vec<Pair> = pairs.extract_if(.., |pair| pair.half == half).collect();
        let (right, wrong, missed) = counted(&pairs);
        let precision = right as f64 / (right + wrong) as f64;
        let recall = right as f64 / (right + missed) as f64;
        println!(
            "{half}: {} pairs, precision {precision:.3}, recall {recall:.3}",
            pairs.len()
        );
        assert!(pairs.len() >= all && right + missed >= same, "{half}");
        assert!(precision >= PRECISION_MIN, "{half}: precision {precision:.3}");
        // Rules that find nothing would also be precise.
        assert!(recall >= 0.6, "{half}: recall {recall:.3}");
    }
    assert!(pairs.is_empty(), "pairs of no half");
}

#[test]
fn vectors_alone_do_not_tell_the_same_product() {
    let mut measured: Vec<(f32, bool)> = pairs().iter().map(|pair| (similarity(pair), pair.is_same)).collect();
    measured.sort_by(|left, right| right.0.total_cmp(&left.0));
    let same = measured.iter().filter(|(_, is_same)| *is_same).count();
    let (mut right, mut wrong) = (0, 0);
    for (cosine, is_same) in &measured {
        right += usize::from(*is_same);
        wrong += usize::from(!is_same);
        if 2 * right >= same {
            let precision = right as f64 / (right + wrong) as f64;
            println!("cosine from {cosine:.3} finds half of the pairs with a precision of {precision:.3}");
            assert!(precision < PRECISION_MIN, "{precision:.3}: vectors would do");
            return;
        }
    }
}

#[test]
fn a_judgement_has_no_direction() {
    for pair in pairs() {
        let (there, back) = (judge(&pair.one, &pair.other, None), judge(&pair.other, &pair.one, None));
        match (there, back) {
            (Ok(there), Ok(back)) => {
                assert!((there.confidence - back.confidence).abs() < 1e-6, "{}", pair.one.title);
                assert_eq!(there.basis, back.basis, "{}", pair.one.title);
            }
            (there, back) => assert_eq!(there.is_ok(), back.is_ok(), "{} | {}", pair.one.title, pair.other.title),
        }
    }
}

#[test]
fn what_decided_is_said() {
    let of = |basis| {
        let found = pairs()
            .into_iter()
            .filter_map(|pair| judge(&pair.one, &pair.other, None).ok());
        found.filter(|found| found.basis == basis).collect::<Vec<_>>()
    };
    for (basis, first) in [
        (Basis::Barcode, "barcode:"),
        (Basis::Model, "model:"),
        (Basis::Title, "brand:"),
    ] {
        let found = of(basis);
        assert!(!found.is_empty(), "{basis:?}");
        for judgement in found {
            assert!(judgement.reasons[0].to_string().starts_with(first), "{judgement:?}");
        }
    }
}

use std::collections::HashMap;

use serde_json::Value;

use crate::support::{Haat, get};

/// Queries and judgements of the project. `judged.tsv` describes its format.
const JUDGED: &str = include_str!("judged.tsv");
/// Seed and size of the catalogue. Other seeds give other titles of the same kinds.
const CATALOGUE: [&str; 6] = ["--products", "4000", "--stores", "60", "--seed", "11"];

/// Query with its judgement of each product.
struct JudgedQuery<'a> {
    query: &'a str,
    worth: HashMap<&'a str, u32>,
}

impl<'a> JudgedQuery<'a> {
    fn of(line: &'a str, titles: &'a [(String, String)]) -> Self {
        let mut columns = line.split('\t');
        let query = columns.next().unwrap();
        let (meant, near) = (columns.next().unwrap(), columns.next().unwrap());
        let worth = titles.iter().filter_map(|(id, title)| {
            let worth = if holds(title, meant) {
                2
            } else {
                u32::from(holds(title, near))
            };
            (worth > 0).then_some((id.as_str(), worth))
        });
        let worth: HashMap<&str, u32> = worth.collect();
        assert!(
            worth.values().any(|worth| *worth == 2),
            "{query}: the catalogue has nothing that is meant"
        );
        Self { query, worth }
    }

    /// Returns the NDCG of the first ten results: linear gain, logarithmic discount, ideal over all judged products.
    fn ndcg(&self, ids: &[String]) -> f64 {
        let gain = |worths: &mut dyn Iterator<Item = u32>| -> f64 {
            let ranked = (2_u32..).zip(worths.take(10));
            ranked
                .map(|(place, worth)| f64::from(worth) / f64::from(place).log2())
                .sum()
        };
        let mut ideal: Vec<u32> = self.worth.values().copied().collect();
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        let mut found = ids.iter().map(|id| self.worth.get(id.as_str()).copied().unwrap_or(0));
        gain(&mut found) / gain(&mut ideal.into_iter())
    }
}

/// True if a title has every word of one of the alternatives, and no word that the alternative excludes.
fn holds(title: &str, alternatives: &str) -> bool {
    let title = title.to_lowercase();
    alternatives.split('|').filter(|words| !words.is_empty()).any(|words| {
        words.split(' ').all(|word| match word.strip_prefix('!') {
            Some(excluded) => !title.contains(excluded),
            None => title.contains(word),
        })
    })
}

/// Returns the mean over all queries, and the queries without results.
fn judge(address: &str, mode: &str, judged: &[JudgedQuery<'_>]) -> (f64, Vec<String>) {
    let (mut sum, mut nothing) = (0.0, Vec::new());
    for judged in judged {
        let text = judged.query.replace(' ', "+");
        let (status, answer) = get(&format!("{address}/v1/search?mode={mode}&q={text}"));
        assert_eq!(status, 200, "{text}");
        let cards = answer["data"].as_array().unwrap().iter();
        let ids: Vec<String> = cards.map(|card| card["id"].as_str().unwrap().to_owned()).collect();
        let ndcg = judged.ndcg(&ids);
        println!("{mode}\t{}\t{ndcg:.3}", judged.query);
        sum += ndcg;
        if ids.is_empty() {
            nothing.push(judged.query.to_owned());
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "some dozens")]
    let mean = sum / judged.len() as f64;
    (mean, nothing)
}

/// Every query is printed by `cargo test --test cli judged -- --nocapture`.
#[test]
fn what_shoppers_mean_stands_first_as_judged_over_the_emulators_catalogue() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&CATALOGUE);
    haat.run(&["crawl", "--release"]).json();
    let text = |row: &Value, column: &str| row[column].as_str().unwrap().to_owned();
    let titles: Vec<(String, String)> = haat
        .sql("select product_id, title from products")
        .iter()
        .map(|row| (text(row, "product_id"), text(row, "title")))
        .collect();
    let lines = JUDGED.lines().filter(|line| !line.starts_with('#'));
    let judged: Vec<JudgedQuery<'_>> = lines.map(|line| JudgedQuery::of(line, &titles)).collect();
    let (_server, serving) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let address = serving["address"].as_str().unwrap();
    let (hybrid, nothing) = judge(address, "hybrid", &judged);
    let (lexical, _) = judge(address, "lexical", &judged);
    println!(
        "NDCG@10 over {} queries: hybrid {hybrid:.3}, lexical {lexical:.3}",
        judged.len()
    );
    assert_eq!(nothing, [""; 0], "hybrid search leaves nobody without an answer");
    assert!(hybrid >= 0.96, "hybrid {hybrid:.3}");
    assert!(lexical >= 0.75, "lexical {lexical:.3}");
    assert!(hybrid >= lexical, "hybrid {hybrid:.3}, lexical {lexical:.3}");
}

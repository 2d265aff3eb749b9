//! Measures precision and recall of the reader by fact. The sentences were labelled before the reader was written.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test that tells its figures, and of a table that its caller names"
)]

use std::collections::{BTreeMap, BTreeSet};

use data_model::{ShippingFact, ShippingFactKind};
use pipeline_policies::{checked, proposals, read, sentences};
use serde_json::{Value, json};

fn major(minor: i64) -> String {
    if minor % 100 == 0 {
        (minor / 100).to_string()
    } else {
        format!("{}.{:02}", minor / 100, minor % 100)
    }
}

fn bounds(fact: &ShippingFact) -> String {
    let is_exclusive = fact.max_order_minor.is_some_and(|max| max % 100 == 99);
    match (fact.min_order_minor, fact.max_order_minor) {
        (None, None) => String::new(),
        (None, Some(max)) if is_exclusive => format!("<{}", major(max + 1)),
        (None, Some(max)) => format!("<={}", major(max)),
        (min, max) => format!(
            "{}..{}",
            min.map(major).unwrap_or_default(),
            max.map(major).unwrap_or_default()
        ),
    }
}

fn label(fact: &ShippingFact) -> String {
    let mut scope: Vec<String> = Vec::new();
    scope.extend(fact.region.map(|region| region.to_string()));
    scope.extend(fact.payment.map(|payment| payment.to_string()));
    if fact.kind != ShippingFactKind::FreeShipping {
        scope.push(bounds(fact));
    }
    scope.extend(fact.max_grams.map(|grams| format!("<{grams}g")));
    scope.retain(|part| !part.is_empty());
    let scope = if scope.is_empty() {
        String::new()
    } else {
        format!("[{}]", scope.join(","))
    };
    let range = |min: Option<u16>, max: Option<u16>| {
        let text = |days: Option<u16>| days.map(|days| days.to_string()).unwrap_or_default();
        let working = if fact.in_working_days == Some(true) { "w" } else { "" };
        format!("{}-{}{working}", text(min), text(max))
    };
    let amount = || {
        let min = fact.amount_minor.map(major).unwrap_or_default();
        fact.amount_max_minor
            .map_or(min.clone(), |max| format!("{min}..{}", major(max)))
    };
    let (name, value) = match fact.kind {
        ShippingFactKind::FreeShipping => ("free", major(fact.min_order_minor.unwrap())),
        ShippingFactKind::Fee => ("fee", amount()),
        ShippingFactKind::Cod => (
            "cod",
            if fact.is_available == Some(true) { "yes" } else { "no" }.to_owned(),
        ),
        ShippingFactKind::CodFee => ("codfee", amount()),
        ShippingFactKind::CodAdvance => (
            "advance",
            fact.percent.map_or_else(amount, |percent| format!("{percent}%")),
        ),
        ShippingFactKind::Dispatch => ("dispatch", range(fact.days_min, fact.days_max)),
        ShippingFactKind::Delivery => ("delivery", range(fact.days_min, fact.days_max)),
        ShippingFactKind::CutOff => {
            let minute = fact.minute_of_day.unwrap();
            ("cutoff", format!("{:02}:{:02}", minute / 60, minute % 60))
        }
        ShippingFactKind::WorkingDays => {
            let mask = fact.weekdays.unwrap();
            (
                "days",
                (0..7)
                    .filter(|day| mask & (1 << day) != 0)
                    .map(|day| (day + 1).to_string())
                    .collect(),
            )
        }
    };
    format!("{name}{scope}={value}")
}

#[derive(Debug, Default, Clone, Copy)]
struct Score {
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Score {
    fn precision(self) -> f64 {
        self.right as f64 / (self.right + self.wrong).max(1) as f64
    }

    fn recall(self) -> f64 {
        self.right as f64 / (self.right + self.missed).max(1) as f64
    }
}

/// Returns scores by kind of fact, and the errors.
fn score<'a>(cases: impl Iterator<Item = (&'a str, &'a str, &'a str)>) -> (BTreeMap<String, Score>, Vec<String>) {
    let (mut scores, mut faults): (BTreeMap<String, Score>, Vec<String>) = Default::default();
    for (currency, labels, text) in cases {
        let wanted: BTreeSet<String> = labels
            .split_whitespace()
            .filter(|label| *label != "-")
            .map(str::to_owned)
            .collect();
        // A line of the file may contain several lines of text.
        let lines = text.replace("\\n", "\n");
        let told: BTreeSet<String> = read(&lines, currency.parse().unwrap())
            .facts
            .iter()
            .map(label)
            .collect();
        let kind = |label: &str| label.split(['=', '[']).next().unwrap().to_owned();
        for one in &told {
            let score = scores.entry(kind(one)).or_default();
            if wanted.contains(one) {
                score.right += 1
            } else {
                score.wrong += 1
            }
        }
        for one in wanted.difference(&told) {
            scores.entry(kind(one)).or_default().missed += 1;
        }
        if wanted != told {
            faults.push(format!("wanted {wanted:?}\n   told {told:?}\n   {text}"));
        }
    }
    let all = scores.values().fold(Score::default(), |all, one| Score {
        right: all.right + one.right,
        wrong: all.wrong + one.wrong,
        missed: all.missed + one.missed,
    });
    scores.insert("all".into(), all);
    (scores, faults)
}

fn tell(name: &str, scores: &BTreeMap<String, Score>) {
    for (kind, score) in scores {
        println!(
            "{name:8} {kind:9} right {:3} wrong {:2} missed {:2} precision {:.3} recall {:.3}",
            score.right,
            score.wrong,
            score.missed,
            score.precision(),
            score.recall()
        );
    }
}

fn cases(file: &str) -> Vec<(&str, &str, &str)> {
    let lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let case = |line| {
        let mut parts = str::splitn(line, 3, '|').map(str::trim);
        Some((parts.next()?, parts.next()?, parts.next()?))
    };
    lines.filter_map(case).collect()
}

/// Returns the scores of one half of the file. The rules were developed with the first half. The second half was
/// reviewed once by hand.
fn half(remainder: usize) -> (BTreeMap<String, Score>, Vec<String>) {
    let all = cases(include_str!("data/labelled.txt"));
    assert!(all.len() >= 200);
    score(
        all.into_iter()
            .enumerate()
            .filter(|(at, _)| at % 2 == remainder)
            .map(|(_, case)| case),
    )
}

#[test]
fn sentences_that_were_open_are_read() {
    let (scores, faults) = half(0);
    tell("open", &scores);
    faults.iter().for_each(|fault| println!("{fault}"));
    assert!(scores["all"].precision() >= 0.98, "{faults:#?}");
    assert!(scores["all"].recall() >= 0.85, "{faults:#?}");
}

#[test]
fn sentences_that_were_held_out_are_read() {
    let (scores, faults) = half(1);
    tell("held out", &scores);
    faults.iter().for_each(|fault| println!("{fault}"));
    assert!(scores["all"].precision() >= 0.98, "{scores:#?}");
    assert!(scores["all"].recall() >= 0.85, "{scores:#?}");
}

/// The scores of the first run over these texts estimate the quality on unseen wordings.
#[test]
fn sentences_that_were_written_after_the_rules_are_read() {
    let (scores, faults) = score(cases(include_str!("data/fresh.txt")).into_iter());
    tell("fresh", &scores);
    faults.iter().for_each(|fault| println!("{fault}"));
    assert!(scores["all"].precision() >= 0.95, "{faults:#?}");
    assert!(scores["all"].recall() >= 0.6, "{faults:#?}");
}

/// Scores to be expected for unseen stores. The goal of .98 and .85 is not reached yet.
#[test]
fn wordings_that_were_judged_blind_are_read() {
    let (scores, _) = score(cases(include_str!("data/blind.txt")).into_iter());
    tell("blind", &scores);
    assert!(scores["all"].precision() >= 0.93, "{scores:#?}");
    assert!(scores["all"].recall() >= 0.83, "{scores:#?}");
    let (scores, _) = score(cases(include_str!("data/blind-confirming.txt")).into_iter());
    tell("blind", &scores);
    assert!(scores["all"].precision() >= 0.94, "{scores:#?}");
    assert!(scores["all"].recall() >= 0.78, "{scores:#?}");
}

/// The texts were labelled before the grammar was extended for them. This half served the development.
#[test]
fn texts_that_the_grammar_was_widened_with_are_read() {
    let (scores, faults) = score(cases(include_str!("data/widened.txt")).into_iter());
    tell("widened", &scores);
    faults.iter().for_each(|fault| println!("{fault}"));
    assert!(scores["all"].precision() >= 0.98, "{faults:#?}");
    assert!(scores["all"].recall() >= 0.85, "{faults:#?}");
}

/// The development did not use this half of the texts. The scores of the first run over it estimate the quality on
/// unseen wordings.
#[test]
fn texts_that_were_kept_shut_are_read() {
    let (scores, faults) = score(cases(include_str!("data/sealed.txt")).into_iter());
    tell("sealed", &scores);
    faults.iter().for_each(|fault| println!("{fault}"));
    assert!(scores["all"].precision() >= 0.98, "{faults:#?}");
    assert!(scores["all"].recall() >= 0.85, "{faults:#?}");
}

/// The texts contain exceptions, negations, questions, headings, lists and tables. They were written after a review,
/// before the rules were corrected with them.
#[test]
fn texts_that_the_rules_were_mended_with_are_read() {
    let (scores, faults) = score(cases(include_str!("data/probed.txt")).into_iter());
    tell("probed", &scores);
    faults.iter().for_each(|fault| println!("{fault}"));
    assert_eq!(scores["all"].wrong, 0, "{faults:#?}");
    assert!(scores["all"].missed <= 3, "{faults:#?}");
}

/// The correction of the rules did not use these texts of the same review.
#[test]
fn texts_that_were_held_while_the_rules_were_mended_are_read() {
    let (scores, faults) = score(cases(include_str!("data/held.txt")).into_iter());
    tell("held", &scores);
    faults.iter().for_each(|fault| println!("{fault}"));
    assert_eq!(scores["all"].wrong, 0, "{faults:#?}");
    assert!(scores["all"].missed <= 1, "{faults:#?}");
}

/// These texts were measured once before the rules were corrected with them.
#[test]
fn texts_that_were_written_after_those_are_read() {
    let (scores, faults) = score(cases(include_str!("data/late.txt")).into_iter());
    tell("late", &scores);
    faults.iter().for_each(|fault| println!("{fault}"));
    assert_eq!(scores["all"].wrong, 0, "{faults:#?}");
    assert!(scores["all"].missed <= 1, "{faults:#?}");
}

/// These texts were measured once before any rule was corrected with them.
#[test]
fn texts_that_were_written_after_all_else_are_read() {
    let (scores, faults) = score(cases(include_str!("data/last.txt")).into_iter());
    tell("last", &scores);
    faults.iter().for_each(|fault| println!("{fault}"));
    assert_eq!(scores["all"].wrong, 0, "{faults:#?}");
    assert_eq!(scores["all"].missed, 0, "{faults:#?}");
}

/// Converts a label to a language model's proposal for a sentence. Returns `None` if a proposal cannot express the
/// label.
fn proposal(label: &str, sentence: &str) -> Option<Value> {
    let (head, value) = label.split_once('=')?;
    let (name, scope) = head.split_once('[').unwrap_or((head, ""));
    let scope = scope.trim_end_matches(']');
    let region = ["metro", "rest", "remote", "abroad", "place"]
        .contains(&scope)
        .then_some(scope);
    let payment = (scope == "prepaid").then_some(scope);
    let mut proposal = json!({"region": region, "payment": payment, "sentence": sentence});
    proposal["field"] = match name {
        "free" => "free_shipping",
        "fee" | "cod" | "dispatch" | "delivery" => name,
        _ => return None,
    }
    .into();
    match name {
        "free" | "fee" => {
            proposal["amount"] = json!(value.parse::<f64>().ok()?);
            proposal["currency"] = "INR".into();
        }
        "cod" => proposal["is_available"] = (value == "yes").into(),
        _ => {
            let (min, max) = value.trim_end_matches('w').split_once('-')?;
            proposal["days_min"] = json!(min.parse::<u16>().ok());
            proposal["days_max"] = json!(max.parse::<u16>().ok());
            proposal["in_working_days"] = value.ends_with('w').into();
        }
    }
    (scope.is_empty() || region.is_some() || payment.is_some()).then_some(proposal)
}

/// Simulates a model that proposes these labels for each sentence of a text. Returns the proposals that are kept.
fn kept(text: &str, labels: &str) -> BTreeSet<String> {
    let (lines, currency) = (text.replace("\\n", "\n"), "INR".parse().unwrap());
    let shown = sentences(&lines);
    let pairs = shown
        .lines()
        .flat_map(|line| labels.split_whitespace().map(move |label| (line, label)));
    let facts: Vec<Value> = pairs.filter_map(|(line, label)| proposal(label, line)).collect();
    let ruled = read(&lines, currency);
    let all = facts.chunks(24).flat_map(|facts| {
        let proposed = proposals(&json!({ "facts": facts }).to_string()).unwrap();
        checked(&lines, currency, &proposed, &ruled).facts
    });
    all.map(|fact| label(&fact)).collect()
}

/// The simulated model proposes the labels of other texts.
#[test]
fn of_what_a_model_proposes_only_what_is_labelled_is_kept() {
    let files = [
        include_str!("data/labelled.txt"),
        include_str!("data/fresh.txt"),
        include_str!("data/blind.txt"),
        include_str!("data/blind-confirming.txt"),
    ];
    let all: Vec<_> = files
        .into_iter()
        .flat_map(cases)
        .filter(|(currency, ..)| *currency == "INR")
        .collect();
    let (mut added, mut wrong) = (0, Vec::new());
    for (at, (_, labels, text)) in all.iter().enumerate() {
        let wanted: BTreeSet<String> = labels.split_whitespace().map(str::to_owned).collect();
        added += kept(text, labels).intersection(&wanted).count();
        let others = all.iter().cycle().skip(at + 1).take(6);
        for (_, others, _) in others {
            let untrue = kept(text, others).difference(&wanted).next().cloned();
            wrong.extend(untrue.map(|untrue| format!("{untrue}: {text}")));
        }
    }
    wrong.sort_unstable();
    wrong.dedup();
    println!("model added {added}, wrong {}", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the labelled texts of one sentence or line, with their facts.
fn alone() -> Vec<(&'static str, BTreeSet<String>)> {
    let files = [
        include_str!("data/labelled.txt"),
        include_str!("data/fresh.txt"),
        include_str!("data/widened.txt"),
        include_str!("data/sealed.txt"),
        include_str!("data/probed.txt"),
        include_str!("data/held.txt"),
        include_str!("data/late.txt"),
        include_str!("data/last.txt"),
    ];
    let cases = files.into_iter().flat_map(cases);
    let cases = cases.filter(|(currency, _, text)| *currency == "INR" && !text.contains(['?', '<', '\\']));
    cases.map(|(_, _, text)| (text, labels(text))).collect()
}

fn labels(text: &str) -> BTreeSet<String> {
    let facts = read(text, "INR".parse().unwrap()).facts;
    facts.iter().map(label).collect()
}

/// A statement may limit, end or contradict another one about the same subject, but does not change those about other
/// subjects.
#[test]
fn texts_that_stand_together_say_nothing_that_neither_says() {
    let priced = |label: &str| {
        label.starts_with("free") || label.starts_with("fee") || label.contains("cod") || label.starts_with("advance")
    };
    let texts = alone();
    let pairs = texts.iter().flat_map(|one| texts.iter().map(move |other| (one, other)));
    let of_others = pairs.filter(|((_, one), (_, other))| {
        let kinds = |labels: &BTreeSet<String>| -> BTreeSet<String> {
            let kind = |label: &String| {
                if priced(label) {
                    "price"
                } else {
                    label.split(['=', '[']).next().unwrap()
                }
                .to_owned()
            };
            labels.iter().map(kind).collect()
        };
        kinds(one).is_disjoint(&kinds(other))
    });
    let mut count = 0;
    for (at, ((one, first), (other, second))) in of_others.enumerate().step_by(61) {
        let joint = [". ", " | ", "\n"][at % 3];
        let text = format!("{}{joint}{other}", one.trim_end_matches('.'));
        let told = labels(&text);
        let wanted: BTreeSet<String> = first.union(second).cloned().collect();
        assert!(told.is_subset(&wanted), "{text}\ntold {told:?}\nwanted {wanted:?}");
        count += 1;
    }
    assert!(count > 500, "{count}");
}

/// Facts in the rows of a table of real wordings, by the quoted parts. The table is not in the repository. Durations of
/// the third row have no unit.
const REAL: &[(&str, &str)] = &[
    (
        "1",
        "free[prepaid]=499 cod[299..2000]=yes fee[place]=49 dispatch=-1 delivery=3-7w",
    ),
    ("3", "cod=yes dispatch=1-3w advance=50% codfee=99"),
    ("4", "cod=yes advance=10%"),
    ("6", "cod=yes free=0 codfee=29 delivery=5-7"),
    ("7", "cod=yes codfee=50"),
    ("9", "cod=yes free=999 codfee=50"),
    ("10", "free=1000 fee[<1000]=80..150 delivery=5-10w"),
    ("12", "free[prepaid]=0"),
    ("13", "fee=100"),
    ("15", "dispatch=25-30w delivery=5-7w free=0 cod=no"),
    ("16", "cod[<=6000]=yes"),
    ("18", ""),
    ("19", "delivery=2-10"),
    ("21", ""),
    ("22", ""),
    ("24", ""),
    ("25", ""),
    ("27", "free=1800 fee[<1800]=250"),
    ("28", ""),
    ("30", ""),
];

/// Environment variable with the path of the table.
const TABLE: &str = "TEST_SHIPPING_WORDINGS";

#[test]
fn real_wordings_are_read() {
    let Some(file) = std::env::var_os(TABLE) else {
        println!("{TABLE} names no table of wordings");
        return;
    };
    let table = std::fs::read_to_string(file).unwrap();
    let wording = |number: &str| {
        let rows = table.lines().filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (cells.len() > 4 && cells[1] == number).then(|| cells[3].to_owned())
        });
        // Each quotation in a cell is a sentence. A cell without quotations is one sentence.
        let quoted = |cell: String| {
            if !cell.contains('"') {
                return vec![cell];
            }
            let quoted = cell.split('"').skip(1).step_by(2);
            quoted.map(str::to_owned).collect()
        };
        rows.flat_map(quoted).collect::<Vec<String>>().join("\n")
    };
    let texts: Vec<(String, &str)> = REAL.iter().map(|(number, labels)| (wording(number), *labels)).collect();
    assert!(texts.iter().all(|(text, _)| !text.is_empty()));
    let (scores, faults) = score(texts.iter().map(|(text, labels)| ("INR", *labels, text.as_str())));
    tell("real", &scores);
    faults.iter().for_each(|fault| println!("{fault}"));
    assert!(scores["all"].precision() >= 0.9, "{faults:#?}");
    assert!(scores["all"].recall() >= 0.8, "{faults:#?}");
}

//! Facts about the rules, about single products, and about recorded shops.

use super::table::{TABLE, Table};
use super::{categorise, place};

mod rules {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_a_rule() {
        let (_, bad) = Table::read(include_str!("../../../../data/reference/categories.tsv"));
        for b in &bad {
            println!("{b:?}");
        }
        assert!(bad.is_empty(), "{}", bad.len());
    }
}

#[test]
fn eval() {
    for set in ["recorded", "crowdflower", "homedepot"] {
        let text = std::fs::read_to_string(format!("/tmp/p_{set}.tsv")).unwrap();
        let mut out = String::new();
        let started = std::time::Instant::now();
        let (mut hit, mut n) = (0, 0);
        for line in text.lines() {
            let c: Vec<&str> = line.split('\t').collect();
            let tags: Vec<String> = c[3].split('|').map(str::to_owned).collect();
            let got = place(&TABLE, (!c[1].is_empty()).then_some(c[1]), c[2], &tags);
            n += 1;
            hit += usize::from(got.is_some());
            out.push_str(&format!(
                "{}\t{}\t{}\t{}\n",
                c[0],
                got.map_or("-", |g| g.name()),
                c[1],
                c[2]
            ));
        }
        println!("{set}: {hit}/{n} {:?}", started.elapsed() / n);
        std::fs::write(format!("/tmp/o_{set}.tsv"), out).unwrap();
    }
    let _ = categorise(None, "", &[]);
}

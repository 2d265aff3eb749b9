//! Measures the time to parse one product: `throughput PAGE.json…`. Prints the wall time per product in microseconds,
//! from the fastest of several rounds.

use std::time::Instant;

use pipeline_parse::parse_products_page;

#[expect(clippy::print_stdout, reason = "its purpose")]
fn main() {
    let pages: Vec<Vec<u8>> = std::env::args()
        .skip(1)
        .filter_map(|path| std::fs::read(path).ok())
        .collect();
    let bytes: usize = pages.iter().map(Vec::len).sum();
    let (mut fastest, mut products) = (f64::INFINITY, 0);
    for _ in 0..(600_000_000 / bytes.max(1)).clamp(1, 1000) {
        let start = Instant::now();
        products = pages
            .iter()
            .map(|page| parse_products_page(page).map_or(0, |page| page.records.len()))
            .sum();
        fastest = fastest.min(start.elapsed().as_secs_f64() * 1e6);
    }
    println!(
        "{:.2} µs a product of {} bytes",
        fastest / products as f64,
        bytes / products.max(1)
    );
}

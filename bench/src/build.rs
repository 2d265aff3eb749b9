//! Measures building a release of the whole catalogue, and the next release after 1% of the stores changed.

use crate::meter::{Figure, of_children};
use crate::setup::Bench;

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let (_, full) = of_children(|| bench.run(bench.home(), &["release", "build", "--full"]))?;
    Figure::alone("release.full_wall_s", full.wall.as_secs_f64(), "s").print()?;
    Figure::alone("release.full_cpu_s", full.cpu.as_secs_f64(), "s").print()?;

    // These are the same stores at a later epoch, of which one in a hundred is crawled again.
    let later = bench.emulate(1)?;
    let changed = (bench.stores / 100).max(1) as usize;
    let slugs = bench.register(bench.home(), &later, changed)?;
    let mut crawl = vec!["crawl"];
    for slug in &slugs {
        crawl.extend(["--brand", slug]);
    }
    bench.run(bench.home(), &crawl)?;
    let (_, next) = of_children(|| bench.run(bench.home(), &["release", "build"]))?;
    Figure::alone("release.incremental_wall_s", next.wall.as_secs_f64(), "s")
        .beside(full.wall.as_secs_f64(), "the full build")
        .print()?;
    Figure::alone("release.incremental_cpu_s", next.cpu.as_secs_f64(), "s")
        .beside(full.cpu.as_secs_f64(), "the full build")
        .print()?;
    let (_, none) = of_children(|| bench.run(bench.home(), &["release", "build"]))?;
    Figure::alone("release.unchanged_wall_s", none.wall.as_secs_f64(), "s")
        .beside(full.wall.as_secs_f64(), "the full build")
        .print()
}

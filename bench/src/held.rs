//! Measures the release of a market in which some brands are held back, alternating with the same market without them.

use std::path::Path;
use std::process::Stdio;

use anyhow::Context;
use data_storage::Storage;
use serde_json::Value;

use crate::meter::{Figure, of_children, quantile};
use crate::refresh::{changed, open, row};
use crate::setup::Bench;

/// Number of brands whose price changes exceed the threshold, and the size of the change.
const DOUBTED: usize = 20;
const FACTOR: i64 = 6;
/// Number of pairs of builds.
const TURNS: usize = 5;

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let (calm, doubted) = (scratch.path().join("calm"), scratch.path().join("doubted"));
    let stores = bench.emulate(0)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    for (home, count) in [(&calm, 0), (&doubted, DOUBTED)] {
        std::fs::create_dir_all(home)?;
        bench.register(home, &stores, usize::MAX)?;
        bench.run(home, &["crawl", "--release"])?;
        runtime.block_on(change(home, count))?;
    }
    let (mut alone, mut beside) = (Times::default(), Times::default());
    for _ in 0..TURNS {
        alone.build(bench, &calm, 0)?;
        beside.build(bench, &doubted, DOUBTED)?;
    }
    for (name, mut beside, mut alone) in [
        ("held.release_wall_s", beside.wall, alone.wall),
        ("held.release_cpu_s", beside.cpu, alone.cpu),
    ] {
        Figure::alone(name, quantile(&mut beside, 0.5), "s")
            .beside(quantile(&mut alone, 0.5), "none held back, in turn")
            .print()?;
    }
    Ok(())
}

/// Changes every brand slightly, and the first `doubted` brands by more than the threshold.
async fn change(home: &Path, doubted: usize) -> anyhow::Result<()> {
    let lake = open(Storage::from_path(home)?).await?;
    let snapshot = lake.snapshot().await?;
    let mut refreshes = Vec::new();
    for (nth, brand) in snapshot.brands().await?.iter().enumerate() {
        let mut refresh = changed(&snapshot, brand).await?;
        if nth < doubted {
            let variants = refresh.products.iter_mut().flat_map(|product| &mut product.variants);
            variants.for_each(|variant| variant.price_minor *= FACTOR);
        }
        refreshes.push(refresh);
    }
    lake.commit(refreshes, row()?).await?;
    Ok(())
}

#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Times {
    /// Rebuilds all brands except those that are held back.
    fn build(&mut self, bench: &Bench, home: &Path, held: usize) -> anyhow::Result<()> {
        let mut command = bench.command(home, &["release", "build", "--full"]);
        // Small brands are checked too.
        command.env("HAAT_QUALITY__PRODUCTS_MIN", "1").stderr(Stdio::inherit());
        let (output, cost) = of_children(|| Ok(command.output()?))?;
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let found = report["held"].as_array().context("held")?.len();
        anyhow::ensure!(found == held, "{found} brands are held back, not {held}");
        self.wall.push(cost.wall.as_secs_f64());
        self.cpu.push(cost.cpu.as_secs_f64());
        Ok(())
    }
}

//! Quality of the data in the lake, compared with an earlier state (`haat quality`).

use anyhow::Context as _;
use data_index::{HeldBrand, Manifest};
use data_lake::{AsOf, Lake, LakeSnapshot};
use data_model::{BrandSlug, Timestamp};
use data_storage::Storage;
use pipeline_quality::{
    AcceptedBrands, BaselineState, Gate, KeptRuns, Look, QualityReport, Scope, after_run, kept, latest, look, render,
    unfound,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::quality::QualityArgs;
use crate::exit::{Outcome, usage};
use crate::output::{Output, counted};
use crate::wiring::Context;

/// Maximum number of findings in the output for people.
const PRINTED_MAX: usize = 50;

/// Findings, and the brands that the current release holds back.
#[derive(Debug, Serialize)]
struct QualityView<'a> {
    #[serde(flatten)]
    report: &'a QualityReport,
    held: &'a [HeldBrand],
}

pub(crate) async fn run(args: QualityArgs, context: Context) -> anyhow::Result<Outcome> {
    let storage = context.storage()?;
    let lake = context.lake_in(&storage).await?;
    let (as_of, against) = (moment("--as-of", args.as_of)?, moment("--against", args.against)?);
    let now = match as_of {
        Some(at) => lake.snapshot_at(&AsOf::Timestamp(at)).await?,
        None => lake.snapshot().await?,
    };
    let known = kept(&storage).await?;
    let releases = context.releases(&storage);
    let released = match releases.current().await? {
        // If the manifest cannot be read, the comparison uses the previous run.
        Some(current) => releases.manifest(current.id).await.ok(),
        None => None,
    };
    let held = released
        .as_ref()
        .map_or_else(Vec::new, |manifest| manifest.held.clone());
    let is_made_of_it = released
        .as_ref()
        .is_some_and(|manifest| manifest.lake == *now.versions());
    let is_released = is_made_of_it && held.is_empty();
    let before = before(&lake, &now, &known, released, against).await?;
    let config = &context.config;
    let wanted = Look {
        now: &now,
        before: before.as_ref(),
        scope: &Scope::ALL,
        changed_only: false,
        known: &known,
        checks: &data_checks::load(&storage).await?,
        check_age_ms_max: check_age_ms_max(&context),
        config: &config.quality,
        at: context.clock.now(),
    };
    // The future is boxed because it is large.
    let mut report = Box::pin(look(wanted)).await?;
    report.trend = known.trend(&report);
    report.is_released = is_released;
    report.unfound = unfound(&storage, &lake, context.clock.now()).await;
    let is_page_printed = args.html.as_deref().is_some_and(|file| file.as_os_str() == "-");
    match &args.html {
        Some(_) if is_page_printed => Output::write(render(&report).as_bytes())?,
        Some(file) => std::fs::write(file, render(&report)).with_context(|| format!("write {}", file.display()))?,
        None => {}
    }
    if !is_page_printed {
        let looked = QualityView {
            report: &report,
            held: &held,
        };
        context.output.print(&looked, |out| write_report(out, &looked))?;
    }
    Ok(Outcome::partial_if(
        !(held.is_empty() && (report.findings.is_empty() || is_released)),
    ))
}

fn moment(option: &str, text: Option<String>) -> anyhow::Result<Option<Timestamp>> {
    let parsed = text.map(|text| text.parse().with_context(|| format!("{option} {text:?}")));
    parsed.transpose().map_err(usage)
}

/// Returns the state for the comparison: the requested one, else the data of the current release, else the previous
/// run. A state is never compared with itself.
async fn before(
    lake: &Lake,
    now: &LakeSnapshot,
    known: &KeptRuns,
    released: Option<Manifest>,
    against: Option<Timestamp>,
) -> anyhow::Result<Option<BaselineState>> {
    if let Some(at) = against {
        return Ok(Some(BaselineState {
            state: lake.snapshot_at(&AsOf::Timestamp(at)).await?,
            called: format!("the lake as of {at}"),
        }));
    }
    let released = released.filter(|manifest| !manifest.lake.is_empty() && manifest.lake != *now.versions());
    let (versions, called) = match released {
        Some(manifest) => (manifest.lake, format!("release {}, the current one", manifest.id)),
        None => match known.run_before(now.versions()) {
            Some((versions, made_at)) => (versions.clone(), format!("the previous run, of {made_at}")),
            None => return Ok(None),
        },
    };
    let state = lake.snapshot_at(&AsOf::Versions(versions)).await?;
    Ok(Some(BaselineState { state, called }))
}

fn check_age_ms_max(context: &Context) -> i64 {
    i64::try_from(context.config.doctor.check_age_s_max.saturating_mul(1_000)).unwrap_or(i64::MAX)
}

/// Returns the brands whose data the operator accepts as correct.
pub(crate) fn accepted(all: bool, brands: Vec<BrandSlug>) -> AcceptedBrands {
    match all {
        true => AcceptedBrands::Everybody,
        false if brands.is_empty() => AcceptedBrands::Nobody,
        false => AcceptedBrands::Brands(brands.into_iter().collect()),
    }
}

/// Returns the check that decides if a release is held back.
pub(crate) fn gate(context: &Context, storage: &Storage, accepted: AcceptedBrands) -> Gate {
    Gate {
        storage: storage.clone(),
        config: context.config.quality.clone(),
        check_age_ms_max: check_age_ms_max(context),
        accepted,
    }
}

/// Checks the data after a crawl and stores the report. A failure is only logged, and then there is no report.
pub(crate) async fn after_crawl(context: &Context, storage: &Storage) -> Option<QualityReport> {
    let (age_ms_max, at) = (check_age_ms_max(context), context.clock.now());
    let looked = match context.lake_in(storage).await {
        Ok(lake) => Box::pin(after_run(storage, &lake, &context.config.quality, age_ms_max, at)).await,
        Err(error) => {
            tracing::warn!("the data quality of the run could not be computed: {error:#}");
            return None;
        }
    };
    match looked {
        Ok(report) => Some(report),
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "the data quality of the run could not be computed");
            None
        }
    }
}

/// Returns the summary of the data after a crawl as JSON.
pub(crate) fn brief(storage: &Storage, report: &QualityReport) -> Value {
    json!({ "findings": report.findings, "report": latest(storage) })
}

/// Writes the summary of the data after a crawl, for people.
pub(crate) fn write_brief(
    out: &mut dyn std::io::Write,
    storage: &Storage,
    report: &QualityReport,
) -> std::io::Result<()> {
    if !report.findings.is_empty() {
        let beyond = counted(report.findings.len(), "figure");
        writeln!(
            out,
            "data quality: {beyond} beyond a threshold, see {}",
            latest(storage)
        )?;
    }
    Ok(())
}

fn write_report(out: &mut dyn std::io::Write, looked: &QualityView<'_>) -> std::io::Result<()> {
    let report = looked.report;
    let totals = &report.totals;
    let against = report
        .against
        .as_deref()
        .unwrap_or("nothing, because there is no earlier state");
    writeln!(
        out,
        "{} of {}, compared with {against}",
        counted(totals.now.products, "product"),
        counted(totals.brands, "brand")
    )?;
    for (field, missing) in &totals.now.missing {
        let before = totals
            .before
            .as_ref()
            .map(|before| format!(" (before: {})", before.without(*field)));
        writeln!(
            out,
            "  without {}: {missing}{}",
            field.as_str(),
            before.unwrap_or_default()
        )?;
    }
    let repeated = totals.now.duplicates;
    writeln!(
        out,
        "  duplicates: {} ids, {} handles, {} titles",
        repeated.ids, repeated.handles, repeated.titles
    )?;
    if let Some(moves) = &totals.moves {
        writeln!(
            out,
            "  prices: {} changed, {} jumped, {} in another currency",
            moves.moved(),
            moves.jumped,
            moves.currency_changed
        )?;
    }
    let currencies = totals
        .now
        .currencies
        .iter()
        .map(|(currency, products)| format!("{currency} {products}"));
    writeln!(out, "  currencies: {}", currencies.collect::<Vec<_>>().join(", "))?;
    writeln!(
        out,
        "  stale: {}; quarantined: {}",
        counted(totals.brands_stale, "brand"),
        totals.quarantined
    )?;
    if let Some(known) = &report.shipping_known {
        let known = known.named().map(|(fact, brands)| format!("{fact} {brands}"));
        writeln!(out, "  brands that state shipping terms: {}", known.join(", "))?;
    }
    if !report.unfound.is_empty() {
        let words = report.unfound.iter();
        let words = words.map(|one| format!("{} ({})", one.words, one.without_hits));
        writeln!(
            out,
            "  searches without results: {}",
            words.collect::<Vec<_>>().join(", ")
        )?;
    }
    if totals.brands_unread > 0 {
        let unread = counted(totals.brands_unread, "brand");
        writeln!(out, "  not read: {unread}, because files are missing or damaged")?;
    }
    write_findings(out, looked)
}

fn write_findings(out: &mut dyn std::io::Write, looked: &QualityView<'_>) -> std::io::Result<()> {
    let QualityView { report, held } = looked;
    for finding in report.findings.iter().take(PRINTED_MAX) {
        writeln!(out, "BEYOND {finding}")?;
    }
    let more = report.findings.len().saturating_sub(PRINTED_MAX);
    if more > 0 {
        writeln!(out, "and {more} more; --json and --html show all")?;
    }
    for brand in held.iter().take(PRINTED_MAX) {
        write_held(out, brand)?;
    }
    match (report.findings.is_empty(), report.is_released) {
        (true, _) => writeln!(out, "nothing is beyond a threshold"),
        (false, true) => writeln!(out, "the current release contains this data anyway"),
        (false, false) => writeln!(
            out,
            "a release keeps the earlier data of these brands; to accept the new data of one: haat release build \
             --accept-brand SLUG"
        ),
    }
}

/// Writes one line about a brand of which a release has older data.
pub(super) fn write_held(out: &mut dyn std::io::Write, brand: &HeldBrand) -> std::io::Result<()> {
    let HeldBrand {
        slug, since, reasons, ..
    } = brand;
    writeln!(
        out,
        "HELD {slug} at its data from before {since}: {}; to accept the new data: haat release build --accept-brand \
         {slug}",
        reasons.join("; ")
    )
}

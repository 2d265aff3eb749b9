use data_checks::{Check, CheckOutcome, Checks};
use data_index::HeldBrand;
use data_storage::Storage;
use pipeline_crawl::{RegisteredBrand, Registry};
use serde::Serialize;
use serde_json::json;

use crate::exit::{Outcome, plain};
use crate::output::{counted, write_columns};
use crate::wiring::Context;

/// Registered brand, and the last check of its store.
#[derive(Debug, Serialize)]
struct BrandStatus<'a> {
    #[serde(flatten)]
    brand: &'a RegisteredBrand,
    /// `null` if no crawl has queried the store yet.
    check: Option<&'a Check>,
    /// Reason why the current release has an older state of the brand; `null` if it has the lake's data.
    held: Option<&'a HeldBrand>,
}

pub(super) async fn run(context: &Context, storage: &Storage) -> anyhow::Result<Outcome> {
    let registry = Registry::load(storage).await?;
    // The list is useful even without the checks.
    let checks = data_checks::load(storage).await.unwrap_or_else(|error| {
        tracing::warn!("{}", plain(&error.into()));
        Checks::default()
    });
    let releases = context.releases(storage);
    let held = match releases.current().await {
        Ok(Some(current)) => releases.manifest(current.id).await.map(|manifest| manifest.held),
        Ok(None) => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    let held = held.unwrap_or_else(|error| {
        tracing::warn!("{}", plain(&error.into()));
        Vec::new()
    });
    let brands = registry.brands();
    let listed: Vec<_> = brands
        .iter()
        .map(|brand| BrandStatus {
            brand,
            check: checks.of(&brand.store),
            held: held.iter().find(|held| held.store == brand.store),
        })
        .collect();
    context.output.print(&json!({ "brands": listed }), |out| {
        let rows: Vec<_> = listed.iter().map(cells).collect();
        write_columns(out, &rows)?;
        writeln!(out, "{}", counted(brands.len(), "brand"))
    })?;
    Ok(Outcome::Done)
}

/// Formats slug, address, time of the last check, its result and since when, and name.
fn cells(listed: &BrandStatus<'_>) -> [String; 5] {
    let brand = listed.brand;
    let moment = listed
        .check
        .map_or_else(|| "never checked".to_owned(), |check| check.checked_at.to_string());
    [
        brand.slug.to_string(),
        brand.base_url_text().to_owned(),
        moment,
        match (listed.held, listed.check) {
            (Some(held), _) => format!("held back in the release since {}", held.since),
            (None, check) => check.map_or_else(String::new, outcome),
        },
        brand.name.clone(),
    ]
}

/// Formats a check, such as `unchanged`, `changed, incomplete`, or `failed (timeout), last success
/// 2026-11-20T10:00:00Z`.
fn outcome(check: &Check) -> String {
    if check.outcome.is_good() {
        let incomplete = if check.is_incomplete { ", incomplete" } else { "" };
        return format!("{}{incomplete}", check.outcome);
    }
    let word = match check.outcome {
        CheckOutcome::HeldBack => "held back",
        other => other.as_str(),
    };
    let code = check
        .code
        .as_ref()
        .map_or_else(String::new, |code| format!(" ({code})"));
    let since = match check.good_at {
        Some(good) => format!("last success {good}"),
        None => "never succeeded".to_owned(),
    };
    format!("{word}{code}, {since}")
}

#[cfg(test)]
mod tests {
    use data_model::Timestamp;

    use super::*;

    #[test]
    fn what_came_of_a_check_is_told_with_how_long_it_was_not_good() {
        let at = |second: i64| Timestamp::from_micros(second * 1_000_000);
        let check = |outcome, code: Option<&str>, good_at| Check {
            slug: "kith".parse().unwrap(),
            run: "20261121T012725Z-3f9a01c7".parse().unwrap(),
            checked_at: at(90),
            outcome,
            code: code.map(str::to_owned),
            detail: None,
            is_incomplete: false,
            good_at,
            bad_in_row: 1,
            changing: data_checks::ChangeRate::default(),
        };
        let told = [
            check(CheckOutcome::Unchanged, None, Some(at(90))),
            Check {
                is_incomplete: true,
                ..check(CheckOutcome::Changed, None, Some(at(90)))
            },
            check(CheckOutcome::Failed, Some("timeout"), Some(at(60))),
            check(CheckOutcome::HeldBack, None, None),
        ]
        .map(|check| outcome(&check));
        assert_eq!(
            told,
            [
                "unchanged".to_owned(),
                "changed, incomplete".to_owned(),
                format!("failed (timeout), last success {}", at(60)),
                "held back, never succeeded".to_owned(),
            ]
        );
    }
}

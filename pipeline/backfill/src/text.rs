use std::io::{self, Write};

use crate::{Backfill, BackfillState, Difference, SkipReason, StoreOutcome, StoreReport, VariantMove};

const BRANDS_MAX: usize = 40;

/// Writes a readable report of a backfill or a dry run. The report lists the brands that are not simply unchanged, then
/// the totals, then the command that undoes the backfill.
///
/// # Errors
/// The errors of `out`.
pub fn write_report(out: &mut dyn Write, backfill: &Backfill) -> io::Result<()> {
    let told: Vec<_> = backfill.stores.iter().filter(|store| is_told(store)).collect();
    for store in told.iter().take(BRANDS_MAX) {
        brand(out, store)?;
    }
    if let Some(more) = told.len().checked_sub(BRANDS_MAX).filter(|more| *more > 0) {
        writeln!(out, "… and {more} more brands; --json lists all")?;
    }
    let totals = &backfill.totals;
    writeln!(
        out,
        "backfill {}: {} stores, {} changed, {} unchanged, {} skipped, {} doubtful, {} overtaken, {} failed, {} waiting",
        backfill.id,
        totals.stores,
        totals.changed,
        totals.unchanged,
        totals.left,
        totals.doubtful,
        totals.overtaken,
        totals.failed,
        totals.waiting
    )?;
    writeln!(out, "products: {}", counts(&totals.difference))?;
    for one in &totals.difference.moves {
        writeln!(out, "  {}", moved(one))?;
    }
    if backfill.dry_run {
        return writeln!(out, "nothing was written");
    }
    if backfill.state == BackfillState::Interrupted {
        writeln!(out, "interrupted: run the same command again to continue")?;
    }
    match backfill.undo_as_of.filter(|_| totals.changed > 0) {
        Some(moment) => writeln!(out, "to undo: haat lake restore --as-of {moment}")?,
        None if totals.changed > 0 => writeln!(out, "the lake was empty before, so there is no state to restore")?,
        None => {}
    }
    if totals.changed > 0 {
        writeln!(out, "run `haat release build` to publish the changes")?;
    }
    Ok(())
}

fn is_told(store: &StoreReport) -> bool {
    !matches!(store.outcome, StoreOutcome::Unchanged | StoreOutcome::Waiting)
}

fn brand(out: &mut dyn Write, store: &StoreReport) -> io::Result<()> {
    let slug = &store.slug;
    match &store.outcome {
        StoreOutcome::Changed => match &store.difference {
            Some(difference) => writeln!(out, "{slug}: {}", counts(difference)),
            None => writeln!(out, "{slug}: changed; its previous state can no longer be read"),
        },
        StoreOutcome::Left(SkipReason::NothingLanded) => {
            writeln!(out, "{slug}: skipped, the range contains no complete landing of it")
        }
        StoreOutcome::Left(SkipReason::Older { landed_at, lake_at }) => writeln!(
            out,
            "{slug}: skipped, its newest landing in the range is from {landed_at}, the lake's data is from {lake_at}; \
             --older uses the older landing"
        ),
        StoreOutcome::Doubtful { doubts } => {
            let doubts: Vec<_> = doubts.iter().map(|doubt| doubt.as_str()).collect();
            let difference = store.difference.clone().unwrap_or_default();
            writeln!(
                out,
                "{slug}: skipped, the landing is doubtful ({}): {}; --accept-collapse accepts it",
                doubts.join(", "),
                counts(&difference)
            )
        }
        StoreOutcome::Overtaken => writeln!(out, "{slug}: skipped, another process changed it meanwhile"),
        StoreOutcome::Failed { code, reason } => writeln!(out, "{slug}: failed, {code}: {reason}"),
        StoreOutcome::Unchanged | StoreOutcome::Waiting => Ok(()),
    }
}

fn counts(difference: &Difference) -> String {
    let Difference {
        added,
        changed,
        gone,
        same,
        prices_moved,
        into_stock,
        out_of_stock,
        moves: _,
    } = difference;
    format!(
        "{added} added, {changed} changed, {gone} gone, {same} unchanged; {prices_moved} prices changed, \
         {into_stock} back in stock, {out_of_stock} out of stock"
    )
}

fn moved(one: &VariantMove) -> String {
    format!(
        "{}: {} to {} {} (minor units)",
        one.title, one.before_minor, one.now_minor, one.currency
    )
}

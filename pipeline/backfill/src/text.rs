use std::io::{self, Write};

use crate::{Backfill, BackfillState, Difference, SkipReason, StoreOutcome, StoreReport, VariantMove};

/// Maximum number of brands that are listed one by one.
const BRANDS_MAX: usize = 40;

/// Writes a readable report of what a backfill did, or would do. The report lists the brands that are not simply
/// unchanged, then the totals, then the command that undoes the backfill.
///
/// # Errors
/// Those of `out`.
pub fn write_report(out: &mut dyn Write, backfill: &Backfill) -> io::Result<()> {
    let told: Vec<_> = backfill.stores.iter().filter(|store| is_told(store)).collect();
    for store in told.iter().take(BRANDS_MAX) {
        brand(out, store)?;
    }
    if let Some(more) = told.len().checked_sub(BRANDS_MAX).filter(|more| *more > 0) {
        writeln!(out, "… and {more} more brands, which --json names")?;
    }
    let totals = &backfill.totals;
    writeln!(
        out,
        "backfill {}: {} stores, {} changed, {} unchanged, {} left, {} doubtful, {} overtaken, {} failed, {} waiting",
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
        writeln!(out, "interrupted: the same command goes on with it")?;
    }
    match backfill.undo_as_of.filter(|_| totals.changed > 0) {
        Some(moment) => writeln!(out, "undo: haat lake restore --as-of {moment}")?,
        None if totals.changed > 0 => writeln!(out, "the lake was empty before: there is nothing to go back to")?,
        None => {}
    }
    if totals.changed > 0 {
        writeln!(out, "`haat release build` publishes it")?;
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
            None => writeln!(out, "{slug}: changed; its state before cannot be read any more"),
        },
        StoreOutcome::Left(SkipReason::NothingLanded) => {
            writeln!(out, "{slug}: left, no complete landing of it in the range")
        }
        StoreOutcome::Left(SkipReason::Older { landed_at, lake_at }) => writeln!(
            out,
            "{slug}: left, its newest landing in the range is of {landed_at}, the lake has it as of {lake_at}; \
             --older takes the older one"
        ),
        StoreOutcome::Doubtful { doubts } => {
            let doubts: Vec<_> = doubts.iter().map(|doubt| doubt.as_str()).collect();
            let difference = store.difference.clone().unwrap_or_default();
            writeln!(
                out,
                "{slug}: left, it would be doubtful ({}): {}; --accept-collapse takes it",
                doubts.join(", "),
                counts(&difference)
            )
        }
        StoreOutcome::Overtaken => writeln!(out, "{slug}: left, it was changed by others meanwhile"),
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
        "{added} added, {changed} changed, {gone} gone, {same} the same; {prices_moved} prices moved, \
         {into_stock} into stock, {out_of_stock} out of stock"
    )
}

fn moved(one: &VariantMove) -> String {
    format!(
        "{}: {} to {} {} (minor units)",
        one.title, one.before_minor, one.now_minor, one.currency
    )
}

use std::sync::Arc;

use data_index::Release;
use data_tables::ReleaseTables;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use query_server::schema::{GroupStats, PriceStats};
use query_server::{GroupBy, ReadError, ReadFuture, Reads};

/// Reads that have no code of their own, as SQL statements over the release.
#[derive(Debug, Clone, Copy, Default)]
pub struct EngineReads;

impl Reads for EngineReads {
    fn stats_by(&self, release: Arc<Release>, by: GroupBy) -> ReadFuture<Vec<GroupStats<'static>>> {
        Box::pin(async move {
            let runtime = tokio::runtime::Handle::current();
            // The statement reads every product, so it must not block a thread that answers requests.
            let read = tokio::task::spawn_blocking(move || runtime.block_on(grouped(&release, by)));
            read.await?
        })
    }
}

/// Builds a statement that returns one row for each group, and one row for each currency in it.
fn statement(by: GroupBy) -> String {
    let (value, label) = match by {
        GroupBy::Brand => ("brand_slug", "brand"),
        GroupBy::Category => ("category_slug", "category_path"),
        GroupBy::Currency => ("currency", "currency"),
    };
    let columns = "variant_count, in_stock, on_sale, price_min_minor";
    format!(
        "select value, min(label), currency, count(*), cast(sum(variant_count) as bigint), count(*) filter (where in_stock), \
         count(*) filter (where on_sale), count(price_min_minor), min(price_min_minor), cast(median(price_min_minor) as bigint), \
         max(price_min_minor) \
         from (select {value} as value, {label} as label, currency as currency, {columns} from products) \
         group by grouping sets ((value), (value, currency)) \
         order by value, grouping(currency) desc, currency"
    )
}

async fn grouped(release: &Arc<Release>, by: GroupBy) -> Result<Vec<GroupStats<'static>>, ReadError> {
    let tables = ReleaseTables::new(release)?;
    let batches = tables.context().sql(&statement(by)).await?.collect().await?;
    let mut groups: Vec<GroupStats<'static>> = Vec::new();
    for (batch, row) in batches
        .iter()
        .flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)))
    {
        let row = Row { batch, row };
        match row.text(2) {
            None => groups.push(row.group()),
            Some(currency) => {
                if let Some(group) = groups.last_mut() {
                    group.prices.extend(row.prices(currency));
                }
            }
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.products));
    Ok(groups)
}

/// Result row of the statement that `statement` builds.
struct Row<'a> {
    batch: &'a RecordBatch,
    row: usize,
}

impl Row<'_> {
    fn text(&self, column: usize) -> Option<String> {
        let texts = self.batch.column(column).as_string::<i32>();
        texts.is_valid(self.row).then(|| texts.value(self.row).to_owned())
    }

    fn number(&self, column: usize) -> Option<i64> {
        let numbers = self.batch.column(column).as_primitive::<Int64Type>();
        numbers.is_valid(self.row).then(|| numbers.value(self.row))
    }

    fn count(&self, column: usize) -> u64 {
        self.number(column)
            .and_then(|count| u64::try_from(count).ok())
            .unwrap_or(0)
    }

    fn group(&self) -> GroupStats<'static> {
        GroupStats {
            value: self.text(0).map(Into::into),
            label: self.text(1).map(Into::into),
            products: self.count(3),
            variants: self.count(4),
            in_stock: self.count(5),
            on_sale: self.count(6),
            prices: Vec::new(),
        }
    }

    /// Reads the price statistics of one currency, or `None` if no product has a price in it.
    fn prices(&self, currency: String) -> Option<PriceStats<'static>> {
        Some(PriceStats {
            currency: currency.into(),
            products: self.count(7),
            min_minor: self.number(8)?,
            median_minor: self.number(9)?,
            max_minor: self.number(10)?,
        })
    }
}

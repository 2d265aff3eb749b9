"""The twelve questions of docs/questions.md, answered with Polars. Each function takes the folder (or the URL) of the lake.

    pip install deltalake polars
"""
import polars
from polars import col


def table(lake, name):
    """Rows are read when they are collected, and columns that nobody asks for are not."""
    return polars.scan_delta(f"{lake}/{name}")


def price_history_of_a_product_that_is_gone(lake):
    history = table(lake, "price_history")
    last = table(lake, "product_history").sort("tick").group_by("product_id").last()
    gone = last.filter(col("event") == "gone").select("product_id", "title", "last_seen_at")
    prices = col("price_minor").drop_nulls().n_unique().alias("prices")
    moved = history.join(gone, on="product_id").group_by("product_id", "title", "last_seen_at").agg(prices)
    chosen = moved.sort("prices", "product_id", descending=[True, False]).head(1)
    return (
        history.join(chosen, on="product_id")
        .sort("variant_id", "observed_at", "tick")
        .select("brand_slug", "title", "variant_id", "observed_at", "event", "price_minor", "currency", "available", "last_seen_at")
        .collect()
    )


def week(moment):
    return moment.dt.truncate("1w").dt.date().alias("week")


def first_level(path):
    return path.str.split(" > ").list.first()


def markdown_depth(lake):
    weeks = table(lake, "crawl_runs").group_by(week(col("committed_at"))).agg(col("committed_at").max().alias("moment"))
    replaced = col("observed_at").shift(-1).over("product_id", "variant_id", order_by=["observed_at", "tick"])
    spans = table(lake, "price_history").with_columns(replaced.alias("replaced_at")).filter(col("price_minor").is_not_null())
    categories = (
        table(lake, "product_history")
        .filter(col("category_path").is_not_null())
        .sort("tick")
        .group_by("product_id")
        .agg(first_level(col("category_path").last()).alias("category"))
    )
    depth = (col("compare_at_minor") - col("price_minor")).cast(polars.Float64) / col("compare_at_minor") * 100
    return (
        spans.join_where(weeks, col("observed_at") <= col("moment"))
        .filter(col("replaced_at").is_null() | (col("replaced_at") > col("moment")))
        .join(categories, on="product_id", how="left")
        .group_by("week", "brand_slug", col("category").fill_null("unknown"))
        .agg(polars.len().alias("variants"), col("compare_at_minor").count().alias("marked_down"), depth.mean().alias("depth_pct"))
        .sort("week", "brand_slug", "category")
        .collect()
    )


def arrivals_a_week(lake):
    history = table(lake, "product_history")
    first = history.group_by("product_id", "brand_slug").agg(col("observed_at").min().alias("first_seen_at"))
    starts = history.group_by("brand_slug").agg(col("observed_at").min().alias("started_at"))
    return (
        first.join(starts, on="brand_slug")
        .filter(col("first_seen_at") > col("started_at"))
        .group_by(week(col("first_seen_at")), "brand_slug")
        .agg(polars.len().alias("arrivals"))
        .sort("week", "brand_slug")
        .collect()
    )


def stock_outs(lake):
    sold = polars.when(col("event") == "gone").then(polars.lit("gone"))
    state = sold.when(col("available")).then(polars.lit("in stock")).otherwise(polars.lit("sold out")).alias("state")
    one = {"partition_by": ["product_id", "variant_id"], "order_by": ["observed_at", "tick"]}
    spans = (
        table(lake, "price_history")
        .with_columns(state)
        .with_columns(col("state").shift(1).over(**one).alias("state_before"))
        .filter(col("state_before").is_null() | (col("state_before") != col("state")))
        .with_columns(col("state").shift(-1).over(**one).alias("state_after"), col("observed_at").shift(-1).over(**one).alias("ended_at"))
        .filter((col("state") == "sold out") & (col("state_before") == "in stock"))
    )
    back = col("state_after") == "in stock"
    days = ((col("ended_at") - col("observed_at")).dt.total_microseconds() / 86_400_000_000).filter(back)
    return (
        spans.group_by("brand_slug")
        .agg(
            polars.len().alias("stock_outs"),
            back.sum().alias("back"),
            col("state_after").is_null().sum().alias("still_out"),
            days.mean().alias("days_mean"),
            days.max().alias("days_max"),
        )
        .sort("brand_slug")
        .collect()
    )


def assortment_overlap(lake):
    sold = table(lake, "products").select("brand_slug", "category_id").drop_nulls().unique()
    sizes = sold.group_by("brand_slug").agg(polars.len().cast(polars.Int64).alias("categories"))
    other = sold.rename({"brand_slug": "other_brand_slug"})
    pairs = sold.join(other, on="category_id").filter(col("brand_slug") < col("other_brand_slug"))
    shared = pairs.group_by("brand_slug", "other_brand_slug").agg(polars.len().cast(polars.Int64).alias("shared"))
    overlap = col("shared").cast(polars.Float64) / (col("categories") + col("other_categories") - col("shared"))
    others = sizes.rename({"brand_slug": "other_brand_slug", "categories": "other_categories"})
    return (
        shared.join(sizes, on="brand_slug")
        .join(others, on="other_brand_slug")
        .with_columns(overlap.alias("overlap"))
        .sort("overlap", "brand_slug", "other_brand_slug", descending=[True, False, False])
        .head(50)
        .select("brand_slug", "other_brand_slug", "shared", "categories", "other_categories", "overlap")
        .collect()
    )


def size_availability(lake):
    paths = table(lake, "products").select("product_id", "category_path").drop_nulls()
    return (
        table(lake, "variants")
        .filter(col("size_normalized").is_not_null())
        .join(paths, on="product_id")
        .group_by("category_path", "size_system", "size_normalized", "size_ordinal")
        .agg(polars.len().alias("variants"), col("available").sum().alias("available"), col("available").mean().alias("share"))
        .sort("category_path", "size_system", "size_ordinal", "size_normalized")
        .collect()
    )


def rates(lake, quote="INR"):
    """What a unit of each currency is worth in one, by the newest rate."""
    newest = table(lake, "exchange_rates").filter(col("quote_currency") == quote).sort("date").group_by("base_currency").last()
    return newest.select(col("base_currency").alias("currency"), "rate")


def in_one_currency(lake, rows, amount, quote="INR"):
    """Rows with `price`: an amount in whole units of one currency, null where there is no rate."""
    units = table(lake, "currencies").select("currency", "units_minor")
    rate = polars.when(col("currency") == quote).then(1.0).otherwise(col("rate"))
    price = col(amount).cast(polars.Float64) / col("units_minor") * rate
    return rows.join(units, on="currency").join(rates(lake, quote), on="currency", how="left").with_columns(price.alias("price"))


def price_index(lake):
    products = table(lake, "products").select("product_id", "vendor", col("title").alias("product_title"))
    variants = table(lake, "variants").filter(col("price_minor") > 0).join(products, on="product_id")
    words = (col("vendor").fill_null("") + " " + col("product_title")).str.to_lowercase().str.replace_all("[^a-z0-9]+", " ")
    size = polars.coalesce("size_normalized", col("title").str.to_lowercase())
    item = polars.coalesce("barcode", words + " | " + size).alias("item")
    priced = in_one_currency(lake, variants.with_columns(item), "price_minor")
    offers = priced.group_by("brand_slug", "item").agg(col("price").mean()).filter(col("price").is_not_null())
    items = offers.group_by("item").agg(col("price").mean().alias("mean_price"), polars.len().alias("brands"))
    index = ((col("price") / col("mean_price")).mean() * 100).alias("price_index")
    return (
        offers.join(items.filter(col("brands") > 1), on="item")
        .group_by("brand_slug")
        .agg(polars.len().alias("items"), index)
        .sort("brand_slug")
        .collect()
    )


def free_shipping(lake):
    terms = table(lake, "shipping_policies").filter(col("free_shipping_threshold_minor").is_not_null())
    units = table(lake, "currencies").select("currency", "units_minor")
    products = table(lake, "products").select("store", "currency", "product_id", "price_min_minor")
    free_from = (col("free_shipping_threshold_minor").cast(polars.Float64) / col("units_minor")).alias("free_from")
    return (
        terms.join(units, on="currency")
        .join(products, on=["store", "currency"], how="left")
        .group_by("brand_slug", "currency", free_from)
        .agg(
            col("product_id").count().alias("products"),
            (col("price_min_minor") >= col("free_shipping_threshold_minor")).sum().alias("ship_free_alone"),
        )
        .sort("brand_slug")
        .collect()
    )


def delivery_days_by_state(lake):
    zones = table(lake, "delivery_zones").select("brand_slug", "confidence", "days_min", "days_max", col("areas").alias("area"))
    return (
        zones.filter(col("days_max").is_not_null())
        .explode("area")
        .join(table(lake, "pincodes").filter(col("state").is_not_null()), on="area")
        .group_by("state")
        .agg(
            col("brand_slug").n_unique().alias("brands"),
            col("pincode").n_unique().alias("pincodes"),
            col("days_min").mean(),
            col("days_max").mean(),
            (col("confidence") == "high").mean().alias("confident"),
        )
        .sort("state")
        .collect()
    )


def prices_in_one_currency(lake):
    priced = in_one_currency(lake, table(lake, "products").filter(col("price_min_minor") > 0), "price_min_minor")
    return (
        priced.group_by(first_level(col("category_path")).fill_null("unknown").alias("category"))
        .agg(
            polars.len().alias("products"),
            col("price").null_count().alias("without_rate"),
            col("price").min().alias("price_min"),
            col("price").median().alias("price_median"),
            col("price").max().alias("price_max"),
        )
        .sort("category")
        .collect()
    )


def review_scores(lake):
    written = table(lake, "reviews").group_by("brand_slug").agg(polars.len().alias("reviews"), (col("rating") <= 2).sum().alias("poor"))
    rated = table(lake, "products").filter((col("rating_count") > 0) & col("rating_average").is_not_null())
    weighted = (col("rating_average").cast(polars.Float64) * col("rating_count")).sum() / col("rating_count").sum()
    return (
        rated.group_by("brand_slug")
        .agg(polars.len().alias("products"), col("rating_count").sum().alias("ratings"), weighted.alias("score"))
        .join(written, on="brand_slug", how="left")
        .with_columns(col("reviews").fill_null(0), col("poor").fill_null(0))
        .sort("brand_slug")
        .collect()
    )


def quarantine_by_reason(lake):
    return (
        table(lake, "quarantine")
        .group_by("brand_slug", "reason")
        .agg(polars.len().alias("records"), col("observed_at").min().alias("since"), col("excerpt").min().alias("example"))
        .sort("records", "brand_slug", "reason", descending=[True, False, False])
        .collect()
    )


# In the order of docs/questions.md.
ANSWERS = [
    price_history_of_a_product_that_is_gone,
    markdown_depth,
    arrivals_a_week,
    stock_outs,
    assortment_overlap,
    size_availability,
    price_index,
    free_shipping,
    delivery_days_by_state,
    prices_in_one_currency,
    review_scores,
    quarantine_by_reason,
]

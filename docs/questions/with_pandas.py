"""The twelve questions of docs/questions.md, answered with pandas. Each function takes the folder (or the URL) of the lake.

    pip install deltalake pandas pyarrow

All rows of the columns that are named are in memory at once: a lake that is larger than that is for the other engines.
"""
import deltalake
import pandas

ONE_VARIANT = ["product_id", "variant_id"]


def table(lake, name, columns=None):
    return deltalake.DeltaTable(f"{lake}/{name}").to_pandas(columns=columns)


def price_history_of_a_product_that_is_gone(lake):
    events = table(lake, "product_history", ["product_id", "event", "title", "last_seen_at", "tick"])
    last = events.sort_values("tick").groupby("product_id").tail(1)
    gone = last.loc[last["event"] == "gone", ["product_id", "title", "last_seen_at"]]
    columns = ["brand_slug", *ONE_VARIANT, "observed_at", "tick", "event", "price_minor", "currency", "available"]
    history = table(lake, "price_history", columns).merge(gone, on="product_id")
    prices = history.groupby("product_id")["price_minor"].nunique().rename("prices").reset_index()
    chosen = prices.sort_values(["prices", "product_id"], ascending=[False, True]).head(1)
    rows = history.merge(chosen, on="product_id").sort_values(["variant_id", "observed_at", "tick"])
    return rows[["brand_slug", "title", "variant_id", "observed_at", "event", "price_minor", "currency", "available", "last_seen_at"]]


def week(moments):
    """The Monday of a moment's week, in UTC."""
    days = moments.dt.tz_convert("UTC").dt.tz_localize(None).dt.normalize()
    return (days - pandas.to_timedelta(days.dt.weekday, unit="D")).dt.date


def first_level(paths):
    return paths.str.split(" > ").str[0]


def markdown_depth(lake):
    runs = table(lake, "crawl_runs", ["committed_at"])
    weeks = runs.groupby(week(runs["committed_at"]).rename("week"))["committed_at"].max().rename("moment").reset_index()
    columns = ["brand_slug", *ONE_VARIANT, "price_minor", "compare_at_minor", "observed_at", "tick"]
    spans = table(lake, "price_history", columns).sort_values([*ONE_VARIANT, "observed_at", "tick"])
    spans["replaced_at"] = spans.groupby(ONE_VARIANT)["observed_at"].shift(-1)
    spans = spans[spans["price_minor"].notna()]
    events = table(lake, "product_history", ["product_id", "category_path", "tick"]).dropna(subset=["category_path"])
    categories = events.sort_values("tick").groupby("product_id").tail(1)
    categories = categories.assign(category=first_level(categories["category_path"]))[["product_id", "category"]]
    found = []
    for one in weeks.itertuples():
        holds = (spans["observed_at"] <= one.moment) & (spans["replaced_at"].isna() | (spans["replaced_at"] > one.moment))
        rows = spans[holds].merge(categories, on="product_id", how="left").assign(week=one.week)
        rows["category"] = rows["category"].fillna("unknown")
        rows["depth"] = (rows["compare_at_minor"] - rows["price_minor"]) / rows["compare_at_minor"] * 100
        grouped = rows.groupby(["week", "brand_slug", "category"])
        found.append(grouped.agg(variants=("variant_id", "size"), marked_down=("compare_at_minor", "count"), depth_pct=("depth", "mean")))
    return pandas.concat(found).reset_index()


def arrivals_a_week(lake):
    history = table(lake, "product_history", ["product_id", "brand_slug", "observed_at"])
    first = history.groupby(["product_id", "brand_slug"])["observed_at"].min().rename("first_seen_at").reset_index()
    starts = history.groupby("brand_slug")["observed_at"].min().rename("started_at").reset_index()
    arrived = first.merge(starts, on="brand_slug").query("first_seen_at > started_at")
    return arrived.groupby([week(arrived["first_seen_at"]).rename("week"), "brand_slug"]).size().rename("arrivals").reset_index()


def stock_outs(lake):
    columns = ["brand_slug", *ONE_VARIANT, "observed_at", "tick", "event", "available"]
    rows = table(lake, "price_history", columns).sort_values([*ONE_VARIANT, "observed_at", "tick"])
    available = rows["available"].fillna(False).astype(bool)
    rows["state"] = available.map({True: "in stock", False: "sold out"}).mask(rows["event"] == "gone", "gone")
    before = rows.groupby(ONE_VARIANT)["state"].shift(1)
    turns = rows.assign(before=before)[before.isna() | (before != rows["state"])].copy()
    one = turns.groupby(ONE_VARIANT)
    turns["after"], turns["ended_at"] = one["state"].shift(-1), one["observed_at"].shift(-1)
    spans = turns[(turns["state"] == "sold out") & (turns["before"] == "in stock")].copy()
    spans["back"], spans["still_out"] = spans["after"] == "in stock", spans["after"].isna()
    spans["days"] = ((spans["ended_at"] - spans["observed_at"]) / pandas.Timedelta(days=1)).where(spans["back"])
    grouped = spans.groupby("brand_slug")
    return grouped.agg(
        stock_outs=("state", "size"), back=("back", "sum"), still_out=("still_out", "sum"), days_mean=("days", "mean"), days_max=("days", "max")
    ).reset_index()


def assortment_overlap(lake):
    sold = table(lake, "products", ["brand_slug", "category_id"]).dropna().drop_duplicates()
    sizes = sold.groupby("brand_slug").size()
    pairs = sold.merge(sold, on="category_id", suffixes=("", "_other"))
    pairs = pairs[pairs["brand_slug"] < pairs["brand_slug_other"]].rename(columns={"brand_slug_other": "other_brand_slug"})
    shared = pairs.groupby(["brand_slug", "other_brand_slug"]).size().rename("shared").reset_index()
    shared["categories"] = shared["brand_slug"].map(sizes)
    shared["other_categories"] = shared["other_brand_slug"].map(sizes)
    shared["overlap"] = shared["shared"] / (shared["categories"] + shared["other_categories"] - shared["shared"])
    return shared.sort_values(["overlap", "brand_slug", "other_brand_slug"], ascending=[False, True, True]).head(50)


def size_availability(lake):
    paths = table(lake, "products", ["product_id", "category_path"]).dropna()
    columns = ["product_id", "size_system", "size_normalized", "size_ordinal", "available"]
    variants = table(lake, "variants", columns).dropna(subset=["size_normalized"]).merge(paths, on="product_id")
    grouped = variants.groupby(["category_path", "size_system", "size_normalized", "size_ordinal"], dropna=False)["available"]
    return grouped.agg(variants="size", available="sum", share="mean").reset_index()


def in_one_currency(lake, rows, amount, quote="INR"):
    """What an amount is worth in whole units of one currency, by the newest rate; not a number where there is none."""
    units = table(lake, "currencies").set_index("currency")["units_minor"]
    rates = table(lake, "exchange_rates").query("quote_currency == @quote").sort_values("date").groupby("base_currency")["rate"].last()
    rate = rows["currency"].map(rates).astype("float64").mask(rows["currency"] == quote, 1.0)
    return rows[amount] / rows["currency"].map(units) * rate


def price_index(lake):
    products = table(lake, "products", ["product_id", "vendor", "title"]).rename(columns={"title": "product_title"})
    columns = ["brand_slug", "product_id", "title", "barcode", "size_normalized", "currency", "price_minor"]
    rows = table(lake, "variants", columns).query("price_minor > 0").merge(products, on="product_id")
    words = (rows["vendor"].fillna("") + " " + rows["product_title"]).str.lower().str.replace("[^a-z0-9]+", " ", regex=True)
    size = rows["size_normalized"].fillna(rows["title"].str.lower())
    rows["item"] = rows["barcode"].fillna(words + " | " + size)
    rows["price"] = in_one_currency(lake, rows, "price_minor")
    offers = rows.groupby(["brand_slug", "item"])["price"].mean().dropna().reset_index()
    items = offers.groupby("item")["price"].agg(mean_price="mean", brands="size").query("brands > 1").reset_index()
    offers = offers.merge(items, on="item")
    offers["price_index"] = offers["price"] / offers["mean_price"] * 100
    return offers.groupby("brand_slug").agg(items=("item", "size"), price_index=("price_index", "mean")).reset_index()


def free_shipping(lake):
    terms = table(lake, "shipping_policies", ["store", "brand_slug", "currency", "free_shipping_threshold_minor"])
    terms = terms.dropna(subset=["free_shipping_threshold_minor"]).merge(table(lake, "currencies"), on="currency")
    terms["free_from"] = terms["free_shipping_threshold_minor"] / terms["units_minor"]
    products = table(lake, "products", ["store", "currency", "product_id", "price_min_minor"])
    rows = terms.merge(products, on=["store", "currency"], how="left")
    rows["alone"] = rows["price_min_minor"] >= rows["free_shipping_threshold_minor"]
    grouped = rows.groupby(["brand_slug", "currency", "free_from"])
    return grouped.agg(products=("product_id", "count"), ship_free_alone=("alone", "sum")).reset_index()


def delivery_days_by_state(lake):
    zones = table(lake, "delivery_zones", ["brand_slug", "confidence", "days_min", "days_max", "areas"])
    zones = zones.dropna(subset=["days_max"]).explode("areas").rename(columns={"areas": "area"})
    rows = zones.merge(table(lake, "pincodes", ["pincode", "area", "state"]).dropna(), on="area")
    rows["confident"] = rows["confidence"] == "high"
    return rows.groupby("state").agg(
        brands=("brand_slug", "nunique"), pincodes=("pincode", "nunique"), days_min=("days_min", "mean"),
        days_max=("days_max", "mean"), confident=("confident", "mean"),
    ).reset_index()


def prices_in_one_currency(lake):
    rows = table(lake, "products", ["category_path", "currency", "price_min_minor"]).query("price_min_minor > 0")
    rows["price"] = in_one_currency(lake, rows, "price_min_minor")
    rows["category"] = first_level(rows["category_path"]).fillna("unknown")
    rows["unpriced"] = rows["price"].isna()
    return rows.groupby("category").agg(
        products=("price", "size"), without_rate=("unpriced", "sum"), price_min=("price", "min"), price_median=("price", "median"),
        price_max=("price", "max"),
    ).reset_index()


def review_scores(lake):
    reviews = table(lake, "reviews", ["brand_slug", "rating"])
    written = reviews.assign(poor=reviews["rating"] <= 2).groupby("brand_slug").agg(reviews=("poor", "size"), poor=("poor", "sum"))
    rows = table(lake, "products", ["brand_slug", "rating_average", "rating_count"]).dropna().query("rating_count > 0")
    rows["stars"] = rows["rating_average"].astype("float64") * rows["rating_count"]
    rated = rows.groupby("brand_slug").agg(products=("stars", "size"), ratings=("rating_count", "sum"), stars=("stars", "sum"))
    rated["score"] = rated.pop("stars") / rated["ratings"]
    return rated.join(written).fillna({"reviews": 0, "poor": 0}).reset_index()


def quarantine_by_reason(lake):
    rows = table(lake, "quarantine", ["brand_slug", "reason", "observed_at", "excerpt"])
    grouped = rows.groupby(["brand_slug", "reason"])
    return grouped.agg(records=("excerpt", "size"), since=("observed_at", "min"), example=("excerpt", "min")).reset_index()


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

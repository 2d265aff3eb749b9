use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use crate::market::{CATEGORIES, COLORS, Market, any_product};

#[derive(Debug, Clone)]
struct ListRequest {
    category: Option<usize>,
    brand: Option<usize>,
    in_stock: bool,
    on_sale: bool,
    price: (Option<i64>, Option<i64>),
    dollars: bool,
    sort: &'static str,
    facets: Vec<(&'static str, Vec<String>)>,
    /// Maximum number of values of a facet, and the prefix that they must have.
    window: (usize, &'static str),
}

fn any_list() -> impl Strategy<Value = ListRequest> {
    let scope = prop_oneof![
        (0..CATEGORIES.len()).prop_map(|at| (Some(at), None)),
        (0..3_usize).prop_map(|at| (None, Some(at))),
        (0..CATEGORIES.len(), 0..3_usize).prop_map(|(category, brand)| (Some(category), Some(brand))),
    ];
    let end = || prop::option::weighted(0.3, (0..70_i64).prop_map(|price| price * 1_000));
    let sort = prop::sample::select(vec!["relevance", "price_asc", "price_desc", "rating", "newest"]);
    let colors = prop::collection::vec(prop::sample::select(COLORS.to_vec()), 1..3);
    let facet = prop_oneof![
        colors.prop_map(|values| (
            "color",
            values.into_iter().map(str::to_lowercase).collect::<Vec<String>>()
        )),
        prop::sample::select(vec!["s", "m", "xxl"]).prop_map(|value| ("size", vec![value.to_owned()])),
        (0..90_u8).prop_map(|tag| ("tag", vec![format!("tag {tag}"), "tag 1".to_owned()])),
        Just(("vendor", vec!["vendor 1".to_owned()])),
        Just(("category", vec!["1868".to_owned(), "187".to_owned()])),
        Just(("nothing", vec!["of this".to_owned()])),
        Just(("brand", vec!["brand-0".to_owned(), "brand-2".to_owned()])),
        Just(("brand", vec!["brand-1".to_owned()])),
    ];
    let window = (
        prop_oneof![3 => Just(50_usize), 1 => Just(3)],
        prop_oneof![3 => Just(""), 1 => Just("t"), 1 => Just("brand-")],
    );
    let flags = (any::<bool>(), prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    (
        scope,
        flags,
        (end(), end()),
        sort,
        (prop::collection::vec(facet, 0..3), window),
    )
        .prop_map(|(scope, flags, (one, other), sort, (mut facets, window))| {
            // In a JSON object, the last of several values with one key wins.
            facets.sort();
            facets.dedup_by_key(|(name, _)| *name);
            let price = match (one, other) {
                (Some(one), Some(other)) => (Some(one.min(other)), Some(one.max(other))),
                ends => ends,
            };
            ListRequest {
                category: scope.0,
                brand: scope.1,
                in_stock: flags.0,
                on_sale: flags.1,
                price,
                dollars: flags.2,
                sort,
                facets,
                window,
            }
        })
}

#[derive(Clone, Copy, PartialEq)]
enum But<'a> {
    Nothing,
    Facet(&'a str),
    Price,
    /// The price range is left out, and all currencies except the requested one match.
    Currency,
    Filters,
}

/// Returns the condition on `products p` that a facet has one of the values.
fn has(name: &str, values: &[String]) -> String {
    let values: Vec<_> = values.iter().map(|value| format!("'{value}'")).collect();
    let values = values.join(", ");
    if name == "brand" {
        return format!("p.brand_slug in ({values})");
    }
    format!("p.product_id in (select product_id from facets where name = '{name}' and value in ({values}))")
}

impl ListRequest {
    fn path(&self) -> String {
        let mut path = "/v1/browse?".to_owned();
        let mut add = |name: &str, value: &dyn std::fmt::Display| write!(path, "&{name}={value}").unwrap();
        if let Some(at) = self.category {
            add("category", &CATEGORIES[at].1);
        }
        if let Some(at) = self.brand {
            add("brand", &format!("brand-{at}"));
        }
        add("in_stock", &self.in_stock);
        add("on_sale", &self.on_sale);
        add("sort", &self.sort);
        for (name, end) in [("price_min", self.price.0), ("price_max", self.price.1)] {
            if let Some(end) = end {
                add(name, &end);
            }
        }
        if self.dollars {
            add("currency", &"USD");
        }
        add("facet_values_max", &self.window.0);
        add("facet_query", &self.window.1);
        let facets: Map<_, _> = self
            .facets
            .iter()
            .map(|(name, values)| ((*name).to_owned(), json!(values)))
            .collect();
        let facets: String = Value::from(facets)
            .to_string()
            .bytes()
            .map(|byte| format!("%{byte:02X}"))
            .collect();
        add("facets", &facets);
        path
    }

    /// Returns the requested currency. Without one, returns the only currency in the scope or of the filtered brands,
    /// or else the market's currency.
    async fn currency(&self, market: &Market) -> String {
        if self.dollars {
            return "USD".to_owned();
        }
        let scope = self.condition(But::Filters, "");
        let brands = self.facets.iter().find(|(name, _)| *name == "brand");
        let brands = match (self.brand, brands) {
            (None, Some((name, values))) => has(name, values),
            _ => "true".to_owned(),
        };
        let statement =
            format!("select distinct p.currency from products p where {scope} and {brands} and p.price_min_minor > 0");
        match market.sql(&statement).await.as_slice() {
            [only] => only[0].as_str().unwrap().to_owned(),
            _ => "INR".to_owned(),
        }
    }

    fn is_priced(&self) -> bool {
        self.price.0.is_some() || self.price.1.is_some()
    }

    /// Returns the condition of the list on `products p`.
    fn condition(&self, but: But<'_>, currency: &str) -> String {
        let mut all = vec!["true".to_owned()];
        if let Some(at) = self.category {
            all.push(has("category", &[CATEGORIES[at].0.to_string()]));
        }
        if let Some(at) = self.brand {
            all.push(format!("p.brand_slug = 'brand-{at}'"));
        }
        if but == But::Filters {
            return all.join(" and ");
        }
        all.extend(self.in_stock.then(|| "p.in_stock".to_owned()));
        all.extend(self.on_sale.then(|| "p.on_sale".to_owned()));
        if self.is_priced() || but == But::Price {
            let is = if but == But::Currency { "!=" } else { "=" };
            all.push(format!("p.currency {is} '{currency}' and p.price_min_minor > 0"));
        }
        if but != But::Price && but != But::Currency {
            all.extend(self.price.0.map(|min| format!("p.price_min_minor >= {min}")));
            all.extend(self.price.1.map(|max| format!("p.price_min_minor <= {max}")));
        }
        for (name, values) in &self.facets {
            if but != But::Facet(name) {
                all.push(has(name, values));
            }
        }
        all.join(" and ")
    }

    fn order(&self, currency: &str) -> String {
        let by_currency = format!("p.currency != '{currency}', p.currency");
        match self.sort {
            "price_asc" => format!("{by_currency}, p.price_min_minor nulls last,"),
            "price_desc" => format!("{by_currency}, p.price_min_minor desc nulls last,"),
            "rating" => "p.rating_average desc nulls last, p.rating_count desc nulls last,".to_owned(),
            "newest" => "p.newest_at desc nulls last,".to_owned(),
            _ => String::new(),
        }
    }
}

async fn check(market: &Market, asked: &ListRequest) -> Result<(), TestCaseError> {
    let path = asked.path();
    let currency = asked.currency(market).await;
    let mut answer = market.answer(&path).await;
    let basis = answer["provenance"]["price"].take();
    let others = asked.condition(But::Currency, &currency);
    let others = market
        .sql(&format!("select count(*) from products p where {others}"))
        .await;
    let left_out = asked.is_priced() && others[0][0] != 0;
    prop_assert_eq!(&basis, &json!({"currency": currency, "left_out": left_out}), "{}", path);
    let mut page = answer["data"].take();
    let first = page.clone();
    let mut ids = Vec::new();
    loop {
        ids.extend(page["items"].as_array().unwrap().iter().map(|card| card["id"].clone()));
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        page = market.get(&format!("{path}&limit=60&cursor={cursor}")).await;
    }
    let condition = asked.condition(But::Nothing, &currency);
    let statement = format!(
        "select p.product_id from products p where {condition}
         order by {} p.in_stock desc, p.quality desc, p.product_id",
        asked.order(&currency)
    );
    let expected: Vec<Value> = market.sql(&statement).await.into_iter().flatten().collect();
    prop_assert_eq!(&ids, &expected, "{}", path);
    facets(market, asked, &currency, &first).await?;
    prices(market, asked, &currency, &first["price"]).await
}

/// Returns a statement that counts the products of each value of a facet, or of each brand.
fn counted(name: &str, condition: &str) -> String {
    if name == "brand" {
        return format!(
            "select p.brand_slug, count(*) from products p where {condition} group by p.brand_slug order by 2 desc, 1"
        );
    }
    format!(
        "select f.value, count(*) from facets f join products p on f.product_id = p.product_id
         where {condition} and f.name = '{name}' group by f.value order by 2 desc, 1"
    )
}

async fn facets(market: &Market, asked: &ListRequest, currency: &str, page: &Value) -> Result<(), TestCaseError> {
    let (values_max, beginning) = asked.window;
    let shown = page["facets"].as_array().unwrap();
    for facet in shown {
        let name = facet["name"].as_str().unwrap();
        let condition = asked.condition(But::Facet(name), currency);
        let mut expected = market.sql(&counted(name, &condition)).await;
        let mut answered: Vec<Vec<Value>> = Vec::new();
        for value in facet["values"].as_array().unwrap() {
            let named = CATEGORIES
                .iter()
                .find(|(_, slug)| name == "category" && value["value"] == **slug);
            let spelled = named.map_or(value["value"].clone(), |(id, _)| id.to_string().into());
            answered.push(vec![spelled, value["count"].clone()]);
        }
        if name == "category" {
            // The response has only some categories: those below the current one, and those of the filter.
            let filed = CATEGORIES.map(|(id, _)| id.to_string());
            answered.retain(|pair| {
                expected.contains(pair) || pair[1] != 0 && filed.iter().any(|id| pair[0] == id.as_str())
            });
            prop_assert!(
                answered.iter().all(|pair| expected.contains(pair)),
                "{} {:?}",
                asked.path(),
                answered
            );
            continue;
        }
        let chosen = asked.facets.iter().find(|(chosen, _)| *chosen == name);
        let is_chosen = |pair: &[Value]| chosen.is_some_and(|(_, values)| values.iter().any(|one| pair[0] == **one));
        if let Some((_, values)) = chosen {
            prop_assert!(
                values
                    .iter()
                    .all(|value| answered.iter().any(|pair| pair[0] == **value))
            );
        }
        // A value of the filter is shown in addition to the maximum, whatever its prefix, and even with a count of 0.
        let mut total = 0;
        expected.retain(|pair| {
            let begins = pair[0].as_str().unwrap().starts_with(beginning);
            total += usize::from(begins);
            begins && total <= values_max || is_chosen(pair)
        });
        prop_assert_eq!(&facet["values_total"], &json!(total), "{} {}", asked.path(), name);
        answered.retain(|pair| pair[1] != 0);
        prop_assert_eq!(&answered, &expected, "{} {}", asked.path(), name);
    }
    let condition = asked.condition(But::Filters, currency);
    let statement = format!(
        "select f.name, count(distinct f.product_id) from facets f join products p on f.product_id = p.product_id
         where {condition} group by f.name order by f.name != 'category', f.name = 'tag', 2 desc, 1"
    );
    let mut known = market.sql(&statement).await.into_iter().map(|row| row[0].clone());
    let unfiltered = shown.iter().map(|facet| &facet["name"]);
    let unfiltered =
        unfiltered.filter(|name| **name != "brand" && asked.facets.iter().all(|(chosen, _)| name != chosen));
    for name in unfiltered {
        prop_assert!(
            known.any(|one| one == *name),
            "{} shows {} in another place",
            asked.path(),
            name
        );
    }
    Ok(())
}

async fn prices(market: &Market, asked: &ListRequest, currency: &str, price: &Value) -> Result<(), TestCaseError> {
    let condition = asked.condition(But::Price, currency);
    let ends = format!("select min(p.price_min_minor), max(p.price_min_minor) from products p where {condition}");
    let ends = market.sql(&ends).await.remove(0);
    prop_assert_eq!(
        (&price["min_minor"], &price["max_minor"]),
        (&ends[0], &ends[1]),
        "{}",
        asked.path()
    );
    prop_assert_eq!(&price["currency"], currency);
    let bins = price["histogram"].as_array().unwrap();
    prop_assert!(bins.len() <= 12);
    let mut counted = 0;
    for bin in bins {
        let (from, to) = (&bin["from_minor"], &bin["to_minor"]);
        let statement = format!(
            "select count(*) from products p where {condition} and p.price_min_minor >= {from} and p.price_min_minor < {to}"
        );
        prop_assert_eq!(
            &market.sql(&statement).await[0][0],
            &bin["count"],
            "{} {}",
            asked.path(),
            bin
        );
        counted += bin["count"].as_u64().unwrap();
    }
    let all = market
        .sql(&format!("select count(*) from products p where {condition}"))
        .await;
    prop_assert_eq!(&all[0][0], &json!(counted), "{}", asked.path());
    Ok(())
}

#[test]
fn lists_facets_and_prices_are_what_sql_answers() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let sizes = (30..90_usize, 0..20_usize, 0..30_usize);
    let catalogue = sizes
        .prop_flat_map(|(one, two, three)| [one, two, three].map(|size| prop::collection::vec(any_product(), size)));
    let cases = (catalogue, prop::collection::vec(any_list(), 8));
    let config = ProptestConfig {
        cases: 6,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&cases, |(products, lists)| {
        runtime.block_on(async {
            let market = Market::of(&products).await;
            for asked in &lists {
                check(&market, asked).await?;
            }
            Ok(())
        })
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use crate::market::{CATEGORIES, COLORS, Market, any_product};

/// One list that is asked for.
#[derive(Debug, Clone)]
struct Asked {
    category: Option<usize>,
    brand: Option<usize>,
    in_stock: bool,
    on_sale: bool,
    price: (Option<i64>, Option<i64>),
    dollars: bool,
    sort: &'static str,
    facets: Vec<(&'static str, Vec<String>)>,
}

fn any_list() -> impl Strategy<Value = Asked> {
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
    ];
    let flags = (any::<bool>(), prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    (scope, flags, (end(), end()), sort, prop::collection::vec(facet, 0..3)).prop_map(
        |(scope, flags, (one, other), sort, mut facets)| {
            // One clause a name: JSON keeps the last of several.
            facets.sort();
            facets.dedup_by_key(|(name, _)| *name);
            let price = match (one, other) {
                (Some(one), Some(other)) => (Some(one.min(other)), Some(one.max(other))),
                ends => ends,
            };
            Asked {
                category: scope.0,
                brand: scope.1,
                in_stock: flags.0,
                on_sale: flags.1,
                price,
                dollars: flags.2,
                sort,
                facets,
            }
        },
    )
}

/// Which filters a statement leaves out.
#[derive(Clone, Copy, PartialEq)]
enum But<'a> {
    Nothing,
    Facet(&'a str),
    Price,
    Filters,
}

impl Asked {
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

    fn currency(&self) -> &'static str {
        if self.dollars { "USD" } else { "INR" }
    }

    fn by_price(&self) -> bool {
        self.sort.starts_with("price") || self.price.0.is_some() || self.price.1.is_some()
    }

    /// The condition of the list on `products p`.
    fn condition(&self, but: But<'_>) -> String {
        let has = |name: &str, values: &[String]| {
            let values: Vec<_> = values.iter().map(|value| format!("'{value}'")).collect();
            let values = values.join(", ");
            format!("p.product_id in (select product_id from facets where name = '{name}' and value in ({values}))")
        };
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
        if self.by_price() || but == But::Price {
            all.push(format!("p.currency = '{}'", self.currency()));
        }
        if but != But::Price {
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

    fn order(&self) -> &'static str {
        match self.sort {
            "price_asc" => "p.price_min_minor,",
            "price_desc" => "p.price_min_minor desc,",
            "rating" => "p.rating_average desc nulls last, p.rating_count desc nulls last,",
            "newest" => "p.newest_at desc nulls last,",
            _ => "",
        }
    }
}

async fn check(market: &Market, asked: &Asked) -> Result<(), TestCaseError> {
    let path = asked.path();
    let mut page = market.get(&path).await;
    let first = page.clone();
    let mut ids = Vec::new();
    loop {
        ids.extend(page["items"].as_array().unwrap().iter().map(|card| card["id"].clone()));
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        page = market.get(&format!("{path}&limit=60&cursor={cursor}")).await;
    }
    let condition = asked.condition(But::Nothing);
    let statement = format!(
        "select p.product_id from products p where {condition} order by {} p.quality desc, p.product_id",
        asked.order()
    );
    let expected: Vec<Value> = market.sql(&statement).await.into_iter().flatten().collect();
    prop_assert_eq!(&ids, &expected, "{}", path);
    facets(market, asked, &first).await?;
    prices(market, asked, &first["price"]).await
}

async fn facets(market: &Market, asked: &Asked, page: &Value) -> Result<(), TestCaseError> {
    let shown = page["facets"].as_array().unwrap();
    for facet in shown {
        let name = facet["name"].as_str().unwrap();
        let condition = asked.condition(But::Facet(name));
        let statement = format!(
            "select f.value, count(*) from facets f join products p on f.product_id = p.product_id
             where {condition} and f.name = '{name}' group by f.value order by 2 desc, 1"
        );
        let mut expected = market.sql(&statement).await;
        let mut answered: Vec<Vec<Value>> = Vec::new();
        for value in facet["values"].as_array().unwrap() {
            let named = CATEGORIES
                .iter()
                .find(|(_, slug)| name == "category" && value["value"] == **slug);
            let spelled = named.map_or(value["value"].clone(), |(id, _)| id.to_string().into());
            answered.push(vec![spelled, value["count"].clone()]);
        }
        if name == "category" {
            // Of categories only some are shown: those below, and those that are filtered by.
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
        // What is filtered by is shown beyond the 50, and with a count of 0.
        let mut at = 0;
        expected.retain(|pair| {
            at += 1;
            at <= 50 || is_chosen(pair)
        });
        answered.retain(|pair| pair[1] != 0);
        prop_assert_eq!(&answered, &expected, "{} {}", asked.path(), name);
    }
    let condition = asked.condition(But::Filters);
    let statement = format!(
        "select f.name, count(distinct f.product_id) from facets f join products p on f.product_id = p.product_id
         where {condition} group by f.name order by f.name != 'category', f.name = 'tag', 2 desc, 1"
    );
    let mut known = market.sql(&statement).await.into_iter().map(|row| row[0].clone());
    let unfiltered = shown.iter().map(|facet| &facet["name"]);
    let unfiltered = unfiltered.filter(|name| asked.facets.iter().all(|(chosen, _)| name != chosen));
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

async fn prices(market: &Market, asked: &Asked, price: &Value) -> Result<(), TestCaseError> {
    let condition = asked.condition(But::Price);
    let ends = format!("select min(p.price_min_minor), max(p.price_min_minor) from products p where {condition}");
    let ends = market.sql(&ends).await.remove(0);
    prop_assert_eq!(
        (&price["min_minor"], &price["max_minor"]),
        (&ends[0], &ends[1]),
        "{}",
        asked.path()
    );
    prop_assert_eq!(&price["currency"], asked.currency());
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

use std::ops::Range;

use data_index::columns::fold_name;
use data_index::{FacetClause, Part, PriceRange, Release, RowAddress, RowFilter};
use data_model::{BrandSlug, CategoryId, ProductIdent, StoreHost};
use data_text::fold_value;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown};

use crate::rows::Each;

/// Maximum number of bytes of an indexed value. Longer values are in no posting list.
const VALUE_BYTES_MAX: usize = 256;

/// A condition of an SQL statement that a release can answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    Slugs(Vec<String>),
    Stores(Vec<String>),
    Product(String),
    InStock,
    OnSale,
    Currency(String),
    PriceFrom(i64),
    PriceTo(i64),
    Category(i64),
    Vendor(String),
    FacetName(String),
    FacetValues(Vec<String>),
}

impl Condition {
    /// Returns the conditions of an expression that the release can answer quickly for the table's rows.
    pub(crate) fn of(expr: &Expr, each: Each) -> Vec<Self> {
        let conditions = read(expr);
        let known = |condition: &Self| match condition {
            Self::Slugs(_) | Self::Stores(_) | Self::Product(_) => !matches!(each, Each::Brand | Each::Match),
            Self::FacetName(_) | Self::FacetValues(_) => each == Each::Facet,
            _ => each == Each::Product,
        };
        if conditions.iter().all(known) {
            conditions
        } else {
            Vec::new()
        }
    }

    /// Returns how completely the conditions cover the expression.
    pub(crate) fn pushdown(conditions: &[Self]) -> TableProviderFilterPushDown {
        let exact = |condition: &Self| {
            matches!(
                condition,
                Self::Slugs(_) | Self::Stores(_) | Self::InStock | Self::OnSale
            )
        };
        match conditions {
            [] => TableProviderFilterPushDown::Unsupported,
            all if all.iter().all(exact) => TableProviderFilterPushDown::Exact,
            _ => TableProviderFilterPushDown::Inexact,
        }
    }
}

fn read(expr: &Expr) -> Vec<Condition> {
    match expr {
        Expr::Column(column) => flag(&column.name).into_iter().collect(),
        Expr::IsTrue(inner) => read(inner)
            .into_iter()
            .filter(|one| matches!(one, Condition::InStock | Condition::OnSale))
            .collect(),
        Expr::BinaryExpr(binary) => compared(binary),
        Expr::Between(between) if !between.negated => {
            let bounds = (number(&between.low), number(&between.high));
            match (name(&between.expr), bounds) {
                (Some("price_min_minor"), (Some(low), Some(high))) => {
                    vec![Condition::PriceFrom(low), Condition::PriceTo(high)]
                }
                _ => Vec::new(),
            }
        }
        Expr::InList(list) if !list.negated => {
            let values: Option<Vec<String>> = list.list.iter().map(text).collect();
            let listed = name(&list.expr).zip(values);
            listed
                .and_then(|(name, values)| equal_text(name, values))
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

fn flag(name: &str) -> Option<Condition> {
    match name {
        "in_stock" => Some(Condition::InStock),
        "on_sale" => Some(Condition::OnSale),
        _ => None,
    }
}

fn compared(BinaryExpr { left, op, right }: &BinaryExpr) -> Vec<Condition> {
    if *op == Operator::And {
        // Both operands must be supported, because one operand does not cover the whole expression.
        let (left, right) = (read(left), read(right));
        return if left.is_empty() || right.is_empty() {
            Vec::new()
        } else {
            [left, right].concat()
        };
    }
    if *op == Operator::Or {
        return either(left, right).into_iter().collect();
    }
    let (name, value, op) = match (name(left), name(right)) {
        (Some(name), None) => (name, right, Some(*op)),
        (None, Some(name)) => (name, left, op.swap()),
        _ => return Vec::new(),
    };
    let condition = match (name, op, number(value)) {
        ("price_min_minor", Some(Operator::GtEq), Some(price)) => Some(Condition::PriceFrom(price)),
        ("price_min_minor", Some(Operator::Gt), Some(price)) => price.checked_add(1).map(Condition::PriceFrom),
        ("price_min_minor", Some(Operator::LtEq), Some(price)) => Some(Condition::PriceTo(price)),
        ("price_min_minor", Some(Operator::Lt), Some(price)) => price.checked_sub(1).map(Condition::PriceTo),
        ("price_min_minor", Some(Operator::Eq), Some(price)) => {
            return vec![Condition::PriceFrom(price), Condition::PriceTo(price)];
        }
        ("category_id", Some(Operator::Eq), Some(id)) => Some(Condition::Category(id)),
        (_, Some(Operator::Eq), None) => match text(value) {
            Some(text) => equal_text(name, vec![text]),
            None if is_true(value) => flag(name),
            None => None,
        },
        _ => None,
    };
    condition.into_iter().collect()
}

/// Merges two conditions on the same column that are combined with OR.
fn either(left: &Expr, right: &Expr) -> Option<Condition> {
    let [left, right] = [read(left), read(right)].map(|found| <[Condition; 1]>::try_from(found).ok());
    match (left?, right?) {
        ([Condition::Slugs(left)], [Condition::Slugs(right)]) => Some(Condition::Slugs([left, right].concat())),
        ([Condition::Stores(left)], [Condition::Stores(right)]) => Some(Condition::Stores([left, right].concat())),
        ([Condition::FacetValues(left)], [Condition::FacetValues(right)]) => {
            Some(Condition::FacetValues([left, right].concat()))
        }
        _ => None,
    }
}

fn equal_text(name: &str, values: Vec<String>) -> Option<Condition> {
    match name {
        "brand_slug" => Some(Condition::Slugs(values)),
        "store" => Some(Condition::Stores(values)),
        "value" => Some(Condition::FacetValues(values)),
        _ => {
            let [one] = <[String; 1]>::try_from(values).ok()?;
            match name {
                "product_id" | "product_uid" => Some(Condition::Product(one)),
                "currency" => Some(Condition::Currency(one)),
                "name" => Some(Condition::FacetName(one)),
                "vendor" => {
                    let folded = fold_value(&one).len();
                    (1..=VALUE_BYTES_MAX)
                        .contains(&folded)
                        .then_some(Condition::Vendor(one))
                }
                _ => None,
            }
        }
    }
}

fn name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Column(column) => Some(&column.name),
        _ => None,
    }
}

fn number(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(ScalarValue::Int64(value), _) => *value,
        _ => None,
    }
}

fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(value) | ScalarValue::Utf8View(value) | ScalarValue::LargeUtf8(value), _) => {
            value.clone()
        }
        _ => None,
    }
}

fn is_true(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(ScalarValue::Boolean(Some(true)), _))
}

#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) filter: RowFilter,
    /// Products to which the rows are limited, if any.
    pub(crate) products: Option<Vec<RowAddress>>,
    /// Facet to whose values the rows are limited, if any.
    facet: Option<String>,
}

impl Selection {
    pub(crate) fn of(release: &Release, conditions: Vec<Condition>) -> Self {
        let mut wanted = Self::default();
        let (mut currency, mut min_minor, mut max_minor) = (None, None, None);
        let mut values: Vec<Vec<String>> = Vec::new();
        for condition in conditions {
            match condition {
                Condition::Slugs(slugs) => {
                    // The spelling must be exact, like that of any text in SQL.
                    let brands = slugs.iter().filter_map(|text| {
                        let slug = text.parse::<BrandSlug>().ok()?;
                        release.brand_by_slug(&slug).filter(|_| slug.as_str() == text)
                    });
                    wanted.stores(brands.map(|entry| entry.facts.brand.store.clone()).collect());
                }
                Condition::Stores(stores) => {
                    let hosts = stores.iter().filter_map(|text| {
                        let host = text.parse::<StoreHost>().ok();
                        host.filter(|host| host.as_str() == text)
                    });
                    wanted.stores(hosts.collect());
                }
                Condition::Product(ident) => {
                    let found = ident
                        .parse::<ProductIdent>()
                        .ok()
                        .and_then(|ident| release.find(&ident));
                    let found: Vec<RowAddress> = found
                        .into_iter()
                        .filter(|at| spelled_so(release, *at, &ident))
                        .collect();
                    match &mut wanted.products {
                        Some(products) => products.retain(|at| found.contains(at)),
                        none => *none = Some(found),
                    }
                }
                Condition::InStock => wanted.filter.in_stock = true,
                Condition::OnSale => wanted.filter.on_sale = true,
                Condition::Currency(code) => currency = code.parse().ok(),
                Condition::PriceFrom(price) => min_minor = min_minor.max(Some(price)),
                Condition::PriceTo(price) => max_minor = Some(max_minor.map_or(price, |max: i64| max.min(price))),
                Condition::Category(id) => wanted.filter.category = u32::try_from(id).ok().map(CategoryId),
                Condition::Vendor(vendor) => wanted.clause("vendor", vec![vendor]),
                Condition::FacetName(name) => wanted.facet = Some(name),
                Condition::FacetValues(of) => values.push(of),
            }
        }
        // A release can filter prices only together with their currency.
        wanted.filter.price = currency.map(|currency| PriceRange {
            currency,
            min_minor,
            max_minor,
        });
        if let Some(name) = wanted.facet.clone() {
            values.into_iter().for_each(|values| wanted.clause(&name, values));
        }
        wanted
    }

    pub(crate) fn narrows(&self) -> bool {
        self.filter != RowFilter::default()
    }

    pub(crate) fn codes(&self, part: &Part) -> Option<Range<u32>> {
        self.facet.as_ref().map(|name| part.facets().codes(&fold_name(name)))
    }

    fn stores(&mut self, stores: Vec<StoreHost>) {
        match &mut self.filter.stores {
            Some(known) => known.retain(|store| stores.contains(store)),
            none => *none = Some(stores),
        }
    }

    fn clause(&mut self, name: &str, values: Vec<String>) {
        let name = name.to_owned();
        self.filter.facets.push(FacetClause { name, values });
    }
}

/// Returns `true` if a product's identifier is spelled as in its column. A UUID has other spellings too.
fn spelled_so(release: &Release, at: RowAddress, ident: &str) -> bool {
    release.part(at.part).is_some_and(|part| {
        let cards = part.cards();
        cards.id(at.row).to_string() == ident || cards.uid(at.row).to_string() == ident
    })
}

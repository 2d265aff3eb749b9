use std::fmt;
use std::sync::Arc;

use data_model::{Kinds, Pincode, ProductId, ProductIdent};
use datafusion::arrow::array::{ArrayRef, BooleanArray, Float32Array, Int64Array, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use query_server::operations::{
    Limit, Mode, OperationError, ParsedName, RecommendRequest, SearchLimit, SearchRequest, Text,
};
use query_server::schema::{BrandShipping, SearchAnswer};
use query_server::{Intent, QueryServer};
use sql::SqlError;

use crate::arguments::{Arguments, refused};

/// Operation of the query server that a table function calls.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    Search(Box<SearchRequest>),
    Recommend(RecommendRequest),
    Shipping(Pincode),
}

type Query = Text<512>;

impl Call {
    pub(crate) fn search(arguments: &Arguments) -> Result<Self> {
        arguments.required("q")?;
        let mode = arguments.choice("mode", &Mode::ALL.map(Mode::as_str))?;
        let form = format!("at most {} characters long", Query::CHARS_MAX);
        let text = arguments.parsed("q", &form, |text| Query::new(text))?;
        Ok(Self::Search(Box::new(SearchRequest {
            text: text.unwrap_or_default(),
            mode: mode.map(|at| Mode::ALL[at]).unwrap_or_default(),
            limit: arguments.limit(SearchLimit::MAX, SearchLimit::new)?,
            brand: arguments.text("brand")?.map(ParsedName::brand),
            explain: true,
            ..SearchRequest::default()
        })))
    }

    /// Builds a search for products similar to a given one, without query text.
    pub(crate) fn similar(arguments: &Arguments) -> Result<Self> {
        Ok(Self::Search(Box::new(SearchRequest {
            similar_to: Some(product(arguments)?),
            limit: arguments.limit(SearchLimit::MAX, SearchLimit::new)?,
            explain: true,
            ..SearchRequest::default()
        })))
    }

    pub(crate) fn recommend(arguments: &Arguments) -> Result<Self> {
        let intent = arguments.choice("intent", &Intent::ALL.map(Intent::as_str))?;
        Ok(Self::Recommend(RecommendRequest {
            product: product(arguments)?,
            intent: intent.map(|at| Intent::ALL[at]).unwrap_or_default(),
            limit: arguments.limit(Limit::<12, 50>::MAX, Limit::new)?,
            kinds: Kinds::default(),
        }))
    }

    pub(crate) fn shipping(arguments: &Arguments) -> Result<Self> {
        arguments.required("pincode")?;
        let pincode = arguments.parsed("pincode", "a pincode of six digits", |text| text.parse().ok())?;
        let missing = || arguments.refused("pincode", "is missing");
        pincode.map(Self::Shipping).ok_or_else(missing)
    }

    /// Runs the call and returns all columns of its rows.
    pub(crate) async fn columns(&self, server: &QueryServer) -> Result<Vec<ArrayRef>> {
        match self {
            Self::Search(request) => {
                let found = server.search_with(request.as_ref().clone(), scored).await;
                found.map_err(|error| failed(&error))
            }
            Self::Recommend(request) => {
                let found = server.recommend_with(*request, |answer| ranked(answer.data.iter().map(|card| card.id)));
                found.await.map_err(|error| failed(&error))
            }
            Self::Shipping(pincode) => {
                let found = server.shipping_of_brands(*pincode, shipped);
                found.map_err(|error| failed(&error))?
            }
        }
    }
}

fn product(arguments: &Arguments) -> Result<ProductIdent> {
    arguments.required("product_id")?;
    let form = "a product's UUID or `sha:` and 40 hex digits";
    let product = arguments.parsed("product_id", form, |text| text.parse().ok())?;
    product.ok_or_else(|| arguments.refused("product_id", "is missing"))
}

fn failed(error: &OperationError) -> DataFusionError {
    let told = match error {
        OperationError::ProductNotFound => return refused("product_id: the release has no such product".to_owned()),
        OperationError::Overloaded => SqlError::Busy,
        OperationError::NotReady => SqlError::NotReady,
        _ => SqlError::Internal,
    };
    DataFusionError::External(Box::new(told))
}

/// Builds the columns `product_id` and `rank`. Ranks start at 1.
fn ranked(ids: impl Iterator<Item = ProductId>) -> Vec<ArrayRef> {
    let ids: StringArray = ids.map(|id| Some(id.to_string())).collect();
    let ranks: Int64Array = (1..)
        .take(datafusion::arrow::array::Array::len(&ids))
        .map(Some)
        .collect();
    vec![Arc::new(ids), Arc::new(ranks)]
}

fn scored(answer: &SearchAnswer<'_>) -> Vec<ArrayRef> {
    let hits = answer.provenance.explain.as_deref().unwrap_or_default();
    let scores: Float32Array = hits.iter().map(|hit| Some(hit.score)).collect();
    let mut columns = ranked(hits.iter().map(|hit| hit.id));
    columns.push(Arc::new(scores));
    columns
}

fn shipped(brands: &[BrandShipping<'_>]) -> Result<Vec<ArrayRef>> {
    let texts = |read: &dyn Fn(&BrandShipping<'_>) -> Option<String>| -> ArrayRef {
        Arc::new(brands.iter().map(read).collect::<StringArray>())
    };
    let numbers = |read: &dyn Fn(&BrandShipping<'_>) -> Option<i64>| -> ArrayRef {
        Arc::new(brands.iter().map(read).collect::<Int64Array>())
    };
    let owned = |text: &std::borrow::Cow<'_, str>| text.as_ref().to_owned();
    let dates = |read: &dyn Fn(&BrandShipping<'_>) -> Option<String>| cast(&texts(read), &DataType::Date32);
    let serviceable: BooleanArray = brands.iter().map(|brand| brand.delivery.serviceable).collect();
    Ok(vec![
        texts(&|brand| Some(owned(&brand.brand_slug))),
        Arc::new(serviceable),
        numbers(&|brand| brand.delivery.days_min.map(i64::from)),
        numbers(&|brand| brand.delivery.days_max.map(i64::from)),
        dates(&|brand| brand.delivery.earliest_date.as_ref().map(owned))?,
        dates(&|brand| brand.delivery.latest_date.as_ref().map(owned))?,
        numbers(&|brand| brand.free_shipping_threshold_minor),
        texts(&|brand| Some(owned(&brand.currency))),
        texts(&|brand| Some(owned(&brand.delivery.basis))),
        texts(&|brand| brand.delivery.confidence.as_ref().map(owned)),
    ])
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Search(request) => match request.similar_to {
                Some(product) => write!(f, "similar('{product}', limit => {})", request.limit.get()),
                None => {
                    let (text, mode) = (request.text.as_str(), request.mode.as_str());
                    write!(f, "search('{text}', mode => '{mode}', limit => {}", request.limit.get())?;
                    if let Some(brand) = &request.brand {
                        let slug = brand.known().map_or("", |slug| slug.as_str());
                        write!(f, ", brand => '{slug}'")?;
                    }
                    f.write_str(")")
                }
            },
            Self::Recommend(request) => {
                let RecommendRequest { product, .. } = request;
                let (intent, limit) = (request.intent.as_str(), request.limit.get());
                write!(f, "recommend('{product}', intent => '{intent}', limit => {limit})")
            }
            Self::Shipping(pincode) => write!(f, "shipping('{pincode}')"),
        }
    }
}

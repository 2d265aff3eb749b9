//! Wires discovery: the catalogue that it looks in, and the language model that reads sentences.

use std::sync::Arc;

use agents_discover::{BrandList, BrandOfList, Catalogue, CatalogueError, Detail, Discover, Found, Model, SearchFor};
use api::{Guard, OpenRouter};
use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use data_index::FacetClause;
use data_model::{Classify as _, CurrencyCode, ErrorCode, ProductIdent, ReleaseId};
use query_server::QueryServer;
use query_server::operations::{
    Answer, FacetFilter, Filters, Include, Named, OperationError, PriceBounds, ProductRequest, SearchLimit,
    SearchRequest, Text,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::exit::usage;
use crate::wiring::Context;

/// Cards that are asked for, of which the fitting are answered.
const CARDS_MAX: i64 = 40;

/// The route of discovery over the query server of this process.
pub(crate) fn open_router(context: &Context, server: &QueryServer, guard: Arc<Guard>) -> anyhow::Result<OpenRouter> {
    let model = Model::of(&context.config.discover.model).map_err(|error| usage(error.into()))?;
    // Where nobody said how the server is reached, a path is right wherever it is.
    let cart_href = format!("{}/v1/cart", context.config.public_url.trim_end_matches('/'));
    let catalogue = Arc::new(InProcess {
        server: server.clone(),
        market_currency: context.config.market_currency,
        brands: ArcSwapOption::empty(),
    });
    let discover = Discover::new(catalogue, model, cart_href, Arc::clone(&context.clock), guard);
    Ok(agents_discover::open_router(discover))
}

/// The query server of the same process.
#[derive(Debug)]
struct InProcess {
    server: QueryServer,
    market_currency: CurrencyCode,
    /// The names of the release that was asked last.
    brands: ArcSwapOption<(ReleaseId, Arc<BrandList>)>,
}

#[derive(Deserialize)]
struct Provenance {
    release: String,
    #[serde(default)]
    engine: String,
    #[serde(default)]
    explain: Vec<Explained>,
}

/// How a card was found.
#[derive(Deserialize)]
struct Explained {
    words: Option<ByWords>,
}

#[derive(Deserialize)]
struct ByWords {
    tier: String,
}

impl Provenance {
    /// Whether the first card lacks words of the query.
    fn is_loose(&self) -> bool {
        let first = self.explain.first().and_then(|first| first.words.as_ref());
        first.is_some_and(|words| matches!(words.tier.as_str(), "all_but_one" | "any_term"))
    }
}

#[async_trait]
impl Catalogue for InProcess {
    fn brands(&self) -> Result<Arc<BrandList>, CatalogueError> {
        let release = self.server.release();
        if let Some(known) = &*self.brands.load()
            && Some(known.0) == release
        {
            return Ok(Arc::clone(&known.1));
        }
        let (release, names) = self.server.brand_names().map_err(told)?;
        let brands = names.into_iter().map(|brand| BrandOfList {
            slug: brand.slug,
            name: brand.name,
            currency: Some(brand.currency),
            is_plain: brand.is_plain,
        });
        let list = Arc::new(BrandList::new(release.to_string(), brands.collect()));
        self.brands.store(Some(Arc::new((release, Arc::clone(&list)))));
        Ok(list)
    }

    fn market_currency(&self) -> CurrencyCode {
        self.market_currency
    }

    async fn search(&self, search: SearchFor) -> Result<Found, CatalogueError> {
        let answer = self.server.search(request(search)?).await.map_err(told)?;
        let provenance: Provenance = read(&answer.provenance())?;
        Ok(Found {
            is_loose: provenance.is_loose(),
            cards: read(&answer.data())?,
            engine: provenance.engine,
            release: provenance.release,
        })
    }

    async fn detail(&self, id: &str) -> Result<Option<Detail>, CatalogueError> {
        let Ok(product) = id.parse().map(ProductIdent::Id) else {
            return Ok(None);
        };
        let include = Include {
            variants: true,
            offers: true,
            attributes: true,
            ..Include::NONE
        };
        match self.server.product(&ProductRequest {
            product,
            include,
            pincode: None,
        }) {
            Ok(answer) => of_answer(&answer).map(Some),
            // Gone with a release that came in between.
            Err(OperationError::ProductNotFound) => Ok(None),
            Err(error) => Err(told(error)),
        }
    }
}

fn request(search: SearchFor) -> Result<SearchRequest, CatalogueError> {
    let broken = || CatalogueError(ErrorCode::Internal);
    let clauses = search.facets.into_iter();
    let clauses = clauses.map(|(name, values)| FacetClause { name, values }).collect();
    let filters = Filters {
        price: PriceBounds::new(search.price_min_minor, search.price_max_minor).ok_or_else(broken)?,
        currency: search.currency,
        in_stock: true,
        on_sale: false,
        facets: FacetFilter::new(clauses).ok_or_else(broken)?,
        delivery: None,
    };
    Ok(SearchRequest {
        text: Text::new(search.text).ok_or_else(broken)?,
        filters,
        brand: search.brand.map(Named::Known),
        limit: SearchLimit::new(CARDS_MAX).ok_or_else(broken)?,
        explain: true,
        ..SearchRequest::default()
    })
}

fn of_answer<T: DeserializeOwned>(answer: &Answer) -> Result<T, CatalogueError> {
    read(&answer.data())
}

/// Reads what the query server wrote.
fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, CatalogueError> {
    serde_json::from_slice(json).map_err(|error| {
        tracing::error!(%error, "an answer of the query server cannot be read");
        CatalogueError(ErrorCode::Internal)
    })
}

fn told(error: OperationError) -> CatalogueError {
    CatalogueError(error.code())
}

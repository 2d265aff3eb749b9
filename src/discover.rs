//! Wiring of discovery: the catalogue that it searches, and the language model that interprets sentences.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use agents_discover::{
    Attributes, BrandList, BrandOfList, Card, Catalogue, CatalogueError, CatalogueHits, Category, Detail, Discover,
    Model, Offer, SearchFor, SearchOrder, UnderstoodSpan, Variant,
};
use api::{Guard, OpenRouter};
use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use data_index::FacetClause;
use data_model::{Classify as _, CurrencyCode, ErrorCode, ProductIdent, ReleaseId};
use query_server::QueryServer;
use query_server::operations::{
    FacetFilter, Filters, Include, OperationError, Order, ParsedName, PriceBounds, ProductRequest, SearchLimit,
    SearchRequest, Text,
};
use query_server::schema::{self, NamedValue, ProductAnswer, ProductCard, SearchAnswer};

use crate::exit::usage;
use crate::wiring::Context;

/// Number of cards to request from a search. Only those that fit are returned.
const CARDS_MAX: i64 = 40;

/// Returns the route of discovery over this process's query server.
pub(crate) fn open_router(context: &Context, server: &QueryServer, guard: Arc<Guard>) -> anyhow::Result<OpenRouter> {
    let model = model(context)?;
    // Without a configured public address, a relative path is correct wherever the server runs.
    let cart_href = format!("{}/v1/cart", context.config.public_url.trim_end_matches('/'));
    let catalogue = Arc::new(InProcess {
        server: server.clone(),
        market_currency: context.config.market_currency,
        brands: ArcSwapOption::empty(),
    });
    let discover = Discover::new(catalogue, model, cart_href, Arc::clone(&context.clock), guard);
    Ok(agents_discover::open_router(discover))
}

/// Returns the configured language model that interprets sentences.
pub(crate) fn model(context: &Context) -> anyhow::Result<Option<Model>> {
    Model::of(&context.config.discover.model).map_err(|error| usage(error.into()))
}

/// Query server in the same process.
#[derive(Debug)]
struct InProcess {
    server: QueryServer,
    market_currency: CurrencyCode,
    /// Brand names of the release that was queried last.
    brands: ArcSwapOption<(ReleaseId, Arc<BrandList>)>,
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

    async fn search(&self, search: SearchFor) -> Result<CatalogueHits, CatalogueError> {
        let search = self.server.search_with(request(search)?, found);
        search.await.map_err(told)
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
        let request = ProductRequest {
            product,
            include,
            pincode: None,
        };
        match self.server.product_with(&request, detail) {
            Ok(detail) => Ok(Some(detail)),
            // A newer release no longer has the product.
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
        in_stock: !search.with_sold_out,
        on_sale: false,
        facets: FacetFilter::new(clauses).ok_or_else(broken)?,
        ..Filters::default()
    };
    Ok(SearchRequest {
        text: Text::new(search.text).ok_or_else(broken)?,
        filters,
        brand: search.brand.map(ParsedName::Known),
        order: match search.order {
            SearchOrder::Relevance => Order::Relevance,
            SearchOrder::Cheapest => Order::PriceAscending,
            SearchOrder::Dearest => Order::PriceDescending,
        },
        limit: SearchLimit::new(CARDS_MAX).ok_or_else(broken)?,
        explain: true,
        as_typed: search.as_typed,
        ..SearchRequest::default()
    })
}

fn found(answer: &SearchAnswer<'_>) -> CatalogueHits {
    let provenance = &answer.provenance;
    let explained = provenance.explain.iter().flatten();
    let loose = explained.filter(|one| {
        let words = one.words.as_ref();
        words.is_some_and(|words| matches!(&*words.tier, "all_but_one" | "any_term"))
    });
    let loose: HashSet<_> = loose.map(|one| one.id).collect();
    let cards = answer.data.iter().map(|one| card(one, loose.contains(&one.id)));
    CatalogueHits {
        cards: cards.collect(),
        engine: provenance.engine.to_string(),
        release: provenance.release.to_string(),
        understood: provenance.understood.iter().map(understood).collect(),
    }
}

fn understood(told: &schema::UnderstoodPhrase<'_>) -> UnderstoodSpan {
    UnderstoodSpan {
        text: told.text.to_string(),
        meaning: told.meaning.to_string(),
        filter: told
            .filter
            .as_ref()
            .and_then(|filter| serde_json::to_value(filter).ok()),
    }
}

fn card(card: &ProductCard<'_>, is_loose: bool) -> Card {
    Card {
        id: card.id.to_string(),
        title: card.title.to_string(),
        brand: card.brand.to_string(),
        brand_slug: card.brand_slug.to_string(),
        price_min_minor: card.price_min_minor,
        currency: card.currency.to_string(),
        discount_pct: card.discount_pct,
        rating: card.rating,
        compare_at_minor: card.compare_at_minor,
        image: card.image.as_ref().map(ToString::to_string),
        in_stock: card.in_stock,
        product_uid: card.product_uid.to_string(),
        variants_complete: card.variants_complete,
        is_loose,
    }
}

fn detail(answer: &ProductAnswer<'_>) -> Detail {
    let variants = answer.data.variants.iter().flatten().map(|variant| Variant {
        id: variant.id.to_string(),
        options: (variant.options.iter())
            .map(|option| (option.name.to_string(), option.value.to_string()))
            .collect(),
    });
    let offers = answer.data.offers.iter().flatten().map(|offer| Offer {
        variant_id: offer.variant_id.to_string(),
        amount_minor: offer.amount_minor,
        available: offer.available,
    });
    Detail {
        variants: variants.collect(),
        offers: offers.collect(),
        attributes: answer.data.attributes.as_ref().map(attributes).unwrap_or_default(),
    }
}

fn attributes(attributes: &schema::Attributes<'_>) -> Attributes {
    Attributes {
        vendor: attributes.vendor.as_ref().map(ToString::to_string),
        product_type: attributes.product_type.as_ref().map(ToString::to_string),
        category: attributes.category.as_ref().map(|category| Category {
            path: category.path.to_string(),
        }),
        options: lists(&attributes.options),
        attributes: lists(&attributes.attributes),
    }
}

fn lists(named: &[NamedValue<'_, Vec<Cow<'_, str>>>]) -> BTreeMap<String, Vec<String>> {
    let values = |values: &[Cow<'_, str>]| values.iter().map(ToString::to_string).collect();
    let lists = named.iter().map(|one| (one.name.to_string(), values(&one.value)));
    lists.collect()
}

fn told(error: OperationError) -> CatalogueError {
    CatalogueError(error.code())
}

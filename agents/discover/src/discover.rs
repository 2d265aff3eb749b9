use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use api::{Caller, Guard, Tier};
use data_model::Clock;
use data_understanding::Meaning;
use data_understanding::intent::Intent;
use futures::{StreamExt, stream};
use language_model::ModelFailure;
use serde_json::json;

use crate::catalogue::{BrandList, Card, Catalogue, CatalogueError, SearchFor, UnderstoodSpan};
use crate::intent::Constraints;
use crate::model::Model;
use crate::request::DiscoverRequest;
use crate::rules::criteria::{Brand, ProductCriteria};
use crate::rules::fits::{Fit, FitCriteria};
use crate::rules::{Bounds, why};
use crate::schema::{
    AddToCart, AddToCartBody, AddToCartItem, DiscoverAnswer, DiscoverIntent, DiscoverProvenance, Shoppable,
};

/// Maximum number of products whose details are loaded concurrently.
const DETAILS_AT_ONCE: usize = 8;

/// Finds products for sentences. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Discover(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    catalogue: Arc<dyn Catalogue>,
    model: Option<Model>,
    cart_href: String,
    clock: Arc<dyn Clock>,
    guard: Arc<Guard>,
}

struct DiscoverSearch<'a> {
    request: &'a DiscoverRequest,
    brands: &'a BrandList,
    /// Number of searches and model calls so far, which is the cost of the request.
    asked: AtomicUsize,
}

/// Result of one interpretation of a sentence.
struct Outcome {
    sought: ProductCriteria,
    fitting: Vec<(Card, Fit)>,
    /// Products that violate some constraints.
    relaxed: Vec<(Card, Fit)>,
    left_out: BTreeMap<&'static str, u32>,
    /// Spans that the searches interpreted.
    understood: Vec<UnderstoodSpan>,
    engine: String,
    release: String,
}

impl Discover {
    /// Creates discovery over a catalogue, with an optional language model. `clock` gives the time of answers from the
    /// model, and `cart_href` is the URL for new carts. `guard` has already counted one request for each admitted call
    /// and charges the total cost.
    #[must_use]
    pub fn new(
        catalogue: Arc<dyn Catalogue>,
        model: Option<Model>,
        cart_href: String,
        clock: Arc<dyn Clock>,
        guard: Arc<Guard>,
    ) -> Self {
        Self(Arc::new(Parts {
            catalogue,
            model,
            cart_href,
            clock,
            guard,
        }))
    }

    /// Finds the products that satisfy the constraints of a sentence.
    pub(crate) async fn discover(
        &self,
        caller: &Caller,
        request: &DiscoverRequest,
    ) -> Result<DiscoverAnswer, CatalogueError> {
        let brands = self.0.catalogue.brands()?;
        let asking = DiscoverSearch {
            request,
            brands: &brands,
            asked: AtomicUsize::new(0),
        };
        let ruled = asking.ruled();
        let read = match &self.0.model {
            _ if !request.understand => Err("off"),
            Some(model) => {
                asking.asked.fetch_add(1, Ordering::Relaxed);
                let read = model.read(&request.query).await;
                read.map(|reply| (model.name(), reply)).map_err(ModelFailure::as_str)
            }
            None => Err("not_configured"),
        };
        let (outcome, model) = match read {
            Ok((name, reply)) => {
                let wanted = ruled.with_reply(&reply, &request.query, &brands);
                let outcome = self.look(&asking, wanted).await?;
                if outcome.fitting.is_empty() {
                    (self.look_further(&asking, ruled).await?, Err("nothing_found"))
                } else {
                    (outcome, Ok(name))
                }
            }
            Err(why) => (self.look_further(&asking, ruled).await?, Err(why)),
        };
        let asked = asking.asked.load(Ordering::Relaxed);
        self.0.guard.owe(caller, asked).await;
        Ok(self.answer(&asking, outcome, model))
    }

    /// Searches with one interpretation of the sentence.
    async fn look(&self, asking: &DiscoverSearch<'_>, wanted: Constraints) -> Result<Outcome, CatalogueError> {
        let sought = ProductCriteria {
            bounds: asking.bounds(&wanted, &*self.0.catalogue),
            brand: asking.brand(&wanted),
            as_typed: !asking.request.understand,
            wanted,
        };
        let mut outcome = Outcome {
            sought,
            fitting: Vec::new(),
            relaxed: Vec::new(),
            left_out: BTreeMap::new(),
            understood: Vec::new(),
            engine: "none".to_owned(),
            release: asking.brands.release().to_owned(),
        };
        let searches = outcome.sought.searches();
        let (mut cards, mut aside) = (Vec::new(), None);
        for search in searches {
            let is_narrow = !search.facets.is_empty();
            let found = self.found(asking, search, &mut outcome).await?;
            if is_narrow && found.first().is_some_and(|first| first.is_loose) {
                // No product of that colour is the wanted thing, so products of another kind rank last.
                aside = Some(found);
            } else {
                cards.push(found);
                cards.extend(aside.take());
            }
        }
        cards.extend(aside);
        let is_grounded = outcome
            .sought
            .wanted
            .words
            .as_ref()
            .is_none_or(|words| words.is_grounded);
        let cards = if is_grounded {
            one_after_another(cards)
        } else {
            in_turn(cards)
        };
        self.sift(asking, cards, &mut outcome).await?;
        Ok(outcome)
    }

    /// Searches like `look`. If no product satisfies all constraints, it returns those that violate the fewest.
    async fn look_further(&self, asking: &DiscoverSearch<'_>, wanted: Constraints) -> Result<Outcome, CatalogueError> {
        let mut outcome = self.look(asking, wanted).await?;
        if !outcome.fitting.is_empty() {
            return Ok(outcome);
        }
        let mut found = Vec::new();
        for search in outcome.sought.wider(asking.brands) {
            found.push(self.found(asking, search, &mut outcome).await?);
        }
        let seen: HashSet<String> = outcome.relaxed.iter().map(|(card, _)| card.id.clone()).collect();
        let mut cards = one_after_another(found);
        cards.retain(|card| !seen.contains(&card.id));
        self.sift(asking, cards, &mut outcome).await?;
        // A product of the wanted kind ranks before one of another kind that violates fewer constraints.
        let relaxed = &mut outcome.relaxed;
        relaxed.sort_by(|(one, fit), (other, other_fit)| {
            let by_words = one.is_loose.cmp(&other.is_loose);
            by_words.then_with(|| fit.distance.cmp(&other_fit.distance))
        });
        Ok(outcome)
    }

    async fn found(
        &self,
        asking: &DiscoverSearch<'_>,
        search: SearchFor,
        outcome: &mut Outcome,
    ) -> Result<Vec<Card>, CatalogueError> {
        let found = self.0.catalogue.search(search).await?;
        asking.asked.fetch_add(1, Ordering::Relaxed);
        (outcome.engine, outcome.release) = (found.engine, found.release);
        outcome.understood.extend(found.understood);
        Ok(found.cards)
    }

    /// Keeps cards whose products satisfy all constraints, up to the requested number.
    async fn sift(
        &self,
        asking: &DiscoverSearch<'_>,
        cards: Vec<Card>,
        outcome: &mut Outcome,
    ) -> Result<(), CatalogueError> {
        let unwanted_brands = asking.slugs(&outcome.sought.wanted.unwanted_brands);
        let asked = FitCriteria {
            sought: &outcome.sought,
            unwanted_brands: &unwanted_brands,
        };
        let catalogue = &self.0.catalogue;
        let looks = cards.into_iter().map(|card| async move {
            let detail = catalogue.detail(&card.id).await;
            (card, detail)
        });
        let mut looked = stream::iter(looks).buffered(DETAILS_AT_ONCE);
        while let Some((card, detail)) = looked.next().await {
            let Some(detail) = detail? else { continue };
            let Some(fit) = asked.fit(&card, &detail) else { continue };
            match fit.distance.furthest() {
                None => outcome.fitting.push((card, fit)),
                Some(missed) => {
                    *outcome.left_out.entry(missed.as_str()).or_default() += 1;
                    outcome.relaxed.push((card, fit));
                }
            }
            if outcome.fitting.len() >= asking.request.limit {
                break;
            }
        }
        Ok(())
    }

    fn answer(
        &self,
        asking: &DiscoverSearch<'_>,
        outcome: Outcome,
        model: Result<&str, &'static str>,
    ) -> DiscoverAnswer {
        let intent = asking.told(&outcome);
        let understood = asking.understood(&outcome);
        let Outcome {
            sought: ProductCriteria { wanted, bounds, .. },
            mut fitting,
            mut relaxed,
            left_out,
            engine,
            release,
            ..
        } = outcome;
        if fitting.is_empty() {
            relaxed.truncate(asking.request.limit);
            fitting = relaxed;
        }
        let data = fitting.into_iter().map(|(card, fit)| Shoppable {
            why: why::why(&card, &fit, &wanted, bounds),
            add_to_cart: AddToCart {
                method: "POST",
                href: self.0.cart_href.clone(),
                body: AddToCartBody {
                    items: [AddToCartItem {
                        product_id: card.id.clone(),
                        variant_id: fit.variant_id,
                        qty: 1,
                    }],
                },
            },
            misses: fit.distance.names().collect(),
            card,
        });
        // An answer without a model depends only on the sentence and the release, so it needs no time.
        let as_of = model.is_ok().then(|| self.0.clock.now());
        DiscoverAnswer {
            data: data.collect(),
            provenance: DiscoverProvenance {
                release,
                engine,
                understood,
                intent,
                model: model.ok().map(str::to_owned),
                degraded: model.is_err(),
                degraded_reason: model.err(),
                untrusted: ["data[].title", "data[].brand"],
                left_out,
            },
            tier: if as_of.is_some() { Tier::Live } else { Tier::Graph },
            as_of,
        }
    }
}

impl DiscoverSearch<'_> {
    /// Interprets the sentence and its context with the rules.
    fn ruled(&self) -> Constraints {
        if !self.request.understand {
            return Constraints::as_typed(&self.request.query);
        }
        let mut ruled = Constraints::of_rules(Intent::of(&self.request.query, self.brands));
        if !self.request.context.is_empty() {
            ruled.complete(Intent::beside(&self.request.context, self.brands));
        }
        ruled
    }

    /// Describes the interpretation in the form of a search. The rules here interpret prices and unwanted things, and
    /// the search interprets all other spans.
    fn understood(&self, outcome: &Outcome) -> Vec<UnderstoodSpan> {
        let currency = outcome.sought.bounds.currency;
        let told = outcome.sought.wanted.parts.iter().map(|part| {
            let meaning = part.meaning.name();
            let filter = match &part.meaning {
                Meaning::Price(price) => Some(Bounds::of(*price, None, currency).told()),
                Meaning::Excluded(what) => Some(json!({ "excluded": what })),
                Meaning::Lacking(lacking) => Some(json!({ "excluded": [lacking.of] })),
                Meaning::ExcludedBrand(at) => {
                    Some(json!({ "excluded": [self.brands.at(*at).map(|brand| &brand.name)] }))
                }
                _ => {
                    let mut of_search = outcome.understood.iter();
                    let same = of_search.find(|told| told.text == part.text && told.meaning == meaning);
                    same.and_then(|told| told.filter.clone())
                }
            };
            UnderstoodSpan {
                text: part.text.clone(),
                meaning: meaning.to_owned(),
                filter,
            }
        });
        told.collect()
    }

    /// Returns the allowed price range in the currency of the sentence, else the brand's, else the market's.
    fn bounds(&self, wanted: &Constraints, catalogue: &dyn Catalogue) -> Bounds {
        let brand = match &self.request.brand {
            Brand::Known(slug) => self.brands.of_slug(slug.as_str()),
            Brand::Nothing => None,
            Brand::Any => wanted.brand.and_then(|at| self.brands.at(at)),
        };
        let currency = wanted.price.currency.or_else(|| brand?.currency);
        let currency = currency.unwrap_or_else(|| catalogue.market_currency());
        Bounds::of(wanted.price, self.request.budget_max_minor, currency)
    }

    /// Returns the required brand. The brands in the request and in the sentence must both match.
    fn brand(&self, wanted: &Constraints) -> Brand {
        let read = wanted.brand.and_then(|at| self.brands.at(at));
        match (&self.request.brand, read) {
            (Brand::Any, Some(read)) => Brand::Known(read.slug.clone()),
            (Brand::Known(stated), Some(read)) if *stated != read.slug => Brand::Nothing,
            (stated, _) => stated.clone(),
        }
    }

    fn slugs(&self, places: &[usize]) -> Vec<&str> {
        let brands = places.iter().filter_map(|at| self.brands.at(*at));
        brands.map(|brand| brand.slug.as_str()).collect()
    }

    fn told(&self, outcome: &Outcome) -> DiscoverIntent {
        let ProductCriteria { wanted, bounds, .. } = &outcome.sought;
        let words = wanted.words.as_ref().map_or(&wanted.text, |words| &words.text);
        let unwanted = wanted.unwanted.iter().map(|unwanted| unwanted.what.clone());
        let brands = self.slugs(&wanted.unwanted_brands);
        let stated = match &self.request.brand {
            Brand::Known(slug) => Some(slug.as_str().to_owned()),
            _ => None,
        };
        let read = || Some(self.brands.at(wanted.brand?)?.slug.as_str().to_owned());
        DiscoverIntent {
            words: words.clone(),
            price_min_minor: bounds.min_minor,
            price_max_minor: bounds.max_minor,
            currency: bounds.currency.as_str().to_owned(),
            colors: wanted.colours.clone(),
            sizes: wanted.sizes.clone(),
            audience: wanted.audience.map(data_understanding::intent::Audience::as_str),
            occasion: wanted.occasion,
            brand: stated.or_else(read),
            unwanted: unwanted.chain(brands.into_iter().map(str::to_owned)).collect(),
        }
    }
}

/// Joins the cards of several searches without duplicates.
fn one_after_another(found: Vec<Vec<Card>>) -> Vec<Card> {
    let mut seen = HashSet::new();
    let all = found.into_iter().flatten();
    all.filter(|card| seen.insert(card.id.clone())).collect()
}

/// Interleaves the cards of several searches without duplicates.
fn in_turn(found: Vec<Vec<Card>>) -> Vec<Card> {
    let longest = found.iter().map(Vec::len).max().unwrap_or(0);
    let mut lists: Vec<_> = found.into_iter().map(Vec::into_iter).collect();
    let mut all = Vec::new();
    for _ in 0..longest {
        all.push(lists.iter_mut().filter_map(Iterator::next).collect());
    }
    one_after_another(all)
}

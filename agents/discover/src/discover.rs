use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use api::{Caller, Guard, Tier};
use data_model::Clock;
use data_understanding::intent::Intent;
use futures::{StreamExt, stream};
use language_model::Unread;

use crate::catalogue::{BrandList, Card, Catalogue, CatalogueError, Found, SearchFor};
use crate::intent::Constraints;
use crate::model::Model;
use crate::request::{Brand, DiscoverRequest};
use crate::rules::fits::{Asked, Fit};
use crate::rules::{Bounds, facets, why};
use crate::schema::{
    AddToCart, AddToCartBody, AddToCartItem, DiscoverAnswer, DiscoverIntent, DiscoverProvenance, Shoppable,
};

/// Products that are looked at closely at the same time.
const DETAILS_AT_ONCE: usize = 8;
/// Longest text that a search understands, in bytes: a longer one means words to it.
const TEXT_BYTES_MAX: usize = 200;

/// Makes products of sentences; cheap to clone.
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

/// A sentence on its way to products.
struct Asking<'a> {
    request: &'a DiscoverRequest,
    brands: &'a BrandList,
    /// Searches and models that were asked: what the sentence costs.
    asked: AtomicUsize,
}

/// What was found for one reading of a sentence.
struct Outcome {
    wanted: Constraints,
    bounds: Bounds,
    fitting: Vec<(Card, Fit)>,
    /// Products that keep to all that a search filters by, and miss what it takes as words.
    relaxed: Vec<(Card, Fit)>,
    left_out: BTreeMap<&'static str, u32>,
    engine: String,
    release: String,
}

impl Discover {
    /// Looks in this catalogue, with this model where there is one, whose answers are of the clock's moment. Carts are made
    /// at `cart_href`. `guard` has counted one request for each that it let in, and is told what it cost.
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

    /// The products that keep to what a sentence asks for.
    pub(crate) async fn discover(
        &self,
        caller: &Caller,
        request: &DiscoverRequest,
    ) -> Result<DiscoverAnswer, CatalogueError> {
        let brands = self.0.catalogue.brands()?;
        let asking = Asking {
            request,
            brands: &brands,
            asked: AtomicUsize::new(usize::from(self.0.model.is_some())),
        };
        let mut ruled = Constraints::of_rules(Intent::of(&request.query, &*brands));
        if !request.context.is_empty() {
            ruled.complete(Intent::beside(&request.context, &*brands));
        }
        let read = match &self.0.model {
            Some(model) => {
                let read = model.read(&request.query).await;
                read.map(|reply| (model.name(), reply)).map_err(Unread::as_str)
            }
            None => Err("not_configured"),
        };
        let (outcome, model) = match read {
            Ok((name, reply)) => {
                let wanted = ruled.with_reply(&reply, &request.query, &brands);
                let outcome = self.look(&asking, wanted).await?;
                if outcome.fitting.is_empty() {
                    (self.look(&asking, ruled).await?, Err("nothing_found"))
                } else {
                    (outcome, Ok(name))
                }
            }
            Err(why) => (self.look(&asking, ruled).await?, Err(why)),
        };
        let asked = asking.asked.load(Ordering::Relaxed);
        self.0.guard.owe(caller, asked).await;
        Ok(self.answer(&asking, outcome, model))
    }

    /// Looks for what one reading wants.
    async fn look(&self, asking: &Asking<'_>, wanted: Constraints) -> Result<Outcome, CatalogueError> {
        let bounds = asking.bounds(&wanted, &*self.0.catalogue);
        let mut outcome = Outcome {
            bounds,
            fitting: Vec::new(),
            relaxed: Vec::new(),
            left_out: BTreeMap::new(),
            engine: "none".to_owned(),
            release: asking.brands.release().to_owned(),
            wanted,
        };
        let searches = asking.searches(&outcome.wanted, bounds);
        let (mut cards, mut aside) = (Vec::new(), None);
        for search in searches {
            let is_narrow = !search.facets.is_empty();
            let Found {
                cards: found,
                engine,
                release,
                is_loose,
            } = self.0.catalogue.search(search).await?;
            asking.asked.fetch_add(1, Ordering::Relaxed);
            (outcome.engine, outcome.release) = (engine, release);
            if is_narrow && is_loose {
                // Nothing of that colour is the thing itself: what is of another thing comes behind the thing.
                aside = Some(found);
            } else {
                cards.push(found);
                cards.extend(aside.take());
            }
        }
        cards.extend(aside);
        let is_grounded = outcome.wanted.words.as_ref().is_none_or(|words| words.is_grounded);
        let cards = if is_grounded {
            one_after_another(cards)
        } else {
            in_turn(cards)
        };
        self.sift(asking, cards, &mut outcome).await?;
        Ok(outcome)
    }

    /// Keeps the cards of products that keep to everything, as many as are wanted.
    async fn sift(&self, asking: &Asking<'_>, cards: Vec<Card>, outcome: &mut Outcome) -> Result<(), CatalogueError> {
        let unwanted_brands = asking.slugs(&outcome.wanted.unwanted_brands);
        let asked = Asked {
            wanted: &outcome.wanted,
            bounds: outcome.bounds,
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
            match asked.fit(&card, &detail) {
                Ok(fit) => outcome.fitting.push((card, fit)),
                Err(misfit) => {
                    *outcome.left_out.entry(misfit.missed.as_str()).or_default() += 1;
                    outcome.relaxed.extend(misfit.relaxed.map(|fit| (card, fit)));
                }
            }
            if outcome.fitting.len() >= asking.request.limit {
                break;
            }
        }
        Ok(())
    }

    fn answer(&self, asking: &Asking<'_>, outcome: Outcome, model: Result<&str, &'static str>) -> DiscoverAnswer {
        let intent = asking.told(&outcome);
        let Outcome {
            wanted,
            bounds,
            mut fitting,
            mut relaxed,
            left_out,
            engine,
            release,
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
            misses: fit.misses,
            card,
        });
        // The same sentence of the same release has one answer where rules alone read it.
        let as_of = model.is_ok().then(|| self.0.clock.now());
        DiscoverAnswer {
            data: data.collect(),
            provenance: DiscoverProvenance {
                release,
                engine,
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

impl Asking<'_> {
    /// What products may cost. An amount is in the currency that the sentence names, else in the brand's, else in the
    /// market's.
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

    /// The searches that find what is wanted, the surest first; none where nothing can be it.
    fn searches(&self, wanted: &Constraints, bounds: Bounds) -> Vec<SearchFor> {
        let stated = match &self.request.brand {
            Brand::Nothing => return Vec::new(),
            Brand::Known(slug) => Some(slug.clone()),
            Brand::Any => None,
        };
        let read = wanted
            .brand
            .and_then(|at| self.brands.at(at))
            .map(|brand| brand.slug.clone());
        let conflicts = stated
            .as_ref()
            .zip(read.as_ref())
            .is_some_and(|(stated, read)| stated != read);
        if conflicts || bounds.is_empty() {
            return Vec::new();
        }
        let brand = stated.or(read);
        let is_bounded = bounds.min_minor.is_some() || bounds.max_minor.is_some();
        let search = |text: String, facets: Vec<(String, Vec<String>)>| SearchFor {
            text,
            price_min_minor: bounds.min_minor,
            price_max_minor: bounds.max_minor,
            currency: is_bounded.then_some(bounds.currency),
            brand: brand.clone(),
            facets,
        };
        let sentence = text_of_sentence(wanted);
        let mut texts = vec![sentence];
        if let Some(words) = &wanted.words {
            let words = with_unwanted(&words.text, wanted);
            let place = if wanted.words.as_ref().is_some_and(|words| words.is_grounded) {
                0
            } else {
                1
            };
            texts.insert(place, words);
        }
        let facets = facets::of(wanted);
        let mut searches = Vec::new();
        for text in texts {
            if !facets.is_empty() {
                searches.push(search(text.clone(), facets.clone()));
            }
            searches.push(search(text, Vec::new()));
        }
        searches
    }

    fn slugs(&self, places: &[usize]) -> Vec<&str> {
        let brands = places.iter().filter_map(|at| self.brands.at(*at));
        brands.map(|brand| brand.slug.as_str()).collect()
    }

    fn told(&self, outcome: &Outcome) -> DiscoverIntent {
        let wanted = &outcome.wanted;
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
            price_min_minor: outcome.bounds.min_minor,
            price_max_minor: outcome.bounds.max_minor,
            currency: outcome.bounds.currency.as_str().to_owned(),
            colors: wanted.colours.clone(),
            sizes: wanted.sizes.clone(),
            audience: wanted.audience.map(data_understanding::intent::Audience::as_str),
            occasion: wanted.occasion,
            brand: stated.or_else(read),
            unwanted: unwanted.chain(brands.into_iter().map(str::to_owned)).collect(),
        }
    }
}

/// The sentence as a search is asked it: whole where it understands it, else its beginning and what is not wanted.
fn text_of_sentence(wanted: &Constraints) -> String {
    let mut words = wanted.text.split(|char: char| !char.is_alphanumeric() && char != '\'');
    let names_nothing = |word: &str| word.is_empty() || data_understanding::is_of_sentences(&word.to_lowercase());
    if words.all(names_nothing) {
        // `anything under 500`: the best of what passes.
        return String::new();
    }
    if wanted.text.len() <= TEXT_BYTES_MAX {
        return wanted.text.clone();
    }
    let mut text = String::new();
    for word in wanted.text.split_whitespace() {
        if text.len() + word.len() >= TEXT_BYTES_MAX {
            break;
        }
        text.push_str(word);
        text.push(' ');
    }
    text.trim_end().to_owned()
}

/// A model's words, with what is not wanted in words that a search understands.
fn with_unwanted(words: &str, wanted: &Constraints) -> String {
    let mut text = words.to_owned();
    for unwanted in &wanted.unwanted {
        let more = if unwanted.lacking.is_empty() {
            format!(" not {}", unwanted.what)
        } else {
            format!(" without {}", unwanted.what)
        };
        if text.len() + more.len() <= TEXT_BYTES_MAX {
            text.push_str(&more);
        }
    }
    text
}

/// The cards of several searches, each product once: all of the first, then what the next ones have besides.
fn one_after_another(found: Vec<Vec<Card>>) -> Vec<Card> {
    let mut seen = HashSet::new();
    let all = found.into_iter().flatten();
    all.filter(|card| seen.insert(card.id.clone())).collect()
}

/// The same, one of each search in turn.
fn in_turn(found: Vec<Vec<Card>>) -> Vec<Card> {
    let longest = found.iter().map(Vec::len).max().unwrap_or(0);
    let mut lists: Vec<_> = found.into_iter().map(Vec::into_iter).collect();
    let mut all = Vec::new();
    for _ in 0..longest {
        all.push(lists.iter_mut().filter_map(Iterator::next).collect());
    }
    one_after_another(all)
}

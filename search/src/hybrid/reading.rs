//! What a release makes of what was read out of a query.

use data_index::taxonomy;
use data_index::{FacetClause, Filter, Part, Release, RowFilter};
use data_model::{CategoryId, CurrencyCode};
use data_understanding::intent::Audience;
use data_understanding::languages::Translated;
use data_understanding::{Answers, Meaning, Price, Superlative, Understood};

use crate::context::SearchContext;
use crate::lexical::{self, Demanded, DemandedRows, Demands, RowSet, Synonym, Wanted, tier};
use crate::request::PriceBounds;
use crate::told::{Told, ToldFilter};

/// What a query asks for besides words, on one release.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// What was read, as it is told.
    pub(crate) told: Vec<Told>,
    /// The rows that may be found, where something was refused or demanded, and those that stand last.
    pub(crate) met: DemandedRows,
    /// One of these categories, the most usual first; where there is none, any.
    pub(crate) categories: Vec<CategoryId>,
    /// Whether the query says what a thing is for and not which: then its meaning puts what answers it in order.
    pub(crate) is_need: bool,
    /// Words that help to tell what answers it.
    pub(crate) hint: &'static str,
    pub(crate) price: Option<Price>,
    /// For whom it must be made, where that is a child.
    pub(crate) child: Option<Audience>,
    /// The order of what fits best.
    pub(crate) superlative: Option<Superlative>,
    /// The query in English, where it is in another language.
    translated: Option<Translated>,
    /// What stands in the text and is not looked for, since products that have it are left out.
    refused: Vec<String>,
}

/// What a query asks for besides words. A price that may be a name is one where a title has its words, or where `sure`
/// prices alone are wanted.
pub(crate) fn understood(served: &SearchContext, text: &str, sure: bool) -> Understood {
    if sure {
        return data_understanding::read_sure(text, &served.spoken_brands);
    }
    let understood = data_understanding::read(text, &served.spoken_brands);
    let is_name = |part: &data_understanding::Part| {
        let is_unsure = matches!(&part.meaning, Meaning::Price(price) if price.is_unsure);
        is_unsure && lexical::is_name(&served.release, &part.text)
    };
    if understood.parts.iter().any(is_name) {
        data_understanding::read_sure(text, &served.spoken_brands)
    } else {
        understood
    }
}

/// A query in English, where it is in another language and titles do not have its words.
pub(crate) fn in_english(served: &SearchContext, text: &str) -> Option<Translated> {
    Translated::of(text, |word| served.text.count(word) > 0, data_embedding::is_word)
}

/// Whether a text is a title, a code or the name of a brand: then it means that and nothing else.
pub(crate) fn names_whole(served: &SearchContext, text: &str, kind: Option<&Filter>) -> bool {
    let mut wanted = Wanted::best(text);
    wanted.narrowing.kind = kind;
    let found = lexical::search(&served.release, &served.text, &wanted);
    found.hits.first().is_some_and(|hit| hit.tier >= tier::BRAND)
}

impl Reading {
    /// Of what was understood; what a release has nothing for is told without a filter.
    pub(crate) fn of(served: &SearchContext, understood: &Understood) -> Self {
        let mut reading = Self::default();
        let mut demands = Demands::of(&served.release, &served.text, &understood.text);
        for part in &understood.parts {
            let filter = reading.read(served, &mut demands, &part.meaning);
            if matches!(&part.meaning, Meaning::Lacking(lacking) if lacking.is_left) {
                if filter.is_empty() {
                    // Words as others: no title says so.
                    continue;
                }
                if filter.required.is_empty() {
                    reading.refused.push(part.text.clone());
                }
            }
            let is_stated = matches!(part.meaning, Meaning::Lacking(_)) && !filter.required.is_empty();
            let meaning = if is_stated { "required" } else { part.meaning.name() };
            let order = match part.meaning {
                Meaning::Order(order) => Some(order),
                _ => None,
            };
            // The first that is said decides; who asks for the cheapest of the new ones gets the cheapest.
            reading.superlative = reading.superlative.or(order);
            reading.told.push(Told {
                text: part.text.clone(),
                meaning,
                filter,
                order: order.map(Superlative::as_str),
            });
        }
        if let Some(audience) = understood.audience {
            demands.make_for(audience);
            reading.child =
                (!matches!(audience, Audience::Men | Audience::Women | Audience::Unisex)).then_some(audience);
            served.decent().into_iter().for_each(|decent| demands.keep(decent));
        }
        reading.met = demands.finish();
        reading
    }

    fn read(&mut self, served: &SearchContext, demands: &mut Demands<'_>, meaning: &Meaning) -> ToldFilter {
        let mut filter = ToldFilter::default();
        match meaning {
            Meaning::Price(price) => {
                let before = self.price.unwrap_or_default();
                // The narrower of two bounds holds.
                self.price = Some(Price {
                    min: price.min.max(before.min),
                    max: price.max.into_iter().chain(before.max).min(),
                    currency: price.currency.or(before.currency),
                    is_unsure: price.is_unsure || before.is_unsure,
                });
            }
            Meaning::Gift(categories)
            | Meaning::Wear(Answers { categories, .. })
            | Meaning::Need(Answers { categories, .. }) => {
                if let Meaning::Wear(answers) | Meaning::Need(answers) = meaning {
                    (self.is_need, self.hint) = (true, answers.hint);
                }
                let held = categories
                    .iter()
                    .copied()
                    .filter(|id| served.release.category_count(*id) > 0);
                self.categories = held.collect();
                let slugs = self.categories.iter().filter_map(|id| taxonomy::by_id(*id));
                filter.categories = slugs.map(|category| category.slug.as_str()).collect();
            }
            Meaning::OnSale => filter.on_sale = true,
            Meaning::InStock => filter.in_stock = true,
            _ => match demands.add(meaning) {
                Some(Demanded::Required(phrases)) => filter.required = phrases,
                Some(Demanded::Excluded(words)) => filter.excluded = words,
                None => {}
            },
        }
        filter
    }

    /// Takes note of what the query was translated from: what was read is told as it was typed.
    pub(crate) fn take_translated(&mut self, translated: Option<Translated>) {
        if let Some(translated) = &translated {
            for told in &mut self.told {
                told.text = translated.typed(&told.text).to_owned();
            }
        }
        self.translated = translated;
    }

    /// The words of another language that were looked for in English.
    pub(crate) fn translated(&self) -> impl Iterator<Item = Synonym> {
        let words = self.translated.iter().flat_map(Translated::words);
        words.map(|word| Synonym {
            of: word.of.to_owned(),
            to: word.to.to_owned(),
        })
    }

    /// Adds what was read elsewhere, in the order of the whole text.
    pub(crate) fn tell(&mut self, told: Told, text: &str) {
        self.told.push(told);
        self.told.sort_by_key(|told| text.find(told.text.as_str()));
    }

    /// The text that is left to be looked for.
    pub(crate) fn text(&self, understood: Understood) -> String {
        if self.refused.is_empty() {
            return understood.text;
        }
        let without = |text: String, part: &String| text.replacen(part.as_str(), " ", 1);
        let text = self.refused.iter().fold(understood.text, without);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The bounds of the price that was read, in minor units, and what they are in; and tells them.
    pub(crate) fn price_in(&mut self, currency: CurrencyCode) -> Option<PriceBounds> {
        let price = self.price?;
        let unit = 10_u64.pow(currency.exponent());
        let minor = |hundredths: u64| i64::try_from(hundredths.saturating_mul(unit) / 100).ok();
        let (min, max) = (price.min.and_then(minor), price.max.and_then(minor));
        let bounds = PriceBounds::new(min, max)?;
        for told in self.told.iter_mut().filter(|told| told.meaning == "price") {
            told.filter = ToldFilter {
                price_min: min,
                price_max: max,
                currency: Some(currency.as_str().to_owned()),
                ..ToldFilter::default()
            };
        }
        Some(bounds)
    }

    /// Whether it must be marked down, and whether it must be in stock.
    pub(crate) fn states(&self) -> (bool, bool) {
        let filters = || self.told.iter().map(|told| &told.filter);
        (
            filters().any(|filter| filter.on_sale),
            filters().any(|filter| filter.in_stock),
        )
    }

    /// Whether the release has products of the kinds of thing that were read.
    pub(crate) const fn has_kinds(&self) -> bool {
        !self.categories.is_empty()
    }

    /// Lets go of the kinds of thing that were read; answers the words that they were read from.
    pub(crate) fn forget_kinds(&mut self) -> String {
        (self.is_need, self.categories) = (false, Vec::new());
        let (kinds, others) = std::mem::take(&mut self.told).into_iter().partition(Told::is_of_kinds);
        self.told = others;
        let words: Vec<String> = Vec::<Told>::into_iter(kinds).map(|told| told.text).collect();
        words.join(" ")
    }

    /// What is meant, without the words that only ask for it.
    pub(crate) fn sense(&self) -> String {
        let told = self
            .told
            .iter()
            .filter(|told| matches!(told.meaning, "need" | "occasion"));
        let words: Vec<&str> = told.map(|told| told.text.as_str()).chain([self.hint]).collect();
        words.join(" ")
    }

    /// That it is of one of the categories, where any was read.
    pub(crate) fn category_clause(&self) -> Option<FacetClause> {
        let slugs = self.categories.iter().filter_map(|id| taxonomy::by_id(*id));
        let values: Vec<String> = slugs.map(|category| category.slug.clone()).collect();
        (!values.is_empty()).then(|| FacetClause {
            name: "category".to_owned(),
            values,
        })
    }

    /// The rows of each part that are of one of the categories.
    pub(crate) fn rows_of_kinds(&self, release: &Release) -> Vec<RowSet> {
        let of_part = |part: &Part| {
            let facets = part.facets();
            let mut rows = RowSet::none(part.rows());
            let codes = self
                .categories
                .iter()
                .filter_map(|id| facets.code("category", &id.to_string()));
            codes
                .flat_map(|code| facets.rows(code))
                .for_each(|row| rows.insert(row));
            rows
        };
        release.parts().iter().map(of_part).collect()
    }

    /// The filter for each category in turn, beside what else is filtered by.
    pub(crate) fn turns(&self, served: &SearchContext, others: &RowFilter) -> Vec<Filter> {
        let of_one = |category: &CategoryId| {
            served.release.filter(&RowFilter {
                category: Some(*category),
                ..others.clone()
            })
        };
        self.categories.iter().map(of_one).collect()
    }
}

//! Interpretation of a parsed query on a release.

use data_index::taxonomy;
use data_index::{FacetClause, Filter, Part, Release, RowFilter};
use data_model::{CategoryId, CurrencyCode};
use data_understanding::intent::Audience;
use data_understanding::languages::TranslatedQuery;
use data_understanding::{Answers, Meaning, ParsedQuery, Price, Superlative};

use crate::context::SearchContext;
use crate::lexical::{self, ConstrainedRows, Constraint, Constraints, LexicalQuery, RowSet, Synonym, tier};
use crate::phrase::{PhraseFilter, PhraseReading};
use crate::request::PriceBounds;

/// Constraints and preferences of a query besides its words, resolved on one release.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Interpreted phrases for the response.
    pub(crate) phrases: Vec<PhraseReading>,
    /// Rows that the query's exclusions and requirements allow, and those that are ranked last.
    pub(crate) constrained: ConstrainedRows,
    /// Accepted categories, most usual first. Any category is accepted if the list is empty.
    pub(crate) categories: Vec<CategoryId>,
    /// True if the query states a purpose and no product. Its meaning then orders the products.
    pub(crate) is_need: bool,
    /// True for a question or a long sentence.
    pub(crate) is_sentence: bool,
    /// Additional words that find products for the need.
    pub(crate) hint: &'static str,
    pub(crate) price: Option<Price>,
    /// Audience of a product for children.
    pub(crate) child: Option<Audience>,
    /// Superlative that sorts the best fitting products.
    pub(crate) superlative: Option<Superlative>,
    /// English translation of a query in another language.
    translated: Option<TranslatedQuery>,
    /// Words that are not searched for, because products with them are excluded.
    refused: Vec<String>,
}

/// A possible price counts as a name if a title has its words, or if `sure` is true.
pub(crate) fn understood(served: &SearchContext, text: &str, sure: bool) -> ParsedQuery {
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

/// Returns `None` for an English query, or if titles have its words.
pub(crate) fn in_english(served: &SearchContext, text: &str) -> Option<TranslatedQuery> {
    TranslatedQuery::of(text, |word| served.text.count(word) > 0, data_embedding::is_word)
}

/// Returns true if the whole text is a title, a code or a brand name, which is not interpreted further.
pub(crate) fn names_whole(served: &SearchContext, text: &str, kind: Option<&Filter>) -> bool {
    let mut wanted = LexicalQuery::best(text);
    wanted.narrowing.kind = kind;
    let found = lexical::search(&served.release, &served.text, &wanted);
    found.hits.first().is_some_and(|hit| hit.tier >= tier::BRAND)
}

impl Reading {
    /// A phrase that applies to no product of the release is reported without a filter.
    pub(crate) fn of(served: &SearchContext, understood: &ParsedQuery) -> Self {
        let mut reading = Self {
            is_sentence: understood.is_sentence,
            ..Self::default()
        };
        let mut constraints = Constraints::of(&served.release, &served.text, &understood.text);
        for part in &understood.parts {
            let filter = reading.read(served, &mut constraints, &part.meaning);
            if matches!(&part.meaning, Meaning::Lacking(lacking) if lacking.is_left) {
                if filter.is_empty() {
                    // No title states the absence, so that the words are searched like others.
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
            // The first superlative decides the order. `cheapest new` sorts by price.
            reading.superlative = reading.superlative.or(order);
            reading.phrases.push(PhraseReading {
                text: part.text.clone(),
                meaning,
                filter,
                order: order.map(Superlative::as_str),
            });
        }
        if let Some(audience) = understood.audience {
            constraints.make_for(audience);
            reading.child =
                (!matches!(audience, Audience::Men | Audience::Women | Audience::Unisex)).then_some(audience);
            if understood.is_for_somebody() || reading.child.is_some() {
                served.safe_rows().into_iter().for_each(|safe| constraints.keep(safe));
            }
        }
        reading.constrained = constraints.finish();
        reading
    }

    fn read(&mut self, served: &SearchContext, constraints: &mut Constraints<'_>, meaning: &Meaning) -> PhraseFilter {
        let mut filter = PhraseFilter::default();
        match meaning {
            Meaning::Price(price) => {
                let before = self.price.unwrap_or_default();
                // The narrower of two bounds applies.
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
            _ => match constraints.add(meaning) {
                Some(Constraint::Required(phrases)) => filter.required = phrases,
                Some(Constraint::Excluded(words)) => filter.excluded = words,
                None => {}
            },
        }
        filter
    }

    /// Reports the phrases as typed.
    pub(crate) fn take_translated(&mut self, translated: Option<TranslatedQuery>) {
        if let Some(translated) = &translated {
            for phrase in &mut self.phrases {
                phrase.text = translated.typed(&phrase.text).to_owned();
            }
        }
        self.translated = translated;
    }

    /// Returns the foreign words that were searched in English.
    pub(crate) fn translated(&self) -> impl Iterator<Item = Synonym> {
        let words = self.translated.iter().flat_map(TranslatedQuery::words);
        words.map(|word| Synonym {
            of: word.of.to_owned(),
            to: word.to.to_owned(),
        })
    }

    /// Adds a phrase from elsewhere, in the order of the whole text.
    pub(crate) fn tell(&mut self, phrase: PhraseReading, text: &str) {
        self.phrases.push(phrase);
        self.phrases.sort_by_key(|phrase| text.find(phrase.text.as_str()));
    }

    /// Returns the remaining text to be searched.
    pub(crate) fn text(&self, understood: ParsedQuery) -> String {
        if self.refused.is_empty() {
            return understood.text;
        }
        let without = |text: String, part: &String| text.replacen(part.as_str(), " ", 1);
        let text = self.refused.iter().fold(understood.text, without);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the price bounds in minor units of a currency, and records them in the price's phrase.
    pub(crate) fn price_in(&mut self, currency: CurrencyCode) -> Option<PriceBounds> {
        let price = self.price?;
        let unit = 10_u64.pow(currency.exponent());
        let minor = |thousandths: u64| i64::try_from(thousandths.saturating_mul(unit) / 1_000).ok();
        let (min, max) = (price.min.and_then(minor), price.max.and_then(minor));
        let bounds = PriceBounds::new(min, max)?;
        for phrase in self.phrases.iter_mut().filter(|phrase| phrase.meaning == "price") {
            phrase.filter = PhraseFilter {
                price_min: min,
                price_max: max,
                currency: Some(currency.as_str().to_owned()),
                ..PhraseFilter::default()
            };
        }
        Some(bounds)
    }

    /// Returns true for a query for marked-down products, and true for a query for products in stock.
    pub(crate) fn states(&self) -> (bool, bool) {
        let filters = || self.phrases.iter().map(|phrase| &phrase.filter);
        (
            filters().any(|filter| filter.on_sale),
            filters().any(|filter| filter.in_stock),
        )
    }

    /// Returns true if the release has products in the categories that were read.
    pub(crate) const fn has_kinds(&self) -> bool {
        !self.categories.is_empty()
    }

    /// Drops the categories that were read, and returns their words.
    pub(crate) fn forget_kinds(&mut self) -> String {
        (self.is_need, self.categories) = (false, Vec::new());
        let (kinds, others) = std::mem::take(&mut self.phrases)
            .into_iter()
            .partition(PhraseReading::is_of_kinds);
        self.phrases = others;
        let words: Vec<String> = Vec::<PhraseReading>::into_iter(kinds)
            .map(|phrase| phrase.text)
            .collect();
        words.join(" ")
    }

    /// Returns the words of the recipient that were left out of the text.
    pub(crate) fn people(&self) -> String {
        let people = self.phrases.iter().filter(|phrase| phrase.meaning == "recipient");
        people.map(|phrase| phrase.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the text of the need, without words that only form the question.
    pub(crate) fn need(&self) -> String {
        let needs = self
            .phrases
            .iter()
            .filter(|phrase| matches!(phrase.meaning, "need" | "occasion"));
        let words: Vec<&str> = needs.map(|phrase| phrase.text.as_str()).collect();
        words.join(" ")
    }

    /// Returns the text of the need with the words that find products for it.
    pub(crate) fn sense(&self) -> String {
        format!("{} {}", self.need(), self.hint)
    }

    /// Returns `None` if no categories were read.
    pub(crate) fn category_clause(&self) -> Option<FacetClause> {
        let slugs = self.categories.iter().filter_map(|id| taxonomy::by_id(*id));
        let values: Vec<String> = slugs.map(|category| category.slug.clone()).collect();
        (!values.is_empty()).then(|| FacetClause {
            name: "category".to_owned(),
            values,
        })
    }

    /// Returns the rows of each part in any of the categories.
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

    /// Returns one filter per category, combined with all other filters.
    pub(crate) fn kind_filters(&self, served: &SearchContext, others: &RowFilter) -> Vec<Filter> {
        let of_one = |category: &CategoryId| {
            served.release.filter(&RowFilter {
                category: Some(*category),
                ..others.clone()
            })
        };
        self.categories.iter().map(of_one).collect()
    }
}

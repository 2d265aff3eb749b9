use data_index::FacetClause;
use data_index::columns::fold_name;
use data_understanding::intent::{said_sizes, size_values};

use crate::phrase::{PhraseFilter, PhraseReading};
use crate::request::{FacetFilter, Mode, SearchRequest, Text};

/// The facet of sizes.
const SIZE: &str = "size";

/// Another way to understand a request: taken where no product has every word of it as it was understood before.
#[derive(Debug)]
pub(super) struct Fallback {
    pub(super) request: SearchRequest,
    /// The reading of its text that made it.
    pub(super) phrase: Option<PhraseReading>,
    /// True where prices alone are read that can be nothing else.
    pub(super) is_sure: bool,
}

/// A search for words and a size, where no product has all of its words: stores state sizes as options, in words of
/// their own.
#[derive(Debug)]
pub(super) struct SizeSearch {
    request: SearchRequest,
    facets: Option<FacetFilter>,
    phrase: PhraseReading,
}

impl SizeSearch {
    /// The same of a request whose text is read and names a size.
    pub(super) fn of(request: &SearchRequest) -> Option<Self> {
        if request.mode != Mode::Hybrid || request.as_typed {
            return None;
        }
        let said = said_sizes(request.text.as_str())?;
        let mut values: Vec<String> = said.sizes.iter().flat_map(|size| size_values(size)).collect();
        values.truncate(FacetFilter::VALUES_MAX);
        let mut clauses: Vec<FacetClause> = request.filters.facets.clauses().cloned().collect();
        // A size of the request itself goes before one of the text.
        let is_stated = clauses.iter().any(|clause| fold_name(&clause.name) == SIZE);
        clauses.push(FacetClause {
            name: SIZE.to_owned(),
            values,
        });
        Some(Self {
            request: SearchRequest {
                text: Text::new(said.left)?,
                ..request.clone()
            },
            facets: FacetFilter::new(clauses).filter(|_| !is_stated),
            phrase: PhraseReading {
                text: said.text,
                meaning: SIZE,
                filter: PhraseFilter {
                    sizes: said.sizes,
                    ..PhraseFilter::default()
                },
                order: None,
            },
        })
    }

    /// The requests to try in turn: the other words among the products that state the size, then the other words alone.
    pub(super) fn fallbacks(self) -> impl Iterator<Item = Fallback> {
        let Self {
            request,
            facets,
            phrase,
        } = self;
        let unstated = PhraseReading {
            filter: PhraseFilter::default(),
            ..phrase.clone()
        };
        let narrow = facets.map(|facets| {
            let mut narrow = request.clone();
            narrow.filters.facets = facets;
            Fallback {
                request: narrow,
                phrase: Some(phrase),
                is_sure: false,
            }
        });
        let wide = Fallback {
            request,
            phrase: Some(unstated),
            is_sure: false,
        };
        narrow.into_iter().chain([wide])
    }
}

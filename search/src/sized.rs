use data_index::FacetClause;
use data_index::columns::fold_name;
use data_understanding::intent::{said_sizes, size_values};

use crate::request::{FacetFilter, Mode, SearchRequest, Text};
use crate::told::{Told, ToldFilter};

/// The facet of sizes.
const SIZE: &str = "size";

/// What a search for words and a size asks for where no product has all of its words: stores state sizes as options, in
/// words of their own.
#[derive(Debug)]
pub(super) struct Sized {
    request: SearchRequest,
    facets: Option<FacetFilter>,
    told: Told,
}

impl Sized {
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
            told: Told {
                text: said.text,
                meaning: SIZE,
                filter: ToldFilter {
                    sizes: said.sizes,
                    ..ToldFilter::default()
                },
                order: None,
            },
        })
    }

    /// What to try in turn: the other words among what states the size, then the other words alone.
    pub(super) fn tries(self) -> impl Iterator<Item = (SearchRequest, Told)> {
        let Self { request, facets, told } = self;
        let unstated = Told {
            filter: ToldFilter::default(),
            ..told.clone()
        };
        let narrow = facets.map(|facets| {
            let mut narrow = request.clone();
            narrow.filters.facets = facets;
            (narrow, told)
        });
        narrow.into_iter().chain([(request, unstated)])
    }
}

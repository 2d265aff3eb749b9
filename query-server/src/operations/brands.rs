use std::sync::Arc;

use api::{Asset, EntityTag};
use data_index::BrandEntry;
use data_index::taxonomy::{self, Category};
use data_model::{Brand, CategoryId};
use data_text::letters_of;

use super::{Answer, Conditional, IfNoneMatch, Limit, OperationError, ParsedName, Text};
use crate::cursor::{Cursor, Cursors};
use crate::render::{brand, json};
use crate::server::QueryServer;

/// Request for one page of brands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct BrandsRequest {
    /// Text to find in name, slug and domain; empty for all brands.
    pub text: Text<200>,
    /// Category in which, or below which, brands must have a product.
    pub category: Option<ParsedName<CategoryId>>,
    /// Maximum number of brands on the page.
    pub limit: Limit<50, 100>,
    /// End of the previous page; see [`QueryServer::cursor`].
    pub cursor: Option<Cursor>,
}

/// Parsed text of a brand search.
#[derive(Debug)]
struct BrandQuery {
    text: String,
    /// Letters and digits of the text, without accents.
    letters: String,
}

impl BrandQuery {
    fn of(text: &str) -> Self {
        let text = text.trim().to_lowercase();
        Self {
            letters: letters_of(&text).into_owned(),
            text,
        }
    }

    /// True if the brand's name, slug or domain contains each word. Accents and word breaks are ignored.
    fn is_found_in(&self, brand: &Brand) -> bool {
        let has = |sought: &Self| {
            brand.name.to_lowercase().contains(&sought.text)
                || brand.slug.as_str().contains(&sought.text)
                || brand.domain.contains(&sought.text)
                || (!sought.letters.is_empty() && letters_of(&brand.name).contains(&sought.letters))
        };
        has(self) || self.text.split_whitespace().map(Self::of).all(|word| has(&word))
    }
}

impl QueryServer {
    /// Returns one page of brands, those with most products first.
    ///
    /// # Errors
    /// `CategoryNotFound`, `ForeignCursor`, `ExpiredCursor`, `NotReady`.
    pub fn brands(&self, request: &BrandsRequest) -> Result<Answer, OperationError> {
        self.brands_unless(request, IfNoneMatch::NOTHING)?.whole()
    }

    pub(crate) fn brands_unless(
        &self,
        request: &BrandsRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let key = &self.0.config.cursor_key;
        let served = self.served()?;
        let checked = served.checked.load_full();
        let is_head = *request == BrandsRequest::default();
        if let Some(head) = checked.made_brands_head().filter(|_| is_head) {
            return Ok(Conditional::Answer(Answer::constant(head)));
        }
        let category = category(request.category)?;
        let slug = category.map_or("", |category| &category.slug);
        let sought = BrandQuery::of(request.text.as_str());
        let list: [&[u8]; 3] = [b"brands", sought.text.as_bytes(), slug.as_bytes()];
        let cursors = Cursors::new(key, served.stamp(), &list);
        let start = match &request.cursor {
            Some(cursor) => cursors.position(cursor)?,
            None => 0,
        };
        let page = || {
            let mut matching = served
                .brands_by_size()
                .filter(|entry| sought.is_found_in(&entry.facts.brand) && is_filed_under(category, entry))
                .skip(start);
            let page: Vec<&BrandEntry> = matching.by_ref().take(request.limit.get()).collect();
            let end = start + page.len();
            let next_cursor = matching.next().map(|_| cursors.write(end));
            json(
                page.len() * 1024 + 128,
                &brand::page(&served, &checked.checks, &page, next_cursor),
            )
        };
        // The answer contains a signed cursor, so its tag depends on the signing key.
        let tag = EntityTag::following(&[served.stamp(), checked.stamp(), b"brands", key.bytes()], request);
        if is_head {
            let head = checked.brands_head(|| Arc::new(Asset::graph(tag, page())));
            return Ok(Conditional::Answer(Answer::constant(head)));
        }
        Conditional::known(known, tag, || Ok(page()))
    }
}

fn category(named: Option<ParsedName<CategoryId>>) -> Result<Option<&'static Category>, OperationError> {
    let Some(named) = named else { return Ok(None) };
    let category = named.known().and_then(|id| taxonomy::by_id(*id));
    category.map(Some).ok_or(OperationError::CategoryNotFound)
}

fn is_filed_under(category: Option<&Category>, entry: &BrandEntry) -> bool {
    category.is_none_or(|wanted| {
        entry
            .categories
            .iter()
            .any(|held| taxonomy::lineage(held.category).any(|above| above.id == wanted.id))
    })
}

use api::{PathParameters, Problem, QueryReader};
use data_index::taxonomy::{self, Category};
use data_index::text::letters_of;
use data_model::{Brand, ErrorCode};

use super::cursor;
use crate::config::CursorKey;
use crate::cursor::Cursor;

/// A request for a page of brands, its parameters checked.
#[derive(Debug)]
pub(crate) struct BrandsPlan {
    pub(crate) text: String,
    /// Its letters and digits, without accents.
    letters: String,
    /// `Some(None)` for a category that the taxonomy does not have.
    category: Option<Option<&'static Category>>,
    pub(crate) limit: usize,
    /// Signed by this server; whether it is of this list only the release tells.
    pub(crate) cursor: Option<Cursor>,
}

impl BrandsPlan {
    /// Reads the parameters of `GET /v1/brands`.
    pub(crate) fn read(query: Option<&str>, key: &CursorKey) -> Result<Self, Problem> {
        let mut reader = QueryReader::new(query);
        let text = reader.text("q", 200).unwrap_or_default().trim().to_lowercase();
        let category = reader
            .text("category", 200)
            .filter(|text| !text.is_empty())
            .map(|text| taxonomy::by_slug_or_id(&text));
        let limit = reader
            .integer("limit", 1..=100)
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(50);
        let cursor = cursor::read(&mut reader, key);
        reader.finish(
            PathParameters::none(),
            Self {
                letters: letters_of(&text).into_owned(),
                text,
                category,
                limit,
                cursor,
            },
        )
    }

    /// Whether a brand's name, slug or domain has the text, its name however it is accented or cut into words.
    pub(crate) fn is_found_in(&self, brand: &Brand) -> bool {
        brand.name.to_lowercase().contains(&self.text)
            || brand.slug.as_str().contains(&self.text)
            || brand.domain.contains(&self.text)
            || (!self.letters.is_empty() && letters_of(&brand.name).contains(&self.letters))
    }

    /// The category that brands must have a product in.
    ///
    /// # Errors
    /// 404 for one that the taxonomy does not have.
    pub(crate) fn category(&self) -> Result<Option<&'static Category>, Problem> {
        match self.category {
            Some(None) => Err(Problem::new(ErrorCode::CategoryNotFound)),
            Some(known) => Ok(known),
            None => Ok(None),
        }
    }
}

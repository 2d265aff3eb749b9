use api::{JsonObject, MembersReader, Problem, Rule};
use serde_json::Value;

use crate::rules::MINOR_MAX;
use crate::rules::criteria::Brand;

/// Maximum length of a sentence, in characters.
const QUERY_CHARS_MAX: usize = 512;
const CONTEXT_CHARS_MAX: usize = 2_000;
const BRAND_CHARS_MAX: usize = 200;
/// Maximum number of products in a response.
pub(crate) const LIMIT_MAX: usize = 40;
const LIMIT_DEFAULT: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiscoverRequest {
    /// Sentence of the buyer.
    pub(crate) query: String,
    /// More text about the buyer, which fills gaps in the sentence.
    pub(crate) context: String,
    pub(crate) budget_max_minor: Option<i64>,
    pub(crate) brand: Brand,
    pub(crate) limit: usize,
    /// `true` to interpret the sentence, `false` to search for its words.
    pub(crate) understand: bool,
}

impl DiscoverRequest {
    pub(crate) fn read(body: &JsonObject) -> Result<Self, Problem> {
        let mut reader = MembersReader::new(body);
        let query = reader.required("query").parsed(|text| {
            let chars = text.chars().count();
            if text.trim().is_empty() {
                Err(Rule::StringTooShort(1))
            } else if chars > QUERY_CHARS_MAX {
                Err(Rule::StringTooLong(QUERY_CHARS_MAX))
            } else {
                Ok(text.trim().to_owned())
            }
        });
        let brand = reader.optional("brand").text(BRAND_CHARS_MAX);
        let brand = brand.filter(|text| !text.is_empty());
        let brand = brand.map_or(Brand::Any, |text| text.parse().map_or(Brand::Nothing, Brand::Known));
        let budget_max_minor = reader.optional("budget_max_minor").minor(0..=MINOR_MAX);
        let limit = reader.optional("limit").integer(1..=LIMIT_MAX as i64);
        let understand = understand(&mut reader, body);
        let context = context(&mut reader, body);
        let limit = limit
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(LIMIT_DEFAULT);
        let query = query.unwrap_or_default();
        reader.finish(Self {
            query,
            context,
            budget_max_minor,
            brand,
            limit,
            understand,
        })
    }
}

/// Reads the field `understand`, which is `true` by default.
fn understand(reader: &mut MembersReader<'_>, body: &JsonObject) -> bool {
    match body.0.get("understand") {
        None | Some(Value::Null) => true,
        Some(Value::Bool(flag)) => *flag,
        Some(other) => {
            reader.refuse("understand", &Rule::BoolType, Some(other.clone()));
            true
        }
    }
}

/// Reads the field `context`: a text, or an object whose texts are used.
fn context(reader: &mut MembersReader<'_>, body: &JsonObject) -> String {
    let text = match body.0.get("context") {
        None | Some(Value::Null) => return String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(members)) => {
            let texts: Vec<&str> = members.values().filter_map(Value::as_str).collect();
            return texts.join(". ").chars().take(CONTEXT_CHARS_MAX).collect();
        }
        Some(other) => {
            reader.refuse("context", &Rule::StringType, Some(other.clone()));
            return String::new();
        }
    };
    if text.chars().count() > CONTEXT_CHARS_MAX {
        reader.refuse("context", &Rule::StringTooLong(CONTEXT_CHARS_MAX), Some(text.into()));
        return String::new();
    }
    text
}

use std::borrow::Cow;

use percent_encoding::percent_decode;
use serde_json::{Map, Value};

/// A value as it was sent.
#[derive(Debug, Clone, Copy)]
pub enum Raw<'a> {
    /// A value from a query string, still percent-encoded.
    Text(&'a [u8]),
    /// A value from a JSON body.
    Json(&'a Value),
}

impl Raw<'_> {
    pub(super) fn is_null(self) -> bool {
        matches!(self, Self::Json(Value::Null))
    }

    pub(super) fn is_empty(self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Json(value) => value.as_str() == Some(""),
        }
    }
}

/// A source of named values: [`QueryString`] or [`Members`].
pub trait ParameterSource<'a>: sealed::Seal {
    /// First element of the paths to faults.
    const PART: &'static str;

    /// Returns the value with this name.
    fn find(&mut self, name: &'static str) -> Option<Raw<'a>>;
}

mod sealed {
    pub trait Seal {}
    impl Seal for super::QueryString<'_> {}
    impl Seal for super::Members<'_> {}
}

/// The parameters of a query string.
#[derive(Debug)]
pub struct QueryString<'a> {
    pairs: Vec<(Cow<'a, [u8]>, &'a [u8])>,
    /// Names that were read.
    pub(super) asked: Vec<&'static str>,
}

impl<'a> QueryString<'a> {
    pub(super) fn new(query: Option<&'a str>) -> Self {
        let pairs = query
            .unwrap_or_default()
            .as_bytes()
            .split(|byte| *byte == b'&')
            .filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let end = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            (unescape(&pair[..end]), pair.get(end + 1..).unwrap_or_default())
        });
        Self {
            pairs: pairs.collect(),
            asked: Vec::new(),
        }
    }

    pub(super) fn names(&self) -> Vec<Cow<'_, str>> {
        self.pairs
            .iter()
            .map(|(name, _)| String::from_utf8_lossy(name))
            .collect()
    }

    /// Returns all values of these names, in query order.
    pub(super) fn all(&mut self, names: &[&'static str]) -> Vec<(&'static str, Raw<'a>)> {
        self.asked.extend(names);
        let named = |(key, raw): &(Cow<'a, [u8]>, &'a [u8])| {
            let name = names.iter().find(|name| key.as_ref() == name.as_bytes())?;
            Some((*name, Raw::Text(raw)))
        };
        self.pairs.iter().filter_map(named).collect()
    }
}

impl<'a> ParameterSource<'a> for QueryString<'a> {
    const PART: &'static str = "query";

    fn find(&mut self, name: &'static str) -> Option<Raw<'a>> {
        self.asked.push(name);
        let mut latest_first = self.pairs.iter().rev();
        let found = latest_first.find(|(key, _)| key.as_ref() == name.as_bytes());
        found.map(|(_, raw)| Raw::Text(raw))
    }
}

/// The fields of a JSON object.
#[derive(Debug)]
pub struct Members<'a>(pub(super) &'a Map<String, Value>);

impl<'a> ParameterSource<'a> for Members<'a> {
    const PART: &'static str = "body";

    fn find(&mut self, name: &'static str) -> Option<Raw<'a>> {
        self.0.get(name).map(Raw::Json)
    }
}

/// Decodes the escapes of `application/x-www-form-urlencoded`.
pub(super) fn unescape(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.iter().any(|byte| matches!(byte, b'+' | b'%')) {
        return Cow::Borrowed(raw);
    }
    let spaced: Vec<u8> = raw
        .iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect();
    Cow::Owned(percent_decode(&spaced).collect())
}

pub(super) fn utf8(bytes: Cow<'_, [u8]>) -> Option<Cow<'_, str>> {
    match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).ok(),
        Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).ok(),
    }
}

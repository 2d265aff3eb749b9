use std::fmt;
use std::sync::Arc;

use api::{Asset, EntityTag, IgnoredParameter};
use bytes::Bytes;

use super::OperationError;
use crate::render::TIER_END;

/// Answer of an operation: the API envelope (`data`, `provenance`, `tier`) as JSON. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Answer(Form);

/// Stored form of a response body.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// Answer that is built once and is the same for everyone.
    Constant(Arc<Asset>),
    /// Answer built for one request.
    Made { tag: EntityTag, json: Bytes },
}

impl Answer {
    pub(super) fn made(tag: EntityTag, json: Vec<u8>) -> Self {
        let json = json.into();
        Self(Form::Made { tag, json })
    }

    pub(super) fn constant(constant: &Arc<Asset>) -> Self {
        Self(Form::Constant(Arc::clone(constant)))
    }

    /// Returns the whole envelope as JSON.
    #[must_use]
    pub fn as_json(&self) -> Bytes {
        self.json().clone()
    }

    /// Returns the whole envelope with the ignored request parameters in `provenance`.
    pub(crate) fn ignoring(&self, ignored: &[IgnoredParameter]) -> Bytes {
        let json = self.json();
        let end = json.len().saturating_sub(TIER_END.len() + 1);
        let (before, after) = json.split_at(end);
        // Serialising plain strings cannot fail.
        let names = serde_json::to_vec(ignored).unwrap_or_default();
        [before, b",\"ignored\":", &names, after].concat().into()
    }

    /// Returns the entity tag of this answer, which depends on the release and the request.
    #[must_use]
    pub fn tag(&self) -> &EntityTag {
        match &self.0 {
            Form::Constant(constant) => constant.tag(),
            Form::Made { tag, .. } => tag,
        }
    }

    pub(crate) fn into_form(self) -> Form {
        self.0
    }

    fn json(&self) -> &Bytes {
        match &self.0 {
            Form::Constant(constant) => constant.bytes(),
            Form::Made { json, .. } => json,
        }
    }
}

/// Entity tags of the answers that the caller already has.
#[derive(Clone, Copy)]
pub(crate) struct IfNoneMatch<'a>(Option<&'a (dyn Fn(&EntityTag) -> bool + Sync)>);

impl<'a> IfNoneMatch<'a> {
    /// Empty set of entity tags.
    pub(crate) const NOTHING: Self = Self(None);

    /// Creates a set of the tags for which `is_known` returns true.
    pub(crate) fn by(is_known: &'a (dyn Fn(&EntityTag) -> bool + Sync)) -> Self {
        Self(Some(is_known))
    }

    pub(super) fn has(self, tag: &EntityTag) -> bool {
        self.0.is_some_and(|is_known| is_known(tag))
    }
}

impl fmt::Debug for IfNoneMatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IfNoneMatch(…)")
    }
}

/// Response, or a note that the caller's copy is current. In the second case no response is built.
#[derive(Debug)]
pub(crate) enum Conditional {
    /// The caller's copy is still current.
    NotModified(EntityTag),
    /// The caller has no current copy.
    Answer(Answer),
}

impl Conditional {
    /// Returns the answer with this tag. `make` is called only if the caller does not have the answer.
    pub(super) fn known(
        known: IfNoneMatch<'_>,
        tag: EntityTag,
        make: impl FnOnce() -> Result<Vec<u8>, OperationError>,
    ) -> Result<Self, OperationError> {
        if known.has(&tag) {
            return Ok(Self::NotModified(tag));
        }
        Ok(Self::Answer(Answer::made(tag, make()?)))
    }

    /// Returns the complete response to a request with [`IfNoneMatch::NOTHING`].
    pub(super) fn whole(self) -> Result<Answer, OperationError> {
        match self {
            Self::Answer(answer) => Ok(answer),
            Self::NotModified(tag) => {
                tracing::error!(tag = ?tag.header(), "an answer is `not modified` although the request sent no tags");
                Err(OperationError::Internal)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_caller_has_is_not_made_again() {
        let tag = EntityTag::of(&[b"r1"]);
        let other = EntityTag::of(&[b"r2"]);
        let has = |known: &EntityTag| *known == tag;
        let unless = Conditional::known(IfNoneMatch::by(&has), tag.clone(), || panic!("made"));
        assert!(matches!(unless, Ok(Conditional::NotModified(known)) if known == tag));
        for (known, tag) in [(IfNoneMatch::by(&has), other), (IfNoneMatch::NOTHING, tag.clone())] {
            let whole = Conditional::known(known, tag.clone(), || Ok(Vec::new())).and_then(Conditional::whole);
            assert_eq!(whole.unwrap().tag(), &tag);
        }
    }
}

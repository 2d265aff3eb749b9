use std::fmt;
use std::sync::Arc;

use api::{Asset, EntityTag, IgnoredParameter};
use bytes::Bytes;

use super::OperationError;
use crate::render::TIER_END;

/// The answer of an operation: the contract's envelope (`data`, `provenance`, `tier`), written as JSON. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Answer(Form);

/// An answer made once for everyone, or for one request.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// The same for everyone, made once.
    Constant(Arc<Asset>),
    /// Made for one request.
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

    /// The whole envelope.
    #[must_use]
    pub fn as_json(&self) -> Bytes {
        self.json().clone()
    }

    /// The whole envelope, whose `provenance` also names what of the request was ignored.
    pub(crate) fn ignoring(&self, ignored: &[IgnoredParameter]) -> Bytes {
        let json = self.json();
        let end = json.len().saturating_sub(TIER_END.len() + 1);
        let (before, after) = json.split_at(end);
        // Texts alone, which JSON can hold.
        let names = serde_json::to_vec(ignored).unwrap_or_default();
        [before, b",\"ignored\":", &names, after].concat().into()
    }

    /// The mark that distinguishes this answer: it follows from the release and the request.
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

/// The tags of the answers that the caller has already.
#[derive(Clone, Copy)]
pub(crate) struct IfNoneMatch<'a>(Option<&'a (dyn Fn(&EntityTag) -> bool + Sync)>);

impl<'a> IfNoneMatch<'a> {
    /// None at all.
    pub(crate) const NOTHING: Self = Self(None);

    /// Those of which `is_known` says so.
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

/// An answer, unless the caller has it already: then it is not even made.
#[derive(Debug)]
pub(crate) enum Conditional {
    /// The caller's copy is still right.
    NotModified(EntityTag),
    /// The caller has no copy that is right.
    Answer(Answer),
}

impl Conditional {
    /// The answer with this tag, which `make` makes when the caller does not have it.
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

    /// The answer to a caller who has [`IfNoneMatch::NOTHING`].
    pub(super) fn whole(self) -> Result<Answer, OperationError> {
        match self {
            Self::Answer(answer) => Ok(answer),
            Self::NotModified(tag) => {
                tracing::error!(tag = ?tag.header(), "an answer was taken for known by one who knows none");
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

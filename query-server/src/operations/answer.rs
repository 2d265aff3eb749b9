use std::fmt;
use std::sync::Arc;

use api::{Asset, EntityTag, IgnoredParameter};
use bytes::Bytes;

use super::OperationError;
use crate::render::{DATA_START, PROVENANCE_NAME, TIER_END, Written};

/// What an operation answers: the contract's envelope (`data`, `provenance`, `tier`), written as JSON. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Answer(Form);

/// How an answer is there.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// The same for everyone.
    Constant(Arc<Constant>),
    /// Made for one request.
    Made {
        tag: EntityTag,
        json: Bytes,
        data_end: usize,
    },
}

/// An answer that is the same for everyone, made once.
#[derive(Debug)]
pub(crate) struct Constant {
    pub(crate) asset: Asset,
    data_end: usize,
}

impl Constant {
    pub(crate) fn new(tag: EntityTag, written: Written) -> Arc<Self> {
        let Written { json, data_end } = written;
        Arc::new(Self {
            asset: Asset::graph(tag, json),
            data_end,
        })
    }
}

impl Answer {
    pub(super) fn made(tag: EntityTag, written: Written) -> Self {
        Self(Form::Made {
            tag,
            json: written.json.into(),
            data_end: written.data_end,
        })
    }

    pub(super) fn constant(constant: &Arc<Constant>) -> Self {
        Self(Form::Constant(Arc::clone(constant)))
    }

    /// The whole envelope.
    #[must_use]
    pub fn as_json(&self) -> Bytes {
        self.json().clone()
    }

    /// The result alone, as the envelope's `data` has it.
    #[must_use]
    pub fn data(&self) -> Bytes {
        let data_end = match &self.0 {
            Form::Constant(constant) => constant.data_end,
            Form::Made { data_end, .. } => *data_end,
        };
        self.slice(DATA_START, data_end)
    }

    /// Where the result comes from, as the envelope's `provenance` has it.
    #[must_use]
    pub fn provenance(&self) -> Bytes {
        let data_end = match &self.0 {
            Form::Constant(constant) => constant.data_end,
            Form::Made { data_end, .. } => *data_end,
        };
        let end = self.json().len().saturating_sub(TIER_END.len());
        self.slice(data_end + PROVENANCE_NAME.len(), end)
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

    /// What tells this answer from others: it follows the release and the request.
    #[must_use]
    pub fn tag(&self) -> &EntityTag {
        match &self.0 {
            Form::Constant(constant) => constant.asset.tag(),
            Form::Made { tag, .. } => tag,
        }
    }

    pub(crate) fn into_form(self) -> Form {
        self.0
    }

    fn json(&self) -> &Bytes {
        match &self.0 {
            Form::Constant(constant) => constant.asset.bytes(),
            Form::Made { json, .. } => json,
        }
    }

    fn slice(&self, start: usize, end: usize) -> Bytes {
        let json = self.json();
        json.get(start..end)
            .map_or_else(Bytes::new, |part| json.slice_ref(part))
    }
}

/// Which answers the caller has already, by their tags.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a>(Option<&'a (dyn Fn(&EntityTag) -> bool + Sync)>);

impl<'a> Known<'a> {
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

impl fmt::Debug for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known(…)")
    }
}

/// An answer, unless the caller has it already: then it is not even made.
#[derive(Debug)]
pub(crate) enum Unless {
    /// What the caller has is still right.
    Known(EntityTag),
    /// What it does not have.
    Answer(Answer),
}

impl Unless {
    /// The answer with this tag, which `make` makes when the caller does not have it.
    pub(super) fn known(
        known: Known<'_>,
        tag: EntityTag,
        make: impl FnOnce() -> Result<Written, OperationError>,
    ) -> Result<Self, OperationError> {
        if known.has(&tag) {
            return Ok(Self::Known(tag));
        }
        Ok(Self::Answer(Answer::made(tag, make()?)))
    }

    /// The answer to a caller who has [`Known::NOTHING`].
    pub(super) fn whole(self) -> Result<Answer, OperationError> {
        match self {
            Self::Answer(answer) => Ok(answer),
            Self::Known(tag) => {
                tracing::error!(tag = ?tag.header(), "an answer was taken for known by one who knows none");
                Err(OperationError::Internal)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{envelope, json};

    fn written() -> Written {
        let data = |out: &mut Vec<u8>| json::array(out, [1, 2], json::integer);
        envelope(16, "r1", data, |provenance| provenance.text("engine", "lexical"))
    }

    #[test]
    fn an_answer_is_the_envelope_and_its_parts() {
        let tag = EntityTag::of(&[b"r1"]);
        let constant = Constant::new(tag.clone(), written());
        for answer in [Answer::made(tag.clone(), written()), Answer::constant(&constant)] {
            assert_eq!(
                answer.as_json(),
                r#"{"data":[1,2],"provenance":{"release":"r1","engine":"lexical"},"tier":"graph"}"#
            );
            assert_eq!(answer.data(), "[1,2]");
            assert_eq!(answer.provenance(), r#"{"release":"r1","engine":"lexical"}"#);
            assert_eq!(answer.tag(), &tag);
        }
    }

    #[test]
    fn what_the_caller_has_is_not_made_again() {
        let tag = EntityTag::of(&[b"r1"]);
        let other = EntityTag::of(&[b"r2"]);
        let has = |known: &EntityTag| *known == tag;
        let unless = Unless::known(Known::by(&has), tag.clone(), || panic!("made"));
        assert!(matches!(unless, Ok(Unless::Known(known)) if known == tag));
        for (known, tag) in [(Known::by(&has), other), (Known::NOTHING, tag.clone())] {
            let whole = Unless::known(known, tag.clone(), || Ok(written())).and_then(Unless::whole);
            assert_eq!(whole.unwrap().tag(), &tag);
        }
    }
}

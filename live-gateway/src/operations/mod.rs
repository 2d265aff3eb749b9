//! Operations, one per file: typed request in, typed response out, without HTTP.

pub(crate) mod prices;

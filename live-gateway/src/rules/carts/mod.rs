//! Rules of carts over several stores. The module is pure (no I/O, no clock).

pub(crate) mod answer;
pub(crate) mod draft;
pub(crate) mod ids;
pub(crate) mod missing;
pub(crate) mod optimum;
pub(crate) mod own;
pub(crate) mod places;
pub(crate) mod plan;
pub(crate) mod record;
mod refusal;

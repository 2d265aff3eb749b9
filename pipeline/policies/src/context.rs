//! The meaning of the text before a sentence.

use data_model::ShippingRegion;

/// The meaning of the text before a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Context {
    /// It was asked whether there is cash on delivery, and nothing more.
    pub(crate) cod: bool,
    /// Ways to pay are listed.
    pub(crate) pays: bool,
    /// It was asked what cash on delivery costs.
    pub(crate) cod_fee: bool,
    pub(crate) dispatch: bool,
    pub(crate) delivery: bool,
    /// True where it is about the price of shipping.
    pub(crate) fee: bool,
    /// True where shipping is free.
    pub(crate) free: bool,
    /// True where shipping costs anything, and nothing more is said.
    pub(crate) charged: bool,
    /// `Free shipping` stands over it, or a plain yes to whether shipping is free.
    pub(crate) offer: bool,
    /// A heading over it is about shipping.
    pub(crate) ship: bool,
    /// The cost of shipping was just stated.
    pub(crate) told: bool,
    /// The order value, just stated, from which it costs less or nothing.
    pub(crate) threshold: Option<i64>,
    /// It is one of several parts of a line that is about shipping.
    pub(crate) line: bool,
    /// It stands beside others in a line, or ends as a sentence does: its content is a statement, and no heading.
    pub(crate) is_marked: bool,
    /// It is a heading by its tag.
    pub(crate) is_title: bool,
    /// The scope of the facts.
    pub(crate) scope: Scope,
    /// True where a heading names the place, and not a sentence.
    pub(crate) is_headed: bool,
    /// It is about a service or goods of their own.
    pub(crate) is_apart: bool,
}

/// The scope of a fact without a named place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Scope {
    /// In all of the store's country.
    #[default]
    Everywhere,
    Region(ShippingRegion),
    /// The place cannot be told.
    Unsure,
}

//! Context that earlier text gives to a sentence.

use data_model::ShippingRegion;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Context {
    /// True if the question was only about the availability of cash on delivery.
    pub(crate) cod: bool,
    /// True within a list of payment methods.
    pub(crate) pays: bool,
    /// True if the question was about the cost of cash on delivery.
    pub(crate) cod_fee: bool,
    pub(crate) dispatch: bool,
    pub(crate) delivery: bool,
    /// True if the context is about the price of shipping.
    pub(crate) fee: bool,
    /// True if the question was if shipping is free.
    pub(crate) free: bool,
    /// True if the question was only if shipping costs anything.
    pub(crate) charged: bool,
    /// True if `Free shipping`, or a plain yes to a question about it, precedes the sentence.
    pub(crate) offer: bool,
    /// True if a heading above is about shipping.
    pub(crate) ship: bool,
    /// True if the previous sentence stated the cost of shipping.
    pub(crate) told: bool,
    /// Order value in the previous sentence from which shipping is cheaper or free.
    pub(crate) threshold: Option<i64>,
    /// True if the sentence is one of several parts of a line about shipping.
    pub(crate) line: bool,
    /// True if the text shares a line with other text or ends like a sentence. Such text is a statement and not a
    /// heading.
    pub(crate) is_marked: bool,
    pub(crate) is_title: bool,
    /// Region to which the facts apply.
    pub(crate) scope: Scope,
    /// True if the region comes from a heading and not from a sentence.
    pub(crate) is_headed: bool,
    /// True if the context is about a special service or special goods.
    pub(crate) is_apart: bool,
}

/// Region of a fact whose text does not name a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Scope {
    /// The store's whole country.
    #[default]
    Everywhere,
    Region(ShippingRegion),
    Unsure,
}

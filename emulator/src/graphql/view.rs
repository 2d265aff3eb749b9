use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use apollo_compiler::executable::{Operation, Value as Literal};
use apollo_compiler::resolvers::{FieldError, ResolveInfo, ResolvedValue};
use apollo_compiler::response::JsonMap;
use serde_json::Value;

use super::args::Args;
use super::money::decimal;
use super::scope::{Scopes, denied};
use crate::fault::Lie;
use crate::product::Product;
use crate::shop::Shop;
use crate::stock::{Stock, stock};

/// Country of the buyer for a response, from the directive `@inContext`.
#[derive(Debug, Clone, Default)]
pub(super) struct Audience {
    /// True if the query has the directive.
    pub(super) is_told: bool,
    country: Option<String>,
    language: Option<String>,
}

impl Audience {
    pub(super) fn of(operation: &Operation, variables: &JsonMap) -> Self {
        let Some(directive) = operation.directives.get("inContext") else {
            return Self::default();
        };
        let argument = |name: &str| match directive.specified_argument_by_name(name)?.as_ref() {
            Literal::Enum(code) => Some(code.to_string()),
            Literal::Variable(variable) => Some(variables.get(variable.as_str())?.as_str()?.to_owned()),
            _ => None,
        };
        Self {
            is_told: true,
            country: argument("country"),
            language: argument("language"),
        }
    }
}

/// Product as read for one query.
#[derive(Debug)]
pub(super) struct Good {
    pub(super) place: u64,
    pub(super) product: Product,
}

/// View of a store for one query.
#[derive(Debug)]
pub(super) struct View<'s> {
    pub(super) shop: &'s Shop,
    pub(super) epoch: u64,
    pub(super) scopes: Scopes,
    pub(super) audience: Audience,
    pub(super) lie: &'s Lie,
    /// Products that were already read, because many variants in a query often belong to one product.
    goods: RefCell<HashMap<u64, Option<Rc<Good>>>>,
}

impl<'s> View<'s> {
    pub(super) fn new(shop: &'s Shop, scopes: Scopes, audience: Audience, lie: &'s Lie) -> Self {
        Self {
            shop,
            epoch: shop.epoch(),
            scopes,
            audience,
            lie,
            goods: RefCell::default(),
        }
    }

    pub(super) fn home(&self) -> &str {
        let recorded = self.shop.catalogue.fact("country").and_then(Value::as_str);
        recorded.unwrap_or(self.shop.catalogue.persona().coin.country)
    }

    /// Returns the country that the response is for: the requested one, or else the store's own.
    pub(super) fn country(&self) -> &str {
        self.audience.country.as_deref().unwrap_or_else(|| self.home())
    }

    pub(super) fn language(&self) -> &str {
        self.audience.language.as_deref().unwrap_or("EN")
    }

    pub(super) fn currency(&self) -> &str {
        self.lie.currency(&self.shop.address.currency)
    }

    /// Reads the product at a place. Returns `None` if a recorded product lacks a field that the schema requires.
    /// Variants without a price are left out.
    pub(super) fn read(&self, place: u64) -> Option<Good> {
        let mut product = self.lie.tell(self.shop.product(place)?);
        product.variants.retain(|variant| decimal(&variant.price).is_some());
        (!product.variants.is_empty()).then_some(Good { place, product })
    }

    /// Reads a product like [`View::read`], but only once per query.
    pub(super) fn good(&self, place: u64) -> Option<Rc<Good>> {
        if let Some(known) = self.goods.borrow().get(&place) {
            return known.clone();
        }
        let read = self.read(place).map(Rc::new);
        self.goods.borrow_mut().insert(place, read.clone());
        read
    }

    /// Returns the product at a place, or the product with which a fault replaces it.
    fn good_told(&self, place: u64) -> Option<Rc<Good>> {
        self.good(self.lie.place(&self.shop.catalogue, place, self.epoch))
    }

    /// Returns the product with this id, or the one with which a fault replaces it.
    pub(super) fn product(&self, id: u64) -> Option<Rc<Good>> {
        let place = self.shop.catalogue.find_product(id, self.epoch)?;
        self.good_told(place)
    }

    /// Returns the product with this handle, or the one with which a fault replaces it.
    pub(super) fn product_of(&self, handle: &str) -> Option<Rc<Good>> {
        let place = self.shop.catalogue.find(handle, self.epoch)?;
        self.good_told(place)
    }

    /// Returns the product that has this variant id, and the index of the variant.
    pub(super) fn variant(&self, id: u64) -> Option<(Rc<Good>, usize)> {
        let place = self.shop.catalogue.find_variant(id, self.epoch)?;
        let good = self.good_told(place)?;
        let nth = good.product.variants.iter().position(|variant| variant.id == id);
        let nth = nth.or_else(|| self.lie.other_product.then_some(0))?;
        Some((good, nth))
    }

    pub(super) fn stock(&self, good: &Good, nth: usize) -> Option<Stock> {
        let variant = good.product.variants.get(nth)?;
        Some(stock(
            &self.shop.catalogue,
            good.place,
            self.epoch,
            good.product.id,
            variant.id,
            variant.available,
        ))
    }

    /// Resolves a field about metafields, which emulated stores lack. Returns `None` for another field.
    pub(super) fn metafields<'a>(
        &self,
        kind: &str,
        info: &ResolveInfo<'a>,
    ) -> Option<Result<ResolvedValue<'a>, FieldError>> {
        let name = info.field_name();
        if !matches!(name, "metafield" | "metafields") {
            return None;
        }
        if !self.scopes.metafields {
            let scope = format!("unauthenticated_read_{}_metafields", kind.to_lowercase());
            return Some(Err(FieldError {
                message: denied(name, &scope),
            }));
        }
        Some(Ok(if name == "metafield" {
            ResolvedValue::null()
        } else {
            let asked = Args::of(info).list("identifiers").len();
            ResolvedValue::list((0..asked).map(|_| ResolvedValue::null()).collect::<Vec<_>>())
        }))
    }
}

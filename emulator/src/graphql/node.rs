use std::rc::Rc;

use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::ResolvedValue;
use serde_json::Value;

use super::cart_node::{CartView, GroupNode, LineNode};
use super::collection::CollectionNode;
use super::fixed::fixed;
use super::product::ProductNode;
use super::variant::VariantNode;
use super::view::{Good, View};
use crate::catalogue::Shelf;

/// Something that a list holds.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Product(Rc<Good>),
    Variant(Rc<Good>, usize),
    Collection(Rc<Shelf>),
    CartLine(Rc<CartView>, usize),
    CartGroup(Rc<CartView>),
    Fixed(Value),
}

impl Node {
    /// The value of a field of this type.
    pub(super) fn resolve<'v>(self, view: &'v View<'v>, ty: &Type) -> ResolvedValue<'v> {
        match self {
            Self::Product(good) => ResolvedValue::object(ProductNode { view, good }),
            Self::Variant(good, nth) => ResolvedValue::object(VariantNode { view, good, nth }),
            Self::Collection(shelf) => ResolvedValue::object(CollectionNode { view, shelf }),
            Self::CartLine(shown, nth) => ResolvedValue::object(LineNode { view, shown, nth }),
            Self::CartGroup(shown) => ResolvedValue::object(GroupNode { view, shown }),
            Self::Fixed(value) => fixed(view, value, ty),
        }
    }
}

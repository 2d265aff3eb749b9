use std::rc::Rc;

use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use serde_json::{Value, json};

use super::fixed::fixed;
use super::gid::gid;
use super::money::money;
use super::node::Node;
use super::scope::denied;
use super::view::{Good, View};
use crate::product::Image;

pub(super) struct VariantNode<'v> {
    pub(super) view: &'v View<'v>,
    pub(super) good: Rc<Good>,
    pub(super) nth: usize,
}

/// Variant of a product, by its index.
pub(super) struct NthVariant {
    pub(super) good: Rc<Good>,
    pub(super) nth: usize,
}

impl Node for NthVariant {
    fn resolve<'v>(&self, view: &'v View<'v>, _: &Type) -> ResolvedValue<'v> {
        let good = Rc::clone(&self.good);
        ResolvedValue::object(VariantNode {
            view,
            good,
            nth: self.nth,
        })
    }
}

pub(super) fn image(image: &Image) -> Value {
    json!({
        "id": gid("ProductImage", image.id),
        "url": image.src,
        "altText": null,
        "width": image.width,
        "height": image.height,
    })
}

impl VariantNode<'_> {
    fn selected_options(&self, values: &[&str]) -> Value {
        let options = self.good.product.options.iter().zip(values);
        let options = options.map(|(option, value)| json!({ "name": option.name, "value": value }));
        options.collect::<Vec<_>>().into()
    }
}

impl ObjectValue for VariantNode<'_> {
    fn type_name(&self) -> &str {
        "ProductVariant"
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        let gone = || FieldError {
            message: "the variant is gone".to_owned(),
        };
        if let Some(metafields) = self.view.metafields("Product", info) {
            return metafields;
        }
        let variant = self.good.product.variants.get(self.nth).ok_or_else(gone)?;
        let stock = || self.view.stock(&self.good, self.nth).ok_or_else(gone);
        let known = |value: Value| Ok(fixed(self.view, value, &info.field_definition().ty));
        let leaf = |value: Value| Ok(ResolvedValue::leaf(value));
        match info.field_name() {
            "id" => leaf(gid("ProductVariant", variant.id).into()),
            "title" => leaf(variant.title.as_str().into()),
            "sku" => leaf(variant.sku.as_deref().into()),
            "barcode" => leaf(variant.barcode.as_deref().into()),
            "availableForSale" => leaf(stock()?.available.into()),
            "currentlyNotInStock" => leaf(stock()?.on_order.into()),
            "quantityAvailable" if self.view.scopes.inventory => leaf(stock()?.quantity.into()),
            "quantityAvailable" => Err(FieldError {
                message: denied("quantityAvailable", "unauthenticated_read_product_inventory"),
            }),
            "requiresShipping" => leaf(variant.requires_shipping.into()),
            "taxable" => leaf(variant.taxable.into()),
            "weight" => leaf(json!(variant.grams as f64 / 1000.0)),
            "weightUnit" => leaf("KILOGRAMS".into()),
            "price" => known(money(&variant.price, self.view.currency()).into()),
            "compareAtPrice" => {
                let price = variant.compare_at_price.as_deref();
                known(price.and_then(|price| money(price, self.view.currency())).into())
            }
            "quantityRule" => known(json!({ "increment": 1, "minimum": 1, "maximum": null })),
            "selectedOptions" => known(self.selected_options(&variant.options())),
            "image" => {
                let own = variant.featured_image.as_ref();
                known(own.or(self.good.product.images.first()).map_or(Value::Null, image))
            }
            "product" => Ok(self.good.resolve(self.view, &info.field_definition().ty)),
            _ => Err(self.unknown_field_error(info)),
        }
    }
}

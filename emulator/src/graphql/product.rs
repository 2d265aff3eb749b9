use std::rc::Rc;

use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::response::JsonValue;
use serde_json::{Value, json};

use super::args::Args;
use super::collection;
use super::connection::connection;
use super::fixed::fixed;
use super::gid::gid;
use super::money::{money, number};
use super::node::Node;
use super::scope::denied;
use super::sort::{Key, SortItem, SortOrder, sorted};
use super::text::{plain, truncated, utc};
use super::variant::{NthVariant, VariantNode, image};
use super::view::{Good, View};
use crate::generated::dice::{fold, fold_bytes};
use crate::product::{Product, Variant};

pub(super) struct ProductNode<'v> {
    pub(super) view: &'v View<'v>,
    pub(super) good: Rc<Good>,
}

impl Node for Rc<Good> {
    fn resolve<'v>(&self, view: &'v View<'v>, _: &Type) -> ResolvedValue<'v> {
        let good = Self::clone(self);
        ResolvedValue::object(ProductNode { view, good })
    }
}

impl<'v> ProductNode<'v> {
    fn product(&self) -> &Product {
        &self.good.product
    }

    /// Returns the lowest and the highest of several price texts, as money.
    fn range<'p>(&self, prices: impl Iterator<Item = &'p str>) -> Value {
        let mut prices: Vec<(f64, &str)> = prices.filter_map(|price| Some((number(price)?, price))).collect();
        prices.sort_by(|(one, _), (two, _)| one.total_cmp(two));
        let of = |price: Option<&(f64, &str)>| money(price.map_or("0", |(_, text)| text), self.view.currency());
        json!({ "minVariantPrice": of(prices.first()), "maxVariantPrice": of(prices.last()) })
    }

    fn compare_at_range(&self) -> Value {
        let variants = self.product().variants.iter();
        self.range(variants.filter_map(|variant| variant.compare_at_price.as_deref()))
    }

    fn variant(&self, nth: Option<usize>) -> ResolvedValue<'v> {
        let view = self.view;
        ResolvedValue::nullable_object(nth.map(|nth| VariantNode {
            view,
            good: Rc::clone(&self.good),
            nth,
        }))
    }

    /// Returns the index of the variant with all of these option values.
    fn selected(&self, args: Args<'_>) -> Option<usize> {
        let folds_case = args.flag("caseInsensitiveMatch").unwrap_or(false);
        let same = |one: &str, two: &str| one == two || folds_case && one.to_lowercase() == two.to_lowercase();
        let wanted: Vec<(&str, &str)> = args
            .list("selectedOptions")
            .iter()
            .filter_map(|option| {
                let option = Args::in_object(option)?;
                Some((option.text("name")?, option.text("value")?))
            })
            .collect();
        if wanted.is_empty() {
            return None;
        }
        let ignores_unknown = args.flag("ignoreUnknownOptions").unwrap_or(false);
        let names = || self.product().options.iter().map(|option| option.name.as_str());
        self.product().variants.iter().position(|variant| {
            let has = |(name, value): &(&str, &str)| {
                let at = names().position(|known| same(known, name));
                match at {
                    Some(at) => variant.options().get(at).is_some_and(|own| same(own, value)),
                    None => ignores_unknown,
                }
            };
            wanted.iter().all(has)
        })
    }

    fn first_available(&self) -> usize {
        let variants = &self.product().variants;
        variants.iter().position(|variant| variant.available).unwrap_or(0)
    }

    fn options(&self, args: Args<'_>) -> Value {
        let most = args.number("first").and_then(|first| usize::try_from(first).ok());
        let id = self.product().id;
        let options = self
            .product()
            .options
            .iter()
            .take(most.unwrap_or(usize::MAX))
            .map(|option| {
                let values = option.values.iter().map(|value| {
                    let number = fold_bytes(format!("{id}/{}/{value}", option.name).as_bytes()) >> 20;
                    json!({ "id": gid("ProductOptionValue", number), "name": value })
                });
                json!({
                    "id": gid("ProductOption", fold_bytes(format!("{id}/{}", option.name).as_bytes()) >> 20),
                    "name": option.name,
                    "values": option.values,
                    "optionValues": values.collect::<Vec<_>>(),
                })
            });
        options.collect::<Vec<_>>().into()
    }

    /// Returns the total stock of all variants, or nothing if the client lacks the scope.
    fn inventory(&self) -> Result<ResolvedValue<'v>, FieldError> {
        if !self.view.scopes.inventory {
            return Err(FieldError {
                message: denied("totalInventory", "unauthenticated_read_product_inventory"),
            });
        }
        let pieces = (0..self.product().variants.len()).filter_map(|nth| self.view.stock(&self.good, nth));
        Ok(ResolvedValue::leaf(
            pieces.map(|stock| i64::from(stock.quantity)).sum::<i64>(),
        ))
    }

    /// Returns the category that the store states for the product.
    fn category(&self) -> Value {
        let shop = self.view.shop;
        let drawn = || {
            let is_stated = fold(&[0x4341_5445, self.product().id]) % 1000 < shop.categorised;
            let sketch = shop.catalogue.sketch(self.good.place, self.view.epoch)?;
            is_stated.then_some(sketch.kind.category)
        };
        let stated = self.view.lie.category.as_deref().or_else(drawn);
        stated.map_or(Value::Null, category)
    }

    fn tags(&self) -> Result<ResolvedValue<'v>, FieldError> {
        if !self.view.scopes.tags {
            return Err(FieldError {
                message: denied("tags", "unauthenticated_read_product_tags"),
            });
        }
        let tags = self.product().tags().into_iter().map(ResolvedValue::leaf);
        Ok(ResolvedValue::list(tags.collect::<Vec<_>>()))
    }

    fn variants(&self, info: &ResolveInfo<'_>) -> Result<ResolvedValue<'v>, FieldError> {
        let order = SortOrder::of(Args::of(info), "POSITION");
        let key_of = |variant: &Variant, nth: usize| match order.key {
            "ID" => Key::Whole(variant.id),
            "TITLE" => Key::Text(variant.title.to_lowercase()),
            "SKU" => Key::Text(variant.sku.as_deref().unwrap_or_default().to_lowercase()),
            _ => Key::Whole(nth as u64 + 1),
        };
        let variants = self.product().variants.iter().enumerate();
        let items = variants.map(|(nth, variant)| SortItem {
            key: key_of(variant, nth),
            id: variant.id,
            item: nth,
        });
        let entries = sorted(items.collect(), order.is_reversed);
        connection(self.view, info, &entries, |nth| {
            let good = Rc::clone(&self.good);
            Some(NthVariant { good, nth: *nth })
        })
    }

    fn images(&self, info: &ResolveInfo<'_>) -> Result<ResolvedValue<'v>, FieldError> {
        let images = self.product().images.iter().enumerate();
        let items = images.map(|(nth, image)| SortItem {
            key: Key::Whole(nth as u64 + 1),
            id: image.id,
            item: nth,
        });
        let is_reversed = Args::of(info).flag("reverse").unwrap_or(false);
        let entries = sorted(items.collect(), is_reversed);
        connection(self.view, info, &entries, |nth| {
            self.product().images.get(*nth).map(image)
        })
    }

    /// Returns a text or boolean field of the record, or `None` for another field.
    fn leaf(&self, name: &str, args: Args<'_>) -> Option<JsonValue> {
        let product = self.product();
        let html = product.body_html.as_deref().unwrap_or_default();
        let moment = |moment: &Option<String>| utc(moment.as_deref().unwrap_or("1970-01-01T00:00:00Z")).into();
        Some(match name {
            "id" => gid("Product", product.id).into(),
            "title" => product.title.as_str().into(),
            "handle" => product.handle.as_str().into(),
            "vendor" => product.vendor.as_deref().unwrap_or_default().into(),
            "productType" => product.product_type.as_deref().unwrap_or_default().into(),
            "descriptionHtml" => html.into(),
            "description" => truncated(&plain(html), args.number("truncateAt")).into(),
            "createdAt" => moment(&product.created_at),
            "updatedAt" => moment(&product.updated_at),
            "publishedAt" => moment(&product.published_at),
            "availableForSale" => product.available().into(),
            "isGiftCard" | "requiresSellingPlan" => false.into(),
            "onlineStoreUrl" => format!("{}/products/{}", self.view.shop.address.base_url, product.handle).into(),
            _ => return None,
        })
    }
}

/// Returns the node of a category with its ancestors, the parent first.
fn category(path: &str) -> Value {
    let above = path.rsplit_once(" > ").map(|(above, _)| category(above));
    let ancestors = above.map_or_else(Vec::new, |above| {
        let further = above["ancestors"].as_array().cloned().unwrap_or_default();
        [above].into_iter().chain(further).collect()
    });
    let name = path.rsplit(" > ").next();
    json!({ "id": gid("TaxonomyCategory", fold_bytes(path.as_bytes()) >> 20), "name": name, "ancestors": ancestors })
}

impl ObjectValue for ProductNode<'_> {
    fn type_name(&self) -> &str {
        "Product"
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        let (name, args) = (info.field_name(), Args::of(info));
        let known = |value: Value| Ok(fixed(self.view, value, &info.field_definition().ty));
        if let Some(leaf) = self.leaf(name, args) {
            return Ok(ResolvedValue::Leaf(leaf));
        }
        if let Some(metafields) = self.view.metafields("Product", info) {
            return metafields;
        }
        match name {
            "tags" => self.tags(),
            "category" => known(self.category()),
            "totalInventory" => self.inventory(),
            "seo" => known(json!({ "title": null, "description": null })),
            "featuredImage" => known(self.product().images.first().map_or(Value::Null, image)),
            "images" => self.images(info),
            "options" => known(self.options(args)),
            "priceRange" => {
                let prices = self.product().variants.iter().map(|variant| variant.price.as_str());
                known(self.range(prices))
            }
            "compareAtPriceRange" => known(self.compare_at_range()),
            "variantsCount" => known(json!({ "count": self.product().variants.len(), "precision": "EXACT" })),
            "variants" => self.variants(info),
            "variantBySelectedOptions" => Ok(self.variant(self.selected(args))),
            "selectedOrFirstAvailableVariant" => {
                Ok(self.variant(Some(self.selected(args).unwrap_or_else(|| self.first_available()))))
            }
            "collections" => collection::connection_of_product(self.view, &self.good, info),
            _ => Err(self.unknown_field_error(info)),
        }
    }
}

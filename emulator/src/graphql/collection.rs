use std::rc::Rc;

use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::response::JsonValue;
use serde_json::{Value, json};

use super::args::Args;
use super::connection::connection;
use super::fixed::fixed;
use super::gid::gid;
use super::money::number;
use super::node::Node;
use super::search::{Search, Searchable};
use super::sort::{self, Key, SortItem, SortOrder, sorted};
use super::text::utc;
use super::view::{Good, View};
use crate::answer::{collection_id, collection_updated_at};
use crate::catalogue::{Places, Shelf};
use crate::generated::kebab;
use crate::product::Product;

pub(super) struct CollectionNode<'v> {
    pub(super) view: &'v View<'v>,
    pub(super) shelf: Rc<Shelf>,
}

impl Node for Rc<Shelf> {
    fn resolve<'v>(&self, view: &'v View<'v>, _: &Type) -> ResolvedValue<'v> {
        let shelf = Self::clone(self);
        ResolvedValue::object(CollectionNode { view, shelf })
    }
}

pub(super) fn by_handle(view: &View<'_>, handle: &str) -> Option<Shelf> {
    let mut shelves = view.shop.catalogue.shelves(view.epoch).into_iter();
    shelves.find(|shelf| shelf.handle == handle)
}

pub(super) fn by_id(view: &View<'_>, id: u64) -> Option<Shelf> {
    let mut shelves = view.shop.catalogue.shelves(view.epoch).into_iter();
    shelves.find(|shelf| collection_id(view.shop, shelf) == id)
}

impl Searchable for Shelf {
    fn field(&self, name: &str) -> Option<Vec<String>> {
        match name {
            "title" => Some(vec![self.title.clone()]),
            "handle" => Some(vec![self.handle.clone()]),
            _ => None,
        }
    }

    fn words(&self) -> Vec<String> {
        vec![self.title.clone(), self.handle.clone()]
    }
}

fn page_of<'v>(
    view: &'v View<'v>,
    info: &ResolveInfo<'_>,
    shelves: impl Iterator<Item = Shelf>,
) -> Result<ResolvedValue<'v>, FieldError> {
    let order = SortOrder::of(Args::of(info), "ID");
    let items = shelves.map(|shelf| {
        let id = collection_id(view.shop, &shelf);
        let key = if order.key == "TITLE" {
            Key::Text(shelf.title.to_lowercase())
        } else {
            Key::Whole(id)
        };
        let item = Rc::new(shelf);
        SortItem { key, id, item }
    });
    let entries = sorted(items.collect(), order.is_reversed);
    connection(view, info, &entries, |shelf| Some(Rc::clone(shelf)))
}

pub(super) fn connection_of_all<'v>(
    view: &'v View<'v>,
    info: &ResolveInfo<'_>,
) -> Result<ResolvedValue<'v>, FieldError> {
    let search = Args::of(info).text("query").map(Search::parse).unwrap_or_default();
    let shelves = view.shop.catalogue.shelves(view.epoch).into_iter();
    page_of(view, info, shelves.filter(|shelf| search.matches(shelf)))
}

pub(super) fn connection_of_product<'v>(
    view: &'v View<'v>,
    good: &Good,
    info: &ResolveInfo<'_>,
) -> Result<ResolvedValue<'v>, FieldError> {
    let handle = kebab(view.shop.catalogue.product_type(good.place, view.epoch));
    page_of(view, info, by_handle(view, &handle).into_iter())
}

/// True if a product matches one filter.
fn passes(product: &Product, filter: Args<'_>) -> bool {
    let same = |own: &Option<String>, wanted: &str| own.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(wanted));
    let in_price = |range: Args<'_>| {
        product
            .variants
            .iter()
            .filter_map(|variant| number(&variant.price))
            .any(|price| {
                range.float("min").is_none_or(|min| price >= min) && range.float("max").is_none_or(|max| price <= max)
            })
    };
    let has_option = |option: Args<'_>| {
        let (name, value) = (
            option.text("name").unwrap_or_default(),
            option.text("value").unwrap_or_default(),
        );
        let at = product
            .options
            .iter()
            .position(|known| known.name.eq_ignore_ascii_case(name));
        at.is_some_and(|at| {
            let mut variants = product.variants.iter();
            variants.any(|variant| {
                variant
                    .options()
                    .get(at)
                    .is_some_and(|own| own.eq_ignore_ascii_case(value))
            })
        })
    };
    filter
        .flag("available")
        .is_none_or(|available| product.available() == available)
        && filter
            .text("productType")
            .is_none_or(|wanted| same(&product.product_type, wanted))
        && filter
            .text("productVendor")
            .is_none_or(|wanted| same(&product.vendor, wanted))
        && filter
            .text("tag")
            .is_none_or(|wanted| product.tags().iter().any(|tag| tag.eq_ignore_ascii_case(wanted)))
        && filter.get("price").and_then(Args::in_object).is_none_or(in_price)
        && filter
            .get("variantOption")
            .and_then(Args::in_object)
            .is_none_or(has_option)
}

impl<'v> CollectionNode<'v> {
    fn products(&self, info: &ResolveInfo<'_>) -> Result<ResolvedValue<'v>, FieldError> {
        let args = Args::of(info);
        let order = SortOrder::of(args, "COLLECTION_DEFAULT");
        let filters: Vec<Args<'_>> = args.list("filters").iter().filter_map(Args::in_object).collect();
        let passed = |product: &Product| filters.iter().all(|filter| passes(product, *filter));
        let keep: Option<&dyn Fn(&Product) -> bool> = if filters.is_empty() { None } else { Some(&passed) };
        let places = self.view.shop.catalogue.shelf(&self.shelf.handle, self.view.epoch);
        let entries = sort::products(self.view, &places.unwrap_or(Places::All(0)), order, keep);
        connection(self.view, info, &entries, |place| self.view.good(*place))
    }
}

impl ObjectValue for CollectionNode<'_> {
    fn type_name(&self) -> &str {
        "Collection"
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        if let Some(metafields) = self.view.metafields("Collection", info) {
            return metafields;
        }
        let shop = self.view.shop;
        let leaf = |value: JsonValue| Ok(ResolvedValue::Leaf(value));
        match info.field_name() {
            "id" => leaf(gid("Collection", collection_id(shop, &self.shelf)).into()),
            "title" => leaf(self.shelf.title.as_str().into()),
            "handle" => leaf(self.shelf.handle.as_str().into()),
            "description" | "descriptionHtml" => leaf("".into()),
            "updatedAt" => leaf(utc(&collection_updated_at(shop)).into()),
            "image" => Ok(ResolvedValue::null()),
            "onlineStoreUrl" => leaf(format!("{}/collections/{}", shop.address.base_url, self.shelf.handle).into()),
            "seo" => {
                let seo: Value = json!({ "title": null, "description": null });
                Ok(fixed(self.view, seo, &info.field_definition().ty))
            }
            "products" => self.products(info),
            _ => Err(self.unknown_field_error(info)),
        }
    }
}

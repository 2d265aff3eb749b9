use data_index::{CategoryNode, Release, RowAddress};
use data_model::{CategoryId, ProductId};
use rustc_hash::FxHashMap;

/// Product whose picture represents each category. The product is the most presentable one in stock in the subcategory
/// with the most products, so that the picture is typical.
#[derive(Debug, Default)]
pub(crate) struct Pictures(FxHashMap<CategoryId, RowAddress>);

impl Pictures {
    pub(crate) fn of(release: &Release) -> Self {
        let mut filed = FxHashMap::<CategoryId, Filed>::default();
        for (at, part) in (0..).zip(release.parts()) {
            let cards = part.cards();
            for row in (0..part.rows()).filter(|row| !part.unlisted().contains(*row)) {
                let category = cards.category(row);
                let Some(category) = category.filter(|_| cards.in_stock(row) && cards.image(row).is_some()) else {
                    continue;
                };
                let one = Filed {
                    products: 1,
                    quality: cards.quality(row),
                    id: cards.id(row),
                    best: RowAddress { part: at, row },
                };
                let others = filed.entry(category);
                others.and_modify(|others| others.add(one)).or_insert(one);
            }
        }
        let mut pictures = Self::default();
        for node in release.category_tree() {
            pictures.choose(node, &filed);
        }
        pictures
    }

    /// Returns the URL of a category's picture, if any of its products has one.
    pub(crate) fn of_category<'a>(&self, release: &'a Release, category: CategoryId) -> Option<&'a str> {
        let at = self.0.get(&category)?;
        release.part(at.part)?.cards().image(at.row)
    }

    /// Chooses the products for a category and its descendants. Returns the category's own product.
    fn choose(&mut self, node: &CategoryNode, filed: &FxHashMap<CategoryId, Filed>) -> Option<RowAddress> {
        let own = filed.get(&node.category.id);
        let mut most = own.map(|filed| (filed.products, filed.best));
        for child in &node.children {
            let Some(best) = self.choose(child, filed) else {
                continue;
            };
            if most.is_none_or(|(products, _)| products < child.product_count) {
                most = Some((child.product_count, best));
            }
        }
        let (_, best) = most?;
        self.0.insert(node.category.id, best);
        Some(best)
    }
}

/// Products in stock with a picture that are filed directly under a category.
#[derive(Debug, Clone, Copy)]
struct Filed {
    products: u64,
    quality: f32,
    id: ProductId,
    best: RowAddress,
}

impl Filed {
    /// The product id decides between equal candidates, so that the choice does not depend on the release's parts.
    fn add(&mut self, one: Self) {
        let products = self.products + one.products;
        let order = one.quality.total_cmp(&self.quality).then(self.id.cmp(&one.id));
        if order.is_gt() {
            *self = one;
        }
        self.products = products;
    }
}

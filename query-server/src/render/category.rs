use data_index::taxonomy::Category;
use data_index::{CategoryNode, Release};

use crate::pictures::Pictures;
use crate::schema;

/// Data for building the category tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pictured<'a> {
    pub(crate) pictures: &'a Pictures,
    pub(crate) release: &'a Release,
}

/// Builds the tree of the categories that are `shown`, with their descendants.
pub(crate) fn tree<'a>(
    nodes: &'a [CategoryNode],
    pictured: Pictured<'a>,
    shown: impl Fn(&Category) -> bool + Copy,
) -> Vec<schema::Category<'a>> {
    let nodes = nodes.iter().filter(|node| shown(node.category));
    let tree = nodes.map(|node| schema::Category {
        id: node.category.id.0,
        slug: node.category.slug.as_str().into(),
        name: node.category.name.into(),
        path: node.category.path.into(),
        product_count: node.product_count,
        image: (pictured.pictures.of_category(pictured.release, node.category.id)).map(Into::into),
        children: tree(&node.children, pictured, shown),
    });
    tree.collect()
}

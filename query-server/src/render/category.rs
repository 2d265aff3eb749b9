use data_index::taxonomy::Category;
use data_index::{CategoryNode, Release};

use super::json::{array, object};
use crate::pictures::Pictures;

/// Writes those categories that are `shown`, each with everything below it.
pub(crate) fn tree(
    out: &mut Vec<u8>,
    nodes: &[CategoryNode],
    pictured: (&Pictures, &Release),
    shown: impl Fn(&Category) -> bool + Copy,
) {
    let (pictures, release) = pictured;
    array(out, nodes.iter().filter(|node| shown(node.category)), |out, node| {
        object(out, |object| {
            object.integer("id", node.category.id.0);
            object.text("slug", &node.category.slug);
            object.text("name", node.category.name);
            object.text("path", node.category.path);
            object.integer("product_count", node.product_count);
            object.text_or_null("image", pictures.of_category(release, node.category.id));
            tree(object.name("children"), &node.children, pictured, shown);
        });
    });
}

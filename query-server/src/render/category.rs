use data_index::CategoryNode;

use super::json::{array, object};

/// Writes a category with everything below it.
pub(crate) fn tree(out: &mut Vec<u8>, nodes: &[CategoryNode]) {
    array(out, nodes, |out, node| {
        object(out, |object| {
            object.integer("id", node.category.id.0);
            object.text("slug", &node.category.slug);
            object.text("name", node.category.name);
            object.text("path", node.category.path);
            object.integer("product_count", node.product_count);
            tree(object.name("children"), &node.children);
        });
    });
}

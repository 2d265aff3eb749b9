//! Rows as bytes.

use crate::Row;

/// The form of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedFormat {
    /// Tab-separated values with the names of the columns first.
    GoogleTsv,
    /// One JSON object a line; what is not known is null.
    Jsonl,
}

/// The columns of the tab-separated form, in their order.
pub const COLUMNS: [&str; 25] = [
    "id",
    "title",
    "description",
    "link",
    "image_link",
    "additional_image_link",
    "availability",
    "price",
    "sale_price",
    "brand",
    "gtin",
    "mpn",
    "identifier_exists",
    "item_group_id",
    "color",
    "size",
    "gender",
    "age_group",
    "material",
    "pattern",
    "google_product_category",
    "product_type",
    "shipping",
    "shipping_weight",
    "free_shipping_threshold",
];

impl FeedFormat {
    /// The bytes before the rows.
    #[must_use]
    pub fn head(self) -> Vec<u8> {
        match self {
            Self::GoogleTsv => format!("{}\n", COLUMNS.join("\t")).into_bytes(),
            Self::Jsonl => Vec::new(),
        }
    }

    /// Adds a row.
    pub fn write(self, row: &Row, to: &mut Vec<u8>) {
        match self {
            Self::GoogleTsv => {
                for (at, field) in fields(row).iter().enumerate() {
                    if at > 0 {
                        to.push(b'\t');
                    }
                    to.extend_from_slice(escaped(field).as_bytes());
                }
                to.push(b'\n');
            }
            Self::Jsonl => {
                let before = to.len();
                // Texts and numbers always are JSON; were they not, the row would be left out whole.
                match serde_json::to_writer(&mut *to, row) {
                    Ok(()) => to.push(b'\n'),
                    Err(_) => to.truncate(before),
                }
            }
        }
    }
}

/// A row's fields in the order of [`COLUMNS`].
fn fields(row: &Row) -> [String; COLUMNS.len()] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let word = |word: Option<&str>| word.unwrap_or_default().to_owned();
    // A comma divides addresses.
    let images = row.additional_image_link.iter().map(|image| image.replace(',', "%2C"));
    [
        row.id.clone(),
        text(&row.title),
        text(&row.description),
        text(&row.link),
        text(&row.image_link),
        images.collect::<Vec<_>>().join(","),
        row.availability.as_str().to_owned(),
        text(&row.price),
        text(&row.sale_price),
        text(&row.brand),
        text(&row.gtin),
        text(&row.mpn),
        word(row.identifier_exists),
        text(&row.item_group_id),
        text(&row.color),
        text(&row.size),
        word(row.gender),
        word(row.age_group),
        text(&row.material),
        text(&row.pattern),
        row.google_product_category.map(|id| id.to_string()).unwrap_or_default(),
        text(&row.product_type),
        text(&row.shipping),
        text(&row.shipping_weight),
        text(&row.free_shipping_threshold),
    ]
}

/// A field as it stands between tabs: one with a quotation mark stands in such marks, and has each of its own twice. Fields
/// have neither tabs nor line ends: texts are lines, and all else is made here.
fn escaped(field: &str) -> std::borrow::Cow<'_, str> {
    if field.contains('"') {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field.into()
    }
}

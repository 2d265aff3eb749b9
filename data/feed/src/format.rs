//! Serialises rows to bytes.

use crate::Row;

/// Format of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedFormat {
    /// Tab-separated values, with the column names first.
    GoogleTsv,
    /// One JSON object per line. Unknown values are null.
    Jsonl,
}

/// Columns of the tab-separated format, in order.
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
    /// Returns the bytes before the rows.
    #[must_use]
    pub fn head(self) -> Vec<u8> {
        match self {
            Self::GoogleTsv => format!("{}\n", COLUMNS.join("\t")).into_bytes(),
            Self::Jsonl => Vec::new(),
        }
    }

    /// Appends a row.
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
                // Serialising strings and numbers cannot fail. If it did, the whole row would be left out.
                match serde_json::to_writer(&mut *to, row) {
                    Ok(()) => to.push(b'\n'),
                    Err(_) => to.truncate(before),
                }
            }
        }
    }
}

fn fields(row: &Row) -> [String; COLUMNS.len()] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let word = |word: Option<&str>| word.unwrap_or_default().to_owned();
    // Commas separate the URLs of a list.
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

/// Escapes a field for tab-separated values. A field with quotation marks is quoted, and its quotation marks are
/// doubled. Fields do not contain tabs or line breaks.
fn escaped(field: &str) -> std::borrow::Cow<'_, str> {
    if field.contains('"') {
        format!("\"{}\"", field.replace('"', "\"\"")).into()
    } else {
        field.into()
    }
}

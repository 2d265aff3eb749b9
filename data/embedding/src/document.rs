/// Texts of a product that are embedded, by field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentText {
    /// Title of the product.
    pub title: String,
    /// Kind of product: its category and product type.
    pub category: String,
    /// Name of the maker.
    pub brand: String,
    /// Values of the product's options and attributes.
    pub options: String,
    /// Start of the product's description.
    pub description: String,
}

/// Weight and length limit of one text field of a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Share of the field in the product's vector.
    pub weight: f32,
    /// Maximum number of tokens that are read.
    pub tokens_max: usize,
}

impl Segment {
    /// Segment of the title.
    pub const TITLE: Self = Self::new(1.0, 64);
    /// Segment of the category and product type.
    pub const CATEGORY: Self = Self::new(0.3, 32);
    /// Segment of the brand.
    pub const BRAND: Self = Self::new(0.1, 16);
    /// Segment of the options and attributes.
    pub const OPTIONS: Self = Self::new(0.1, 48);
    /// Segment of the description.
    pub const DESCRIPTION: Self = Self::new(0.2, 64);

    const fn new(weight: f32, tokens_max: usize) -> Self {
        Self { weight, tokens_max }
    }
}

impl DocumentText {
    /// Maximum length of the embedded description, in bytes. Later text is mostly about care and shipping.
    pub const DESCRIPTION_BYTES: usize = 512;

    pub(crate) fn segments(&self) -> [(&str, Segment); 5] {
        [
            (&self.title, Segment::TITLE),
            (&self.category, Segment::CATEGORY),
            (&self.brand, Segment::BRAND),
            (&self.options, Segment::OPTIONS),
            (&self.description, Segment::DESCRIPTION),
        ]
    }

    /// Joins all texts into one for embedders without segments, the most informative first.
    #[must_use]
    pub fn joined(&self) -> String {
        let mut joined = String::new();
        for (text, _) in self.segments() {
            if !text.trim().is_empty() {
                if !joined.is_empty() {
                    joined.push_str(". ");
                }
                joined.push_str(text.trim());
            }
        }
        joined
    }
}

/// The texts of a product that are embedded, by the field they stand in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentText {
    /// Its title.
    pub title: String,
    /// The kind of thing: its category and product type.
    pub category: String,
    /// The maker's name.
    pub brand: String,
    /// Values of its options and attributes.
    pub options: String,
    /// The beginning of its description.
    pub description: String,
}

/// A place where a product's text stands, and its weight for the product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Its share of the product's vector.
    pub weight: f32,
    /// Tokens of it that are read at most.
    pub tokens_max: usize,
}

impl Segment {
    /// Title.
    pub const TITLE: Self = Self::new(1.0, 64);
    /// Category and product type.
    pub const CATEGORY: Self = Self::new(0.3, 32);
    /// Brand.
    pub const BRAND: Self = Self::new(0.1, 16);
    /// Options and attributes.
    pub const OPTIONS: Self = Self::new(0.1, 48);
    /// Description.
    pub const DESCRIPTION: Self = Self::new(0.2, 64);

    const fn new(weight: f32, tokens_max: usize) -> Self {
        Self { weight, tokens_max }
    }
}

impl DocumentText {
    /// The longest head of a description that is embedded, in bytes: care and shipping follow behind it.
    pub const DESCRIPTION_BYTES: usize = 512;

    /// The texts with their segments.
    pub(crate) fn segments(&self) -> [(&str, Segment); 5] {
        [
            (&self.title, Segment::TITLE),
            (&self.category, Segment::CATEGORY),
            (&self.brand, Segment::BRAND),
            (&self.options, Segment::OPTIONS),
            (&self.description, Segment::DESCRIPTION),
        ]
    }

    /// One text of all, for embedders that know no segments: the texts that say most stand first.
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

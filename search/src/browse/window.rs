use data_text::fold_value;

/// Selection of displayed facet values, which are the most common ones, optionally with a given prefix.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FacetWindow {
    values_max: i64,
    /// Folded prefix. An empty one matches all values.
    beginning: String,
}

impl FacetWindow {
    /// Maximum number of values per facet in a request.
    pub const VALUES_MAX: i64 = 500;
    /// Maximum number of characters of a prefix.
    pub const BEGINNING_CHARS_MAX: usize = 100;
    /// Default number of displayed values.
    pub const VALUES_USUAL: i64 = 50;

    /// Creates a window of at most `values_max` values that start with `beginning`. Returns `None` below 1 or above
    /// [`FacetWindow::VALUES_MAX`], or if the prefix is too long.
    #[must_use]
    pub fn new(values_max: i64, beginning: &str) -> Option<Self> {
        let is_short = beginning.chars().count() <= Self::BEGINNING_CHARS_MAX;
        let is_within = (1..=Self::VALUES_MAX).contains(&values_max) && is_short;
        is_within.then(|| Self {
            values_max,
            beginning: fold_value(beginning),
        })
    }

    pub(super) fn values_max(&self) -> usize {
        usize::try_from(self.values_max).unwrap_or(usize::MAX)
    }

    pub(super) fn is_narrow(&self) -> bool {
        !self.beginning.is_empty()
    }

    pub(super) fn beginning(&self) -> &str {
        &self.beginning
    }

    /// The value must be folded.
    pub(super) fn begins(&self, value: &str) -> bool {
        value.starts_with(&self.beginning)
    }

    /// Folds the name first.
    pub(super) fn begins_folded(&self, name: &str) -> bool {
        !self.is_narrow() || fold_value(name).starts_with(&self.beginning)
    }
}

impl Default for FacetWindow {
    fn default() -> Self {
        Self {
            values_max: Self::VALUES_USUAL,
            beginning: String::new(),
        }
    }
}

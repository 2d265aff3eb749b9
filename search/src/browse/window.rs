use data_text::fold_value;

/// The values of each facet that are shown: those that most products have, of those that begin with a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FacetWindow {
    values_max: i64,
    /// Folded; empty for all.
    beginning: String,
}

impl FacetWindow {
    /// The most values of a facet that may be asked for.
    pub const VALUES_MAX: i64 = 500;
    /// The most characters of a beginning.
    pub const BEGINNING_CHARS_MAX: usize = 100;
    /// The number that is shown by default.
    pub const VALUES_USUAL: i64 = 50;

    /// At most `values_max` of the values that begin with `beginning`; `None` below 1 or above [`FacetWindow::VALUES_MAX`],
    /// or when the beginning is too long.
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

    /// True where some values are left out for their beginning.
    pub(super) fn is_narrow(&self) -> bool {
        !self.beginning.is_empty()
    }

    pub(super) fn beginning(&self) -> &str {
        &self.beginning
    }

    /// True where a folded value begins with the text.
    pub(super) fn begins(&self, value: &str) -> bool {
        value.starts_with(&self.beginning)
    }

    /// True where a name, once folded, begins with the text.
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

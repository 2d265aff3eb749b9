//! Builds the requests to each app, and parses the answers.

use data_model::ReviewWidget;

use crate::answer::{AnswerError, FeedPage, Next, Overview, Summary};
use crate::detect::WidgetKey;
use crate::{judgeme, okendo, stamped, yotpo};

const LINK_BYTES_MAX: usize = 4_096;

impl WidgetKey {
    /// Returns the first request: a path and query below the app's URL.
    #[must_use]
    pub fn overview(&self) -> String {
        match self.widget {
            ReviewWidget::Okendo => okendo::totals(self),
            _ => self.feed(&Next::Page(1)),
        }
    }

    /// Returns the path of a page of the shop's review list.
    #[must_use]
    pub fn feed(&self, at: &Next) -> String {
        let page = match at {
            Next::Link(link) => return link.clone(),
            Next::Page(page) => *page,
        };
        match self.widget {
            ReviewWidget::Judgeme => judgeme::feed(self, page),
            ReviewWidget::Yotpo => yotpo::feed(self, page),
            ReviewWidget::Stamped => stamped::feed(self, page),
            ReviewWidget::Okendo => okendo::feed(self),
        }
    }

    /// Returns the path for the rating summary of a product, by Shopify's id.
    #[must_use]
    pub fn product(&self, product: u64) -> String {
        match self.widget {
            ReviewWidget::Judgeme => judgeme::product(self, product),
            ReviewWidget::Yotpo => yotpo::product(self, product),
            ReviewWidget::Stamped => stamped::product(self, product),
            ReviewWidget::Okendo => okendo::product(self, product),
        }
    }

    /// Parses the answer to [`WidgetKey::overview`].
    pub fn read_overview(&self, bytes: &[u8]) -> Result<Overview, AnswerError> {
        match self.widget {
            ReviewWidget::Okendo => okendo::read_totals(bytes),
            _ => self.read_feed(bytes, &Next::Page(1)).map(Overview::Page),
        }
    }

    /// Parses the answer to [`WidgetKey::feed`]. A next page outside the shop's own path is ignored.
    ///
    /// # Errors
    /// [`AnswerError`]. A record that cannot be parsed is not an error of the page.
    pub fn read_feed(&self, bytes: &[u8], at: &Next) -> Result<FeedPage, AnswerError> {
        let mut page = match self.widget {
            ReviewWidget::Judgeme => judgeme::read_feed(bytes)?,
            ReviewWidget::Yotpo => yotpo::read_feed(bytes)?,
            ReviewWidget::Stamped => stamped::read_feed(bytes)?,
            ReviewWidget::Okendo => okendo::read_feed(self, bytes)?,
        };
        match (at, self.widget) {
            (_, ReviewWidget::Okendo) => {
                page.next = page.next.filter(|next| match next {
                    Next::Link(link) => link.len() <= LINK_BYTES_MAX,
                    Next::Page(_) => false,
                });
            }
            (Next::Page(number), _) if page.records() > 0 => page.next = number.checked_add(1).map(Next::Page),
            _ => page.next = None,
        }
        Ok(page)
    }

    /// Parses the answer to [`WidgetKey::product`].
    pub fn read_product(&self, bytes: &[u8]) -> Result<Summary, AnswerError> {
        match self.widget {
            ReviewWidget::Judgeme => judgeme::read_product(bytes),
            ReviewWidget::Yotpo => yotpo::read_product(bytes),
            ReviewWidget::Stamped => stamped::read_product(bytes),
            ReviewWidget::Okendo => okendo::read_product(bytes),
        }
    }
}

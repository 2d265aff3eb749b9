use data_model::{BrandSlug, CategoryId};
use search::{FacetWindow, Order};

use super::{
    Answer, BrowseOf, BrowseRequest, Conditional, Filters, Fold, IfNoneMatch, Limit, OperationError, ParsedName,
};
use crate::cursor::Cursor;
use crate::server::QueryServer;

/// Request for one page of a brand's catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BrandProductsRequest {
    /// Slug of the brand.
    pub brand: ParsedName<BrandSlug>,
    /// Category of the products, including subcategories.
    pub category: Option<ParsedName<CategoryId>>,
    /// Filters that products must pass.
    pub filters: Filters,
    /// Sort order of the products.
    pub order: Order,
    /// Rule for combining products into one card.
    pub fold: Fold,
    /// Facet values to show.
    pub facet_window: FacetWindow,
    /// Maximum number of products on the page.
    pub limit: Limit<24, 60>,
    /// End of the previous page; see [`QueryServer::cursor`].
    pub cursor: Option<Cursor>,
}

impl BrandProductsRequest {
    /// Requests the first page of all products of a brand.
    #[must_use]
    pub fn first(brand: BrandSlug) -> Self {
        Self {
            brand: ParsedName::Known(brand),
            category: None,
            filters: Filters::default(),
            order: Order::default(),
            fold: Fold::default(),
            facet_window: FacetWindow::default(),
            limit: Limit::default(),
            cursor: None,
        }
    }
}

impl From<BrandProductsRequest> for BrowseRequest {
    fn from(request: BrandProductsRequest) -> Self {
        let BrandProductsRequest {
            brand,
            category,
            filters,
            order,
            fold,
            facet_window,
            limit,
            cursor,
        } = request;
        Self {
            of: match category {
                Some(category) => BrowseOf::BrandCategory(brand, category),
                None => BrowseOf::Brand(brand),
            },
            filters,
            order,
            fold,
            facet_window,
            limit,
            cursor,
        }
    }
}

impl QueryServer {
    /// Returns one page of a brand's products, like [`QueryServer::browse`] for the brand.
    ///
    /// # Errors
    /// As [`QueryServer::browse`].
    pub async fn brand_products(&self, request: BrandProductsRequest) -> Result<Answer, OperationError> {
        self.brand_products_unless(request, IfNoneMatch::NOTHING).await?.whole()
    }

    pub(crate) async fn brand_products_unless(
        &self,
        request: BrandProductsRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        self.browse_unless(request.into(), known).await
    }
}

use data_model::{BrandSlug, CategoryId};
use search::{FacetWindow, Order};

use super::{
    Answer, BrowseOf, BrowseRequest, Conditional, Filters, Fold, IfNoneMatch, Limit, OperationError, ParsedName,
};
use crate::cursor::Cursor;
use crate::server::QueryServer;

/// A question for one page of a brand's catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BrandProductsRequest {
    /// The brand.
    pub brand: ParsedName<BrandSlug>,
    /// Only products in this category or below it.
    pub category: Option<ParsedName<CategoryId>>,
    /// The filters that products must pass.
    pub filters: Filters,
    /// The order of the products.
    pub order: Order,
    /// The products that share one card.
    pub fold: Fold,
    /// The values of facets that are shown.
    pub facet_window: FacetWindow,
    /// Most products of the page.
    pub limit: Limit<24, 60>,
    /// The end of the page before; see [`QueryServer::cursor`].
    pub cursor: Option<Cursor>,
}

impl BrandProductsRequest {
    /// The first page of all that the brand has.
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
    /// One page of a brand's products: what [`QueryServer::browse`] answers for the brand.
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

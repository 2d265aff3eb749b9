use api::EntityTag;
use data_model::{Pincode, ProductIdent};

use super::{Answer, Conditional, DeliveryTo, IfNoneMatch, Limit, OperationError};
use crate::delivery::Destination;
use crate::render::{json, offers};
use crate::server::QueryServer;

/// A question for what all brands ask for one product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OffersRequest {
    /// The product, as one of them sells it.
    pub product: ProductIdent,
    /// Most offers.
    pub limit: Limit<20, 100>,
    /// The pincode to deliver to; `None` leaves delivery out.
    pub pincode: Option<Pincode>,
}

impl OffersRequest {
    /// As many offers as are answered by default.
    #[must_use]
    pub fn of(product: ProductIdent) -> Self {
        Self {
            product,
            limit: Limit::default(),
            pincode: None,
        }
    }
}

impl QueryServer {
    /// The offers of all brands for one product, this one's own among them: those in stock first, then those in its own
    /// currency, in each currency the cheapest first.
    ///
    /// # Errors
    /// `ProductNotFound`, `NotReady`.
    pub fn offers(&self, request: &OffersRequest) -> Result<Answer, OperationError> {
        self.offers_unless(request, IfNoneMatch::NOTHING)?.whole()
    }

    pub(crate) fn offers_unless(
        &self,
        request: &OffersRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let to = request.pincode.map(|pincode| DeliveryTo { pincode, by: None });
        let to = self.destination(to);
        self.at_once(|served| {
            let at = served.find(&request.product)?;
            let day = to.as_ref().map(Destination::stamp);
            let tag = match &day {
                Some(day) => EntityTag::following(&[served.stamp(), b"offers", day], request),
                None => EntityTag::following(&[served.stamp(), b"offers"], request),
            };
            Conditional::known(known, tag, || {
                let answer = offers::list(served, at, request.limit.get(), to.as_ref());
                Ok(json(answer.data.len() * 900 + 256, &answer))
            })
        })
    }
}

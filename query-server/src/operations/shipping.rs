use api::EntityTag;
use data_model::{Pincode, ProductIdent};

use super::{Answer, Conditional, IfNoneMatch, OperationError};
use crate::delivery::stamp;
use crate::render::json;
use crate::render::shipping::{self, OrderedIn};
use crate::schema::BrandShipping;
use crate::server::QueryServer;

/// Request for the shipping of a product to a pincode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ShippingRequest {
    /// Product to ship.
    pub product: ProductIdent,
    /// Delivery pincode.
    pub pincode: Pincode,
}

impl QueryServer {
    /// Returns the brand's terms and the known delivery time. Dates count from today in the market's time zone. The
    /// store handles orders in its own time zone, if its country has only one.
    ///
    /// # Errors
    /// `ProductNotFound`, `NotReady`.
    pub fn shipping(&self, request: &ShippingRequest) -> Result<Answer, OperationError> {
        self.shipping_unless(request, IfNoneMatch::NOTHING)?.whole()
    }

    pub(crate) fn shipping_unless(
        &self,
        request: &ShippingRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let served = self.served()?;
        let at = served.find(&request.product)?;
        let ordered = self.ordered_now();
        let local = ordered.now.plus_millis(ordered.market.ahead_ms(ordered.now));
        let tag = EntityTag::following(&[served.stamp(), b"shipping", &stamp(local)], request);
        Conditional::known(known, tag, || {
            let answer = shipping::answer(&served, at, request.pincode, ordered);
            Ok(json(2048, &answer.ok_or(OperationError::ProductNotFound)?))
        })
    }

    /// Applies `read` to the shipping of each brand to a pincode, in the order of
    /// [`Release::brands`](data_index::Release::brands).
    ///
    /// # Errors
    /// `NotReady`.
    pub fn shipping_of_brands<T>(
        &self,
        pincode: Pincode,
        read: impl FnOnce(&[BrandShipping<'_>]) -> T,
    ) -> Result<T, OperationError> {
        let served = self.served()?;
        let ordered = self.ordered_now();
        let brands = 0..served.release.brands().len();
        let known = brands.filter_map(|brand| shipping::of_brand(&served.release, brand, pincode, ordered));
        Ok(read(&known.collect::<Vec<_>>()))
    }

    fn ordered_now(&self) -> OrderedIn<'_> {
        OrderedIn {
            now: self.0.clock.now(),
            market: self.0.config.market_time_zone,
            holidays: self.0.config.holidays.as_ref(),
        }
    }
}

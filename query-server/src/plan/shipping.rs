use api::{PathParameters, Problem, QueryReader, Rule, product_ident};
use data_model::{ErrorCode, Pincode, ProductIdent};

/// A question for shipping, its parameters checked.
#[derive(Debug)]
pub(crate) struct ShippingPlan {
    pub(crate) ident: ProductIdent,
    pub(crate) pincode: Pincode,
}

impl ShippingPlan {
    /// Reads the parameters of `GET /v1/shipping`.
    pub(crate) fn read(query: Option<&str>) -> Result<Self, Problem> {
        let mut reader = QueryReader::new(query);
        reader.require("product");
        let ident = reader.parsed("product", product_ident);
        reader.require("pincode");
        let pincode = reader.parsed("pincode", |text| {
            text.parse().map_err(|_| Rule::StringPatternMismatch("^[1-9][0-9]{5}$"))
        });
        let (ident, pincode) = reader
            .finish(PathParameters::none(), ident.zip(pincode))?
            .ok_or_else(|| Problem::new(ErrorCode::Internal))?;
        Ok(Self { ident, pincode })
    }
}

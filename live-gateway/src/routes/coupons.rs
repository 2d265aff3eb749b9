use api::{LiveErrors, PathParameters, Problem, QueryReader, Rule, product_ident};
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::ErrorCode;
use http::StatusCode;

use crate::coupons::schema::{CouponEntry, Coupons, CouponsAnswer, CouponsParameters, CouponsProvenance, UntestedCode};
use crate::coupons::{CouponsError, CouponsFound, CouponsOf, CouponsRequest, Finder};

/// Maximum and default number of candidates.
const CANDIDATES_MAX: i64 = 100;
const CANDIDATES: i64 = 40;
/// Parameters that select the product or brand; exactly one must be given.
const NAMES: [&str; 3] = ["product", "brand", "domain"];
const EXACTLY_ONE: Rule = Rule::Value("send exactly one of product, brand and domain");

/// Finds discount codes that work at a brand's store by entering them there.
///
/// Exactly one of `product`, `brand` and `domain` must be given. Candidates are codes that worked before, codes stated
/// on the store's front page and in its policies, common codes, and codes formed from the brand's name. Candidates are
/// entered on a cart of one item at the brand's own store. The item is the requested product. For a brand the item is a
/// product in stock that costs more than most of the brand's products, so that most minimum order values are met.
/// `coupons` lists the codes that the store accepted as applicable, with the discount that the store reported, the
/// highest first. A code may work on one cart and not on another. Codes that are limited to other products, to a higher
/// order value or to one customer are not found.
///
/// Outcomes are remembered for a while (`tested_at`), so a second request is fast. Untested codes are listed in
/// `untested` with the reason, and `verified` is false then. If the reason is `budget`, testing continues after the
/// response. A failure of a store is never an error of this operation. Only stores of registered brands are queried.
#[utoipa::path(
    get,
    path = "/v1/coupons",
    operation_id = "find_coupons",
    tag = "Live",
    params(CouponsParameters),
    responses(
        (status = 200, description = "The codes.", body = CouponsAnswer, headers(("X-Request-Id" = String))),
        (status = 404, description = "The product (`product_not_found`) or brand (`brand_not_found`) does not exist. \
            No store was queried.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        LiveErrors,
    )
)]
pub(crate) async fn find_coupons(State(finder): State<Finder>, request: Request) -> Result<Response, Problem> {
    let asked = asked(request.uri().query())?;
    // The future is boxed because it is large.
    let found = Box::pin(finder.find(&asked)).await.map_err(|error| problem(&error))?;
    Ok(api::json(StatusCode::OK, &document(found)))
}

fn asked(query: Option<&str>) -> Result<CouponsRequest, Problem> {
    let mut reader = QueryReader::new(query);
    let given = NAMES.map(|name| !reader.optional(name).is_absent());
    let product = reader.optional("product").parsed(product_ident).map(CouponsOf::Product);
    let brand = reader.optional("brand").text(300);
    let brand = brand.map(|brand| CouponsOf::Brand(brand.into_owned()));
    let domain = reader.optional("domain").text(300);
    let domain = domain.map(|domain| CouponsOf::Domain(domain.into_owned()));
    let count = given.iter().filter(|given| **given).count();
    if count == 0 {
        reader.refuse(NAMES[0], &EXACTLY_ONE, None);
    } else if count > 1 {
        for (name, _) in NAMES.into_iter().zip(given).filter(|(_, given)| *given) {
            reader.refuse(name, &EXACTLY_ONE, None);
        }
    }
    let most = reader.optional("max_candidates").integer(1..=CANDIDATES_MAX);
    let of = reader.finish(PathParameters::none(), product.or(brand).or(domain))?;
    Ok(CouponsRequest {
        of: of.ok_or_else(|| Problem::new(ErrorCode::Internal))?,
        candidates_max: u8::try_from(most.unwrap_or(CANDIDATES)).unwrap_or(u8::MAX),
    })
}

fn document(found: CouponsFound) -> CouponsAnswer {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let entries = found.coupons.into_iter().map(|coupon| CouponEntry {
        code: coupon.code,
        applicable: true,
        discount_minor: coupon.effect.discount_minor,
        subtotal_minor: coupon.effect.subtotal_minor,
        total_minor: coupon.effect.total_minor,
        currency: coupon.effect.currency.to_string(),
        kind: coupon.effect.kind,
        source: coupon.source,
        tested_at: coupon.tested_at,
    });
    CouponsAnswer {
        data: Coupons {
            brand_slug: found.brand.to_string(),
            product_id: found.item.map(|item| item.product.to_string()),
            variant_id: found.item.map(|item| item.variant.to_string()),
            verified: found.untested.is_empty(),
            coupons: entries.collect(),
            candidates: count(found.candidates),
            tested: count(found.tested),
            untested: found
                .untested
                .into_iter()
                .map(|(code, reason)| UntestedCode { code, reason })
                .collect(),
        },
        provenance: CouponsProvenance {
            engine: "live",
            release: found.release.to_string(),
            remembered: count(found.remembered),
        },
        as_of: found.as_of,
        tier: "live",
    }
}

fn problem(error: &CouponsError) -> Problem {
    match error {
        CouponsError::Catalogue(error) => super::prices::problem(error),
        error => Problem::of(error),
    }
}

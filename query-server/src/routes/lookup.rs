use api::{GraphErrors, IgnoredParameter, PathParameters, Problem, QueryReader, Rule};
use axum::extract::{Request, State};
use axum::response::Response;
use data_model::ErrorCode;

use super::read;
use super::write::{known, written};
use crate::lookup::LookupKey;
use crate::operations::{IfNoneMatch, LookupRequest};
use crate::schema::{LookupAnswer, LookupParameters};
use crate::server::QueryServer;

/// Maximum length of a URL, SKU or handle, in characters.
const CHARS_MAX: usize = 2_048;

/// Finds products by the URLs of their pages, by SKU or by handle.
///
/// `url`, `sku` and `handle` may each be repeated, at most 20 in total. The answer has one entry for each, in request
/// order, with an empty list if nothing matches. Only exact matches count. A URL may have any host of the brand, with
/// or without scheme and `www.`, below any language or collection path, and with anything appended. A handle requires
/// its `brand`; its letters may be composed or not (Unicode NFC, NFD) and escaped or not. A SKU must be written as in
/// the store, including spaces and case; a SKU without letters and digits is not found. With `brand`, only that brand's
/// SKUs are searched. If many products match, at most 20 are listed, most presentable first, and `more` is true.
#[utoipa::path(
    get,
    path = "/v1/lookup",
    operation_id = "lookup_products",
    tag = "Discovery",
    params(LookupParameters),
    responses(
        (status = 200, description = "The products found, in the order of the request.", body = LookupAnswer<'static>,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn lookup_products(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    let headers = request.headers();
    let (asked, ignored) = asked(request.uri().query())?;
    let is_known = known(headers);
    let answered = server.lookup_unless(asked, IfNoneMatch::by(&is_known)).await?;
    Ok(written(answered, headers, &ignored))
}

fn asked(query: Option<&str>) -> Result<(LookupRequest, Vec<IgnoredParameter>), Problem> {
    let mut reader = QueryReader::new(query);
    let brand = read::brand(&mut reader);
    let [url, sku, handle] = LookupKey::NAMES;
    let (mut asked, mut handles) = (0, 0);
    let keys = reader.each(&LookupKey::NAMES, LookupRequest::KEYS_MAX, |name, field| {
        asked += 1;
        handles += usize::from(name == handle);
        let text = field.text(CHARS_MAX)?.into_owned();
        Some(match name {
            _ if name == url => LookupKey::Url(text),
            _ if name == sku => LookupKey::Sku(text),
            _ => LookupKey::Handle(text),
        })
    });
    if asked == 0 && !LookupKey::NAMES.iter().any(|name| reader.refused(name)) {
        reader.refuse(url, &Rule::Missing, Some(serde_json::Value::Null));
    }
    if handles > 0 && brand.is_none() && !reader.refused("brand") {
        reader.refuse("brand", &Rule::Missing, Some(serde_json::Value::Null));
    }
    let ignored = reader.ignored();
    let request = reader.finish(PathParameters::none(), LookupRequest::new(keys, brand))?;
    Ok((request.ok_or_else(|| Problem::new(ErrorCode::Internal))?, ignored))
}

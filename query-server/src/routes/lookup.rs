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

/// Longest address, SKU or handle, in characters.
const CHARS_MAX: usize = 2_048;

/// Products by the addresses of their pages, by SKU or by handle.
///
/// Each of `url`, `sku` and `handle` may be given several times, at most 20 in all; the answer has one entry for each, in the
/// order asked, with an empty list where nothing fits. A match is exact or none. An address is that of any host of the
/// brand, with or without scheme and `www.`, below whatever language or collection, whatever is appended to it. A handle
/// needs the `brand` whose handle it is; its letters may be composed or not (Unicode NFC, NFD) and escaped or not. A SKU counts
/// as the store writes it, spaces and capitals too; one that has neither letter nor digit is not found. With `brand` only that
/// brand's SKUs count. Of many products at most 20 are told, the most presentable first, and `more` is true.
#[utoipa::path(
    get,
    path = "/v1/lookup",
    operation_id = "lookup_products",
    tag = "Discovery",
    params(LookupParameters),
    responses(
        (status = 200, description = "What was found, in the order asked.", body = LookupAnswer<'static>,
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

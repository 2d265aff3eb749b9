use api::{Asset, GraphAnswer, GraphErrors, PathParameters, Problem};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use data_index::BrandEntry;
use data_index::taxonomy::{self, Category};
use data_model::{BrandSlug, ErrorCode};

use super::checked_tag_of;
use crate::cursor::Cursors;
use crate::plan::brands::BrandsPlan;
use crate::render::brand;
use crate::schema::{BrandAnswer, BrandsAnswer, BrandsParameters};
use crate::server::QueryServer;

/// Brands, those with most products first.
///
/// `q` is looked for in name, slug and domain; `category` (slug or id) keeps brands with a product in it or below it.
#[utoipa::path(
    get,
    path = "/v1/brands",
    operation_id = "list_brands",
    tag = "Discovery",
    params(BrandsParameters),
    responses(
        (status = 200, description = "A page of brands.", body = BrandsAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such category.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn list_brands(State(server): State<QueryServer>, request: Request) -> Result<Response, Problem> {
    let key = &server.0.config.cursor_key;
    let plan = BrandsPlan::read(request.uri().query(), key)?;
    let served = server.served()?;
    let checked = served.checked.load_full();
    let category = plan.category()?;
    let slug = category.map_or("", |category| &category.slug);
    let list: [&[u8]; 4] = [served.stamp(), b"brands", plan.text.as_bytes(), slug.as_bytes()];
    let cursors = Cursors::new(key, &list);
    let start = match &plan.cursor {
        Some(cursor) => cursors.position(cursor)?,
        None => 0,
    };
    let page = || {
        let mut matching = served
            .brands_by_size()
            .filter(|entry| plan.is_found_in(&entry.facts.brand) && is_filed_under(category, entry))
            .skip(start);
        let page: Vec<&BrandEntry> = matching.by_ref().take(plan.limit).collect();
        let end = u32::try_from(start + page.len()).unwrap_or(u32::MAX);
        let next_cursor = matching.next().map(|_| cursors.write(end));
        brand::page(&served, &checked, &page, next_cursor.as_deref())
    };
    // The cursor is signed, so servers with other keys answer other bytes.
    let tag = checked_tag_of(&served, &checked, key.bytes(), request.uri());
    if request.uri().query().is_none() {
        let head = checked.brands_head(|| Asset::graph(tag, page()));
        return Ok(head.answer(request.headers()));
    }
    let answer = GraphAnswer::unless_known(request.headers(), tag, || Ok::<_, Problem>(page()));
    answer.map(IntoResponse::into_response)
}

fn is_filed_under(category: Option<&Category>, entry: &BrandEntry) -> bool {
    category.is_none_or(|wanted| {
        entry
            .categories
            .iter()
            .any(|held| taxonomy::lineage(held.category).any(|above| above.id == wanted.id))
    })
}

/// One brand.
#[utoipa::path(
    get,
    path = "/v1/brands/{slug}",
    operation_id = "get_brand",
    tag = "Discovery",
    params(("slug" = String, Path, description = "The brand's slug.")),
    responses(
        (status = 200, description = "The brand.", body = BrandAnswer,
            headers(("ETag" = String), ("X-Request-Id" = String))),
        (status = 404, description = "No such brand.", body = api::ProblemDocument,
            content_type = "application/problem+json", headers(("X-Request-Id" = String))),
        GraphErrors,
    )
)]
pub(crate) async fn get_brand(
    State(server): State<QueryServer>,
    path: PathParameters,
    request: Request,
) -> Result<GraphAnswer, Problem> {
    let slug = path.text("slug").and_then(|text| text.parse::<BrandSlug>().ok());
    api::QueryReader::new(None).finish(path, ())?;
    let served = server.served()?;
    // A text that is no slug names no brand.
    let entry = slug.and_then(|slug| served.release.brand_by_slug(&slug));
    let entry = entry.ok_or_else(|| Problem::new(ErrorCode::BrandNotFound))?;
    let checked = served.checked.load_full();
    let tag = checked_tag_of(&served, &checked, &[], request.uri());
    GraphAnswer::unless_known(request.headers(), tag, || Ok(brand::detail(&served, &checked, entry)))
}

use data_model::StoredBrand;
use futures::future::join_all;
use storefront::StoreError;
use tokio::time::Instant;

use crate::cart_client::{CartClient, CartError};
use crate::cart_context::CallerContext;
use crate::cart_failure::CartFailure;
use crate::carts::{Carts, Intent, TriedCode};
use crate::rules::carts::draft::draft;
use crate::rules::carts::ids::CartId;
use crate::rules::carts::optimum::Search;
use crate::rules::carts::record::{BrandTarget, CartRecord, Group, Target};
use crate::rules::store_cart::{Buyer, CartDraft};
use crate::schema::carts::{CartAnswerDocument, OptimizedCart, OptimizedGroup, Saving};

/// Result of a search for codes at one store.
#[derive(Debug)]
struct CodeSearchResult {
    brand: StoredBrand,
    before: Group,
    /// List of codes that is better than the current one.
    better: Option<Vec<String>>,
    tested: usize,
    untested: usize,
    stopped_by: Option<&'static str>,
}

impl Carts {
    /// Finds the codes with the highest discount at each store of the cart and applies them. Codes are tried on a
    /// separate cart, so that the buyer's cart changes only once and only if it becomes cheaper.
    pub(crate) async fn optimize(
        &self,
        asked: &CallerContext,
        id: &CartId,
    ) -> Result<CartAnswerDocument<OptimizedCart>, CartFailure> {
        let asked = &CallerContext {
            time: asked.time.at_least(self.context.config.optimize_budget_ms),
            ..asked.clone()
        };
        let (_, record) = self.look(id, &asked.caller).await?;
        let searches = if record.is_done(&asked.operation) || record.open.is_some() {
            Vec::new()
        } else {
            let deadline = asked.time.before_work();
            let brands = record.groups.iter().map(|group| &group.brand);
            let buyers = self.buyers(&asked.caller, &record, brands).await?;
            let searches = record.groups.iter().map(|group| {
                let buyer = buyers.get(&group.brand.store).cloned().unwrap_or_default();
                Box::pin(self.search(&asked.caller, &record, group, buyer, deadline))
            });
            join_all(searches).await
        };
        let mut searches = searches;
        let changed = self.change(asked, id, |record| {
            let mut targets = Vec::new();
            for searched in &mut searches {
                let Some(codes) = searched.better.clone() else { continue };
                if !is_same(record, &searched.before) {
                    searched.better = None;
                    searched.stopped_by = Some("changed");
                    continue;
                }
                let target = Target {
                    codes: Some(codes),
                    ..Target::default()
                };
                let brand = searched.brand.clone();
                targets.push(BrandTarget { brand, target });
            }
            targets.extend(untouched(record, &targets));
            Ok(Intent {
                targets,
                ..Intent::default()
            })
        });
        let changed = changed.await?;
        let optimized: Vec<_> = searches
            .iter()
            .map(|searched| told(searched, &changed.record))
            .collect();
        let saved = savings(&searches, &changed.record);
        let CartAnswerDocument { data: cart, as_of, .. } = changed.document(self.context.clock.now());
        Ok(CartAnswerDocument::new(OptimizedCart { cart, optimized, saved }, as_of))
    }

    /// Tries codes at one store, on a copy of the buyer's cart.
    async fn search(
        &self,
        caller: &str,
        record: &CartRecord,
        group: &Group,
        buyer: Buyer,
        deadline: Instant,
    ) -> CodeSearchResult {
        let brand = &group.brand;
        let standing = group.codes();
        let max = self.context.config.optimize_codes_max;
        let candidates = self.candidates.candidates(brand, max, deadline).await;
        let kept = candidates.len().min(max);
        let mut search = Search::new(&standing, &candidates[..kept]);
        let mut tried = Vec::new();
        let none = Target {
            codes: Some(Vec::new()),
            ..Target::default()
        };
        let draft = draft(Some(&group.seen), &group.wanted, &none, record.address.as_ref(), buyer);
        let stopped_by = match (draft, self.client(brand, caller, deadline)) {
            (Some(mut draft), Ok(client)) if search.next().is_some() => {
                // The trial cart must not have the attributes of the buyer's cart.
                draft.attributes.clear();
                let _place = self.context.place(deadline).await;
                Box::pin(try_codes(&client, &draft, &mut search, &mut tried)).await
            }
            (_, Err(_)) => Some("store"),
            _ => None,
        };
        self.candidates.tried(brand, tried);
        let (tested, untested) = search.counts();
        let better = search.best_below(group.seen.total_minor);
        CodeSearchResult {
            brand: brand.clone(),
            before: group.clone(),
            better: better.map(|(codes, _)| codes.to_vec()),
            tested,
            untested,
            stopped_by,
        }
    }
}

/// Tries lists of codes one after another. Returns the reason if the search ended early.
async fn try_codes(
    client: &CartClient,
    draft: &CartDraft,
    search: &mut Search,
    tried: &mut Vec<TriedCode>,
) -> Option<&'static str> {
    let made = match client.create(draft).await {
        Ok(answer) => answer.cart,
        Err(error) => return Some(why(&error)),
    };
    let Some(bare) = made else { return Some("store") };
    while let Some(list) = search.next() {
        let cart = match client.set_codes(&bare.id, &list).await {
            Ok(answer) if !answer.is_gone() => answer.cart,
            Ok(_) => None,
            Err(error) => return Some(why(&error)),
        };
        let Some(cart) = cart else { return Some("store") };
        if let [code] = list.as_slice() {
            let told = cart.codes.first();
            tried.push(TriedCode {
                code: code.clone(),
                applicable: told.is_some_and(|told| told.applicable),
                discount_minor: told.map_or(0, |told| told.discount_minor),
            });
        }
        search.told(list, &cart);
    }
    None
}

fn why(error: &CartError) -> &'static str {
    match error {
        CartError::Store(StoreError::Deadline { .. } | StoreError::Timeout { .. }) => "budget",
        CartError::Store(StoreError::Throttled { .. } | StoreError::Challenged { .. }) => "throttled",
        _ => "store",
    }
}

/// Returns the targets of unchanged groups. The stores of these groups are read, so that the response has current
/// totals.
fn untouched(record: &CartRecord, targets: &[BrandTarget]) -> Vec<BrandTarget> {
    let is_touched = |group: &Group| targets.iter().any(|one| one.brand.store == group.brand.store);
    let read = |group: &Group| {
        group.aimed_at(Target {
            is_read: true,
            ..Target::default()
        })
    };
    record
        .groups
        .iter()
        .filter(|group| !is_touched(group))
        .map(read)
        .collect()
}

/// True if a group still has the lines and codes of `before`.
fn is_same(record: &CartRecord, before: &Group) -> bool {
    let lines = |group: &Group| -> Vec<_> {
        let lines = group.seen.lines.iter();
        lines.map(|line| (line.variant, line.quantity)).collect()
    };
    let codes = |group: &Group| -> Vec<_> { group.seen.codes.iter().map(|code| code.code.clone()).collect() };
    let now = record.group(&before.brand);
    now.is_some_and(|now| lines(now) == lines(before) && codes(now) == codes(before))
}

fn told(searched: &CodeSearchResult, record: &CartRecord) -> OptimizedGroup {
    let now = record.group(&searched.brand).unwrap_or(&searched.before);
    OptimizedGroup {
        brand_slug: searched.brand.slug.to_string(),
        total_before_minor: searched.before.seen.total_minor,
        saved_minor: saved(searched, record),
        codes: now.seen.codes.iter().map(|code| code.code.clone()).collect(),
        tested: searched.tested,
        untested: searched.untested,
        stopped_by: searched.stopped_by,
    }
}

fn saved(searched: &CodeSearchResult, record: &CartRecord) -> i64 {
    let now = record.group(&searched.brand).filter(|_| searched.better.is_some());
    now.map_or(0, |now| searched.before.seen.total_minor - now.seen.total_minor)
}

fn savings(searches: &[CodeSearchResult], record: &CartRecord) -> Vec<Saving> {
    let mut sums = std::collections::BTreeMap::new();
    for searched in searches {
        *sums.entry(searched.before.seen.currency.as_str()).or_insert(0) += saved(searched, record);
    }
    let saving = |(currency, saved_minor): (&str, i64)| Saving {
        currency: currency.to_owned(),
        saved_minor,
    };
    sums.into_iter().map(saving).collect()
}

//! Cart lines: adding, changing and removing them, and limiting their quantity to the stock.

use uuid::Uuid;

use super::rules::checked_attributes;
use super::{Attribute, Cart, CartRefusal, LINES_MAX, Line, Notice, Offers, Refusal};

const QUANTITY_MAX: i64 = 1_000_000;

#[derive(Debug, Clone)]
pub(crate) struct LineInput {
    /// Id of the variant, as the request states it.
    pub(crate) merchandise: String,
    /// Number in the variant's id, or `None` if the id is not of a variant.
    pub(crate) variant: Option<u64>,
    pub(crate) quantity: i64,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) selling_plan: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct LineChange {
    /// Number in the line's id, as requested.
    pub(crate) id: String,
    pub(crate) merchandise: Option<(String, Option<u64>)>,
    pub(crate) quantity: Option<i64>,
    pub(crate) attributes: Option<Vec<Attribute>>,
    pub(crate) selling_plan: bool,
}

fn at<'a>(prefix: &[&'a str], nth: &'a str, name: &'a str) -> Vec<&'a str> {
    let mut field = prefix.to_vec();
    field.push(nth);
    field.push(name);
    field
}

fn quantity_of(asked: i64, field: &[&str]) -> Result<u64, CartRefusal> {
    if asked > QUANTITY_MAX {
        let message = format!("The quantity must be less than or equal to {QUANTITY_MAX}.");
        return Err(CartRefusal::whole(Refusal::new("LESS_THAN", field, message)));
    }
    u64::try_from(asked).map_err(|_| {
        let message = "The quantity must be greater than or equal to 0.";
        CartRefusal::whole(Refusal::new("INVALID", field, message))
    })
}

fn no_merchandise(id: &str, field: &[&str]) -> CartRefusal {
    let message = format!("The merchandise with id {id} does not exist.");
    CartRefusal::whole(Refusal::new("INVALID", field, message))
}

fn no_plan(field: &[&str]) -> CartRefusal {
    // Emulated stores have no selling plans.
    let message = "Cannot apply selling plan to variant";
    CartRefusal::whole(Refusal::new("SELLING_PLAN_NOT_APPLICABLE", field, message))
}

fn no_line(id: &str, field: &[&str]) -> CartRefusal {
    let message = format!("The merchandise line with id {id} does not exist.");
    CartRefusal::beside(vec![Refusal::new("INVALID_MERCHANDISE_LINE", field, message)])
}

impl Cart {
    /// Adds units to the line with the same variant and attributes, or to a new line. Returns notices about units that
    /// are out of stock. `prefix` is the path of the lines in the arguments.
    pub(crate) fn add_lines(
        &mut self,
        inputs: &[LineInput],
        prefix: &[&str],
        offers: &Offers<'_>,
    ) -> Result<Vec<Notice>, CartRefusal> {
        let mut short = Vec::new();
        for (nth, input) in inputs.iter().enumerate() {
            let place = nth.to_string();
            let merchandise = at(prefix, &place, "merchandiseId");
            let offer = input.variant.and_then(|variant| Some((variant, offers.find(variant)?)));
            let Some((variant, offer)) = offer else {
                return Err(no_merchandise(&input.merchandise, &merchandise));
            };
            if input.selling_plan {
                return Err(no_plan(&at(prefix, &place, "sellingPlanId")));
            }
            let asked = quantity_of(input.quantity, &at(prefix, &place, "quantity"))?;
            checked_attributes(&input.attributes, &at(prefix, &place, "attributes"))?;
            if asked == 0 {
                continue;
            }
            let held: u64 = self.pieces_of(variant);
            let added = offer.most().map_or(asked, |most| asked.min(most.saturating_sub(held)));
            let id = self.put(variant, added, input)?;
            if added > 0 && added < asked {
                short.push(not_enough(id, added));
            }
        }
        Ok(short)
    }

    pub(super) fn pieces_of(&self, variant: u64) -> u64 {
        let lines = self.lines.iter().filter(|line| line.variant == variant);
        lines.map(|line| line.quantity).sum()
    }

    fn put(&mut self, variant: u64, added: u64, input: &LineInput) -> Result<Uuid, CartRefusal> {
        let same = |line: &&mut Line| line.variant == variant && line.attributes == input.attributes;
        if let Some(line) = self.lines.iter_mut().find(same) {
            line.quantity += added;
            return Ok(line.id);
        }
        if self.lines.len() >= LINES_MAX {
            let message = "The cart is too large to save.";
            return Err(CartRefusal::whole(Refusal::new("CART_TOO_LARGE", &["cartId"], message)));
        }
        let id = Uuid::new_v4();
        self.lines.push(Line {
            id,
            variant,
            quantity: added,
            attributes: input.attributes.clone(),
        });
        Ok(id)
    }

    /// Changes lines. The stock goes first to the changed lines, then to the others, the oldest first.
    pub(crate) fn change_lines(
        &mut self,
        changes: &[LineChange],
        offers: &Offers<'_>,
    ) -> Result<Vec<Notice>, CartRefusal> {
        let mut changed = Vec::new();
        for (nth, change) in changes.iter().enumerate() {
            let place = nth.to_string();
            let prefix = ["lines"];
            let found = self.lines.iter().position(|line| line.id.to_string() == change.id);
            let Some(found) = found else {
                return Err(no_line(&change.id, &at(&prefix, &place, "id")));
            };
            if change.selling_plan {
                return Err(no_plan(&at(&prefix, &place, "sellingPlanId")));
            }
            let quantity = change
                .quantity
                .map(|asked| quantity_of(asked, &at(&prefix, &place, "quantity")))
                .transpose()?;
            if let Some(attributes) = &change.attributes {
                checked_attributes(attributes, &at(&prefix, &place, "attributes"))?;
            }
            if let Some((id, variant)) = &change.merchandise {
                let known = variant.filter(|variant| offers.find(*variant).is_some());
                let known = known.ok_or_else(|| no_merchandise(id, &at(&prefix, &place, "merchandiseId")))?;
                self.lines[found].variant = known;
            }
            let line = &mut self.lines[found];
            line.quantity = quantity.unwrap_or(line.quantity);
            if let Some(attributes) = &change.attributes {
                line.attributes.clone_from(attributes);
            }
            if quantity == Some(0) {
                self.lines.remove(found);
            } else {
                changed.push(self.lines[found].id);
            }
        }
        Ok(self.fit(&changed, offers))
    }

    pub(crate) fn remove_lines(&mut self, ids: &[String]) -> Result<(), CartRefusal> {
        for (nth, id) in ids.iter().enumerate() {
            let found = self.lines.iter().position(|line| line.id.to_string() == *id);
            let Some(found) = found else {
                return Err(no_line(id, &["lineIds", &nth.to_string()]));
            };
            self.lines.remove(found);
        }
        Ok(())
    }

    /// Limits every line to the stock, and removes lines whose variant no longer exists. A line without stock stays
    /// with quantity 0. The lines in `first` get stock before the others.
    pub(crate) fn fit(&mut self, first: &[Uuid], offers: &Offers<'_>) -> Vec<Notice> {
        self.lines.retain(|line| offers.find(line.variant).is_some());
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        order.sort_by_key(|nth| !first.contains(&self.lines[*nth].id));
        let mut given: std::collections::HashMap<u64, u64> = std::collections::HashMap::new();
        let mut short = Vec::new();
        for nth in order {
            let line = &mut self.lines[nth];
            let Some(offer) = offers.find(line.variant) else {
                continue;
            };
            let taken = given.entry(line.variant).or_default();
            if let Some(most) = offer.most() {
                let left = most.saturating_sub(*taken);
                if line.quantity > left {
                    line.quantity = left;
                    if left > 0 {
                        short.push(not_enough(line.id, left));
                    }
                }
            }
            *taken += line.quantity;
        }
        short
    }
}

fn not_enough(line: Uuid, left: u64) -> Notice {
    let (items, were) = if left == 1 { ("item", "was") } else { ("items", "were") };
    Notice {
        code: "MERCHANDISE_NOT_ENOUGH_STOCK",
        message: format!("Only {left} {items} {were} added to your cart due to availability."),
        line: Some(line),
    }
}

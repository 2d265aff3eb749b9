use super::json::ObjectWriter;
use crate::delivery::CardDelivery;

/// Writes what is known of delivery as a member of a card.
pub(super) fn delivery(object: &mut ObjectWriter<'_>, told: &CardDelivery) {
    object.object("delivery", |object| {
        object.integer_or_null("days_min", told.days.min);
        object.integer_or_null("days_max", told.days.max);
        object.flag_or_null("serviceable", told.serviceable);
        object.flag_or_null("cod", told.cod);
        object.flag_or_null("free_shipping", told.free_shipping);
    });
}

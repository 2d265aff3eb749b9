-- What stores said of discount codes on a cart of one item. Moments are microseconds since 1970.
-- `variant` is the platform's id of the item; 0 where the store says that it has no such code, whatever the cart; -1 for a
-- code that applied to a cart of other things, whose amounts say nothing here.
CREATE TABLE coupon_outcomes (
    store TEXT NOT NULL,
    variant BIGINT NOT NULL,
    code TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('applicable', 'not_applicable', 'unknown_code')),
    kind TEXT,
    discount_minor BIGINT,
    subtotal_minor BIGINT,
    total_minor BIGINT,
    currency TEXT,
    tested_at BIGINT NOT NULL,
    worked_at BIGINT,
    PRIMARY KEY (store, variant, code)
);
CREATE INDEX coupon_outcomes_by_age ON coupon_outcomes (tested_at);

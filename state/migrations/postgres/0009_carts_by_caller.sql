-- The open carts of whoever signs in, in whichever browser.
CREATE INDEX carts_by_caller ON carts (caller, created_at);

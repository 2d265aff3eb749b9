-- Counts the changes of keys; the highest revision of any key, and more where a change touched no look-up.
CREATE TABLE key_revision (
    only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
    value BIGINT NOT NULL
);
INSERT INTO key_revision (only_row, value) VALUES (1, 0);

-- Moments are microseconds since 1970, days are days since 1970 in the market's time zone.
CREATE TABLE keys (
    id TEXT NOT NULL PRIMARY KEY,
    hash BYTEA NOT NULL UNIQUE CHECK (length(hash) = 32),
    hint TEXT NOT NULL,
    name TEXT NOT NULL,
    plan TEXT NOT NULL,
    account TEXT,
    created_at BIGINT NOT NULL,
    last_used_day BIGINT,
    ends_at BIGINT,
    revoked_at BIGINT,
    replaced_by TEXT REFERENCES keys (id),
    revision BIGINT NOT NULL,
    -- A key that came back from a backup of this moment is refused until it is confirmed: it may have been revoked since.
    unconfirmed_since BIGINT
);
CREATE INDEX keys_by_revision ON keys (revision);
CREATE INDEX keys_by_account ON keys (account);

CREATE TABLE usage (
    key_id TEXT NOT NULL,
    day BIGINT NOT NULL,
    route TEXT NOT NULL,
    requests BIGINT NOT NULL CHECK (requests > 0),
    PRIMARY KEY (key_id, day, route)
);
CREATE INDEX usage_by_day ON usage (day);

-- Batches of usage that were added, so that one that is sent again counts once.
CREATE TABLE usage_batches (
    id TEXT NOT NULL PRIMARY KEY,
    day BIGINT NOT NULL
);

CREATE TABLE audit (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    action TEXT NOT NULL,
    key_id TEXT,
    account TEXT,
    detail TEXT NOT NULL
);
CREATE INDEX audit_by_key ON audit (key_id, seq);
CREATE INDEX audit_by_account ON audit (account, seq);
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit is append-only';
END;
$$;
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_is_never_cut BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- Ids of the master keys that were ever in use.
CREATE TABLE master_keys (
    id TEXT NOT NULL PRIMARY KEY,
    first_seen_at BIGINT NOT NULL
);

-- Who may sign in, as their provider knows them; `local` provides those of the operator's own links.
CREATE TABLE accounts (
    id TEXT NOT NULL PRIMARY KEY,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    email TEXT,
    created_at BIGINT NOT NULL,
    UNIQUE (issuer, subject)
);

-- Of a session's token, a link's and a sign-in's secret the SHA-256 alone is kept.
CREATE TABLE sessions (
    hash BYTEA NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL REFERENCES accounts (id),
    method TEXT NOT NULL,
    client TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    idle_ms BIGINT NOT NULL,
    -- The end, however often it is used.
    ends_at BIGINT NOT NULL,
    -- The end, where it is not used any more; never after ends_at.
    idle_ends_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_account ON sessions (account, created_at);
CREATE INDEX sessions_by_end ON sessions (idle_ends_at);

-- Links are kept for some time after their end, so that one that is used again is told from one that never was.
CREATE TABLE sign_in_links (
    hash BYTEA NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    account TEXT NOT NULL REFERENCES accounts (id),
    created_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    used_at BIGINT,
    refusals BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX sign_in_links_by_end ON sign_in_links (ends_at);

-- Sign-ins that were sent to the provider and have not come back.
CREATE TABLE pending_sign_ins (
    hash BYTEA NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    return_to TEXT NOT NULL,
    ends_at BIGINT NOT NULL
);
CREATE INDEX pending_sign_ins_by_end ON pending_sign_ins (ends_at);

-- Moments are microseconds since 1970. What is sealed was sealed before it came here.

-- Carts over several stores. Who holds the lease changes the cart; a lease that is over is anybody's.
CREATE TABLE carts (
    id TEXT NOT NULL PRIMARY KEY,
    caller TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    lease TEXT NOT NULL,
    lease_until BIGINT NOT NULL,
    sealed BYTEA NOT NULL
);
CREATE INDEX carts_by_end ON carts (expires_at);

-- Requests that were made under an idempotency key. The key is kept as its SHA-256; status is 0 while there is no answer.
CREATE TABLE idempotent_requests (
    caller TEXT NOT NULL,
    route TEXT NOT NULL,
    key_hash BYTEA NOT NULL CHECK (length(key_hash) = 32),
    request BYTEA NOT NULL,
    status BIGINT NOT NULL,
    answer BYTEA NOT NULL,
    lease TEXT NOT NULL,
    lease_until BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (caller, route, key_hash)
);
CREATE INDEX idempotent_requests_by_end ON idempotent_requests (expires_at);

-- Customers of stores, as callers signed in as them.
CREATE TABLE customers (
    caller TEXT NOT NULL,
    store TEXT NOT NULL,
    sealed BYTEA NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (caller, store)
);

-- Tokens of stores' Storefront APIs.
CREATE TABLE storefront_tokens (
    store TEXT NOT NULL PRIMARY KEY,
    sealed BYTEA NOT NULL,
    set_at BIGINT NOT NULL
);

-- Keys that sign attribution tokens.
CREATE TABLE signing_keys (
    id TEXT NOT NULL PRIMARY KEY,
    -- 32 bytes of Ed25519, or the point of P-256 in 65.
    public_key BYTEA NOT NULL CHECK (length(public_key) IN (32, 65)),
    sealed BYTEA NOT NULL,
    signs_from BIGINT NOT NULL,
    ends_at BIGINT
);

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

-- Where the server that began last has the dashboard. Moments are microseconds since 1970.
CREATE TABLE dashboard_place (
    only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
    public_url TEXT NOT NULL,
    since BIGINT NOT NULL
);

-- What is due when, and who runs it. Moments are microseconds since 1970.
-- `accounted_to`: every moment of the schedule up to this one was run, or is told by a run that stands for it.
-- `lease` names the run that is at work; `beat` is counted up as long as it lives. No other clock decides about it.
-- `retry_at`: when the last run is to be tried again; `attempt`: how often it was tried.
CREATE TABLE jobs (
    name TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    accounted_to BIGINT NOT NULL,
    last_run BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    retry_at BIGINT,
    running BIGINT NOT NULL,
    lease TEXT,
    beat BIGINT NOT NULL,
    paused_at BIGINT,
    paused_by TEXT,
    triggered_at BIGINT,
    triggered_by TEXT,
    good_at BIGINT
);

-- What every run did. `number` counts the runs of one job, and is their fence: a later run has a higher one.
CREATE TABLE job_runs (
    job TEXT NOT NULL,
    number BIGINT NOT NULL,
    cause TEXT NOT NULL,
    outcome TEXT NOT NULL,
    worker TEXT NOT NULL,
    scheduled_at BIGINT NOT NULL,
    missed BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    counts TEXT NOT NULL,
    detail TEXT,
    PRIMARY KEY (job, number)
);
CREATE INDEX job_runs_by_time ON job_runs (started_at);

-- Stores that are to be refreshed, and who has the right to. Moments are microseconds since 1970.
-- `fence` of a lease rises each time that somebody takes it, and never falls: whoever had it before is told by a lower one.
-- `folded`: the highest fence whose work the lake has. A name is a store, or `committer`.
CREATE TABLE work_leases (
    name TEXT NOT NULL PRIMARY KEY,
    fence BIGINT NOT NULL,
    folded BIGINT NOT NULL,
    holder TEXT,
    lease_until BIGINT NOT NULL
);

CREATE TABLE work_runs (
    run TEXT NOT NULL PRIMARY KEY,
    force BIGINT NOT NULL,
    requested_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    closed_at BIGINT
);

-- One store in one run. `state`: queued, leased, staged (its worker is done), done (the lake has it) or dead.
-- `letter`: why it is, or will be, dead.
CREATE TABLE work_items (
    run TEXT NOT NULL,
    store TEXT NOT NULL,
    slug TEXT NOT NULL,
    priority BIGINT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    available_at BIGINT NOT NULL,
    enqueued_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    letter TEXT,
    PRIMARY KEY (run, store)
);
CREATE INDEX work_items_to_take ON work_items (priority, available_at) WHERE state IN ('queued', 'leased');
CREATE INDEX work_items_by_state ON work_items (state, run);

-- The open carts of whoever signs in, in whichever browser.
CREATE INDEX carts_by_caller ON carts (caller, created_at);

-- Watches of callers, and the events that are to be told. Moments are microseconds since 1970.
-- `request_hash` tells the same request under an idempotency key. `target` is sealed. `seen` is the last reading, of the
-- moment `seen_at`: an older one changes nothing.
CREATE TABLE watches (
    id TEXT NOT NULL PRIMARY KEY,
    caller TEXT NOT NULL,
    request_hash BYTEA NOT NULL,
    product TEXT,
    terms TEXT NOT NULL,
    target BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    paused_at BIGINT,
    seen_at BIGINT NOT NULL,
    seen TEXT NOT NULL
);
CREATE INDEX watches_by_caller ON watches (caller, created_at);
CREATE INDEX watches_by_product ON watches (product) WHERE product IS NOT NULL;

-- `state`: waiting, done or dead. `due_at` of one that somebody delivers is the end of their lease, `token` their right.
-- `letter`: why the last attempt failed.
CREATE TABLE watch_events (
    id TEXT NOT NULL PRIMARY KEY,
    watch TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    token TEXT,
    letter TEXT
);
CREATE INDEX watch_events_due ON watch_events (due_at) WHERE state = 'waiting';
CREATE INDEX watch_events_by_watch ON watch_events (watch, created_at);
CREATE INDEX watch_events_by_age ON watch_events (created_at);

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

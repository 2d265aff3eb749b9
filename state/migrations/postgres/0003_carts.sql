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
    public_key BYTEA NOT NULL CHECK (length(public_key) = 32),
    sealed BYTEA NOT NULL,
    signs_from BIGINT NOT NULL,
    ends_at BIGINT
);

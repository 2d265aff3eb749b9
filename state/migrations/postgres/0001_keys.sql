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
    revision BIGINT NOT NULL
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

-- Counts the changes of keys; the highest revision of any key, and more where a change touched no look-up.
CREATE TABLE key_revision (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    value INTEGER NOT NULL
) STRICT;
INSERT INTO key_revision (only_row, value) VALUES (1, 0);

-- Moments are microseconds since 1970, days are days since 1970 in the market's time zone.
CREATE TABLE keys (
    id TEXT NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    hint TEXT NOT NULL,
    name TEXT NOT NULL,
    plan TEXT NOT NULL,
    account TEXT,
    created_at INTEGER NOT NULL,
    last_used_day INTEGER,
    ends_at INTEGER,
    revoked_at INTEGER,
    replaced_by TEXT REFERENCES keys (id),
    revision INTEGER NOT NULL
) STRICT;
CREATE INDEX keys_by_revision ON keys (revision);
CREATE INDEX keys_by_account ON keys (account);

CREATE TABLE usage (
    key_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    route TEXT NOT NULL,
    requests INTEGER NOT NULL CHECK (requests > 0),
    PRIMARY KEY (key_id, day, route)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_day ON usage (day);

-- Batches of usage that were added, so that one that is sent again counts once.
CREATE TABLE usage_batches (
    id TEXT NOT NULL PRIMARY KEY,
    day INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    action TEXT NOT NULL,
    key_id TEXT,
    account TEXT,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_key ON audit (key_id, seq);
CREATE INDEX audit_by_account ON audit (account, seq);
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;
CREATE TRIGGER audit_is_never_cut BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;

-- Ids of the master keys that were ever in use.
CREATE TABLE master_keys (
    id TEXT NOT NULL PRIMARY KEY,
    first_seen_at INTEGER NOT NULL
) STRICT;

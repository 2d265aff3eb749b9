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

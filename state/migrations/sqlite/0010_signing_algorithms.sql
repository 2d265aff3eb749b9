-- A public key is 32 bytes of Ed25519, or the point of P-256 in 65.
CREATE TABLE signing_keys_of_both (
    id TEXT NOT NULL PRIMARY KEY,
    public_key BLOB NOT NULL CHECK (length(public_key) IN (32, 65)),
    sealed BLOB NOT NULL,
    signs_from INTEGER NOT NULL,
    ends_at INTEGER
) STRICT;
INSERT INTO signing_keys_of_both SELECT id, public_key, sealed, signs_from, ends_at FROM signing_keys;
DROP TABLE signing_keys;
ALTER TABLE signing_keys_of_both RENAME TO signing_keys;

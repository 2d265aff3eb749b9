-- A public key is 32 bytes of Ed25519, or the point of P-256 in 65.
ALTER TABLE signing_keys DROP CONSTRAINT signing_keys_public_key_check;
ALTER TABLE signing_keys ADD CONSTRAINT signing_keys_public_key_check CHECK (length(public_key) IN (32, 65));

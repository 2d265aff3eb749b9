-- A key that came back from a backup of this moment is refused until it is confirmed: it may have been revoked since.
ALTER TABLE keys ADD COLUMN unconfirmed_since INTEGER;

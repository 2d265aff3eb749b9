-- Where the server that began last has the dashboard. Moments are microseconds since 1970.
CREATE TABLE dashboard_place (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    public_url TEXT NOT NULL,
    since INTEGER NOT NULL
) STRICT;

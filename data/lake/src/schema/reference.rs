use super::{COUNT, DataType, SchemaRef, TEXT, maybe, moment_type, stated, table};

pub(crate) fn exchange_rates() -> SchemaRef {
    table(vec![
        stated("date", DataType::Date32, "Day of the rate"),
        stated("base_currency", TEXT, "ISO 4217 code of the currency that is converted"),
        stated(
            "quote_currency",
            TEXT,
            "ISO 4217 code of the currency that it is converted to",
        ),
        stated(
            "rate",
            DataType::Float64,
            "Amount of quote_currency for one unit of base_currency, in whole units, not minor units",
        ),
        stated("source", TEXT, "File or URL that the rate was imported from"),
        stated("imported_at", moment_type(), "Time when the rate was imported"),
    ])
}

pub(crate) fn currencies() -> SchemaRef {
    table(vec![
        stated("currency", TEXT, "ISO 4217 code of the currency"),
        stated(
            "exponent",
            COUNT,
            "Number of decimals of the minor unit: INR 2, JPY 0, KWD 3",
        ),
        stated(
            "units_minor",
            COUNT,
            "Number of minor units in one unit: divide an amount in minor units by it",
        ),
        stated("name", TEXT, "English name"),
    ])
}

pub(crate) fn pincodes() -> SchemaRef {
    table(vec![
        stated("pincode", TEXT, "Indian postal code of six digits"),
        stated("area", TEXT, "Area as in delivery_zones.areas: state/district/kind"),
        maybe(
            "state",
            TEXT,
            "State or union territory in uppercase; null if the directory has none",
        ),
        maybe("state_code", TEXT, "Code of the state on store platforms, such as KA"),
        maybe(
            "district",
            TEXT,
            "District in uppercase; null if the directory has none",
        ),
        stated(
            "kind",
            TEXT,
            "Kind of area: metro, capital, rest, hill, remote or island",
        ),
    ])
}

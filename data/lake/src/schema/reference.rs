use super::{COUNT, DataType, SchemaRef, TEXT, maybe, moment_type, stated, table};

pub(crate) fn exchange_rates() -> SchemaRef {
    table(vec![
        stated("date", DataType::Date32, "Day of the rate"),
        stated(
            "base_currency",
            TEXT,
            "ISO 4217 code of the currency of which one unit is told",
        ),
        stated(
            "quote_currency",
            TEXT,
            "ISO 4217 code of the currency that it is told in",
        ),
        stated(
            "rate",
            DataType::Float64,
            "Units of quote_currency for one unit of base_currency, whole units and not minor ones",
        ),
        stated("source", TEXT, "File or address that it was imported from"),
        stated("imported_at", moment_type(), "When it was imported"),
    ])
}

pub(crate) fn currencies() -> SchemaRef {
    table(vec![
        stated("currency", TEXT, "ISO 4217 code, as in the other tables"),
        stated("exponent", COUNT, "Decimals of the minor unit: INR 2, JPY 0, KWD 3"),
        stated(
            "units_minor",
            COUNT,
            "Minor units of one unit: an amount in minor units divided by it is in units",
        ),
        stated("name", TEXT, "English name"),
    ])
}

pub(crate) fn pincodes() -> SchemaRef {
    table(vec![
        stated("pincode", TEXT, "Indian postal index number, six digits"),
        stated(
            "area",
            TEXT,
            "Area as delivery_zones.areas names it: state/district/kind",
        ),
        maybe(
            "state",
            TEXT,
            "State or union territory, upper case, where the directory names one",
        ),
        maybe("state_code", TEXT, "Code that store platforms give the state: KA"),
        maybe("district", TEXT, "District, upper case, where the directory names one"),
        stated("kind", TEXT, "metro, capital, rest, hill, remote or island"),
    ])
}

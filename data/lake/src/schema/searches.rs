use super::{COUNT, SchemaRef, TEXT, stated, table};

pub(crate) fn searches() -> SchemaRef {
    table(vec![
        stated("day", TEXT, "Partition: day in UTC, such as 2026-11-29"),
        stated("server", TEXT, "Random name of the run of a server that counted"),
        stated(
            "words",
            TEXT,
            "Searched words in lower case and without accents, in the order in which they were typed",
        ),
        stated("release", TEXT, "Id of the release that was searched last"),
        stated(
            "hits",
            COUNT,
            "Number of products that the last search returned, at most one page",
        ),
        stated(
            "count",
            COUNT,
            "Number of searches; words that a server saw fewer than three times in the day have no row",
        ),
        stated("without_hits", COUNT, "Number of searches that found nothing"),
        stated(
            "relaxed",
            COUNT,
            "Number of searches whose results include products that lack words",
        ),
        stated(
            "understood",
            COUNT,
            "Number of searches from which more than words, such as a price, was parsed",
        ),
        stated(
            "clicks",
            COUNT,
            "Number of products that were opened on the page from the results",
        ),
    ])
}

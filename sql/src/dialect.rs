//! Replacement of DuckDB functions by equivalent expressions of the query engine, without I/O.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectNamePart, Value, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;

/// DuckDB function and its equivalent expression in the query engine. `$1` is the first argument.
struct Equivalent {
    name: &'static str,
    arguments: usize,
    written: &'static str,
}

const fn equivalent(name: &'static str, arguments: usize, written: &'static str) -> Equivalent {
    Equivalent {
        name,
        arguments,
        written,
    }
}

const ARG_MAX: &str = "first_value($1 order by $2 desc nulls last) ignore nulls";
const ARG_MIN: &str = "first_value($1 order by $2 nulls last) ignore nulls";

const EQUIVALENTS: [Equivalent; 27] = [
    equivalent("arg_max", 2, ARG_MAX),
    equivalent("arg_min", 2, ARG_MIN),
    equivalent("max_by", 2, ARG_MAX),
    equivalent("min_by", 2, ARG_MIN),
    equivalent("count_if", 1, "count(*) filter (where $1)"),
    equivalent("list", 1, "array_agg($1)"),
    equivalent("quantile_cont", 2, "percentile_cont($1, $2)"),
    equivalent("approx_quantile", 2, "approx_percentile_cont($1, $2)"),
    equivalent("approx_count_distinct", 1, "approx_distinct($1)"),
    equivalent("if", 3, "case when $1 then $2 else $3 end"),
    equivalent("ifnull", 2, "coalesce($1, $2)"),
    equivalent("year", 1, "date_part('year', $1)"),
    equivalent("quarter", 1, "date_part('quarter', $1)"),
    equivalent("month", 1, "date_part('month', $1)"),
    equivalent("week", 1, "date_part('week', $1)"),
    equivalent("day", 1, "date_part('day', $1)"),
    equivalent("dayofweek", 1, "date_part('dow', $1)"),
    equivalent("dayofyear", 1, "date_part('doy', $1)"),
    equivalent("hour", 1, "date_part('hour', $1)"),
    equivalent("minute", 1, "date_part('minute', $1)"),
    equivalent("epoch", 1, "date_part('epoch', $1)"),
    equivalent("strftime", 2, "to_char($1, $2)"),
    equivalent("strptime", 2, "to_timestamp($1, $2)"),
    equivalent("regexp_matches", 2, "regexp_like($1, $2)"),
    equivalent("regexp_extract", 2, "regexp_match($1, concat('(', $2, ')'))[1]"),
    equivalent("regexp_extract", 3, "regexp_match($1, concat('(', $2, ')'))[$3 + 1]"),
    equivalent("str_split", 2, "string_to_array($1, $2)"),
];

/// Time units of fixed length, with their length in seconds.
const SECONDS: [(&str, u32); 4] = [("second", 1), ("minute", 60), ("hour", 3_600), ("day", 86_400)];

/// Returns the expression that replaces a call, or `None` if the engine has the function.
pub(crate) fn written_out(call: &Function) -> Option<Expr> {
    let [ObjectNamePart::Identifier(name)] = call.name.0.as_slice() else {
        return None;
    };
    let FunctionArguments::List(list) = &call.args else {
        return None;
    };
    let is_plain = list.clauses.is_empty() && list.duplicate_treatment.is_none() && call.over.is_none();
    if !is_plain || call.filter.is_some() || name.quote_style.is_some() {
        return None;
    }
    let values = list.args.iter().map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => Some(value),
        _ => None,
    });
    let values: Vec<&Expr> = values.collect::<Option<_>>()?;
    let name = name.value.to_lowercase();
    let written = match name.as_str() {
        "date_diff" | "datediff" => boundaries(&values)?,
        _ => {
            let is_it = |known: &&Equivalent| known.name == name && known.arguments == values.len();
            EQUIVALENTS.iter().find(is_it)?.written.to_owned()
        }
    };
    let mut written = Parser::new(&GenericDialect {})
        .try_with_sql(&written)
        .ok()?
        .parse_expr()
        .ok()?;
    let _: ControlFlow<()> = written.visit(&mut Filler { values: &values });
    Some(written)
}

/// Returns an expression that counts the boundaries of a time unit between `$2` and `$3`.
fn boundaries(values: &[&Expr]) -> Option<String> {
    let [Expr::Value(unit), moments @ ..] = values else {
        return None;
    };
    let Value::SingleQuotedString(unit) = &unit.value else {
        return None;
    };
    // The expressions for quarters and months repeat each timestamp. Nested calls would grow exponentially, so they are
    // not replaced.
    let is_nested = |moment: &&Expr| moment.to_string().to_lowercase().contains("diff(");
    if moments.len() != 2 || moments.iter().any(is_nested) {
        return None;
    }
    let parts = |unit: &str, a_year: u8| {
        let of = |place: u8| format!("(date_part('year', ${place}) * {a_year} + date_part('{unit}', ${place}))");
        Some(format!("cast({} - {} as bigint)", of(3), of(2)))
    };
    match unit.to_lowercase().trim_end_matches('s') {
        "year" => Some("cast(date_part('year', $3) - date_part('year', $2) as bigint)".to_owned()),
        "quarter" => parts("quarter", 4),
        "month" => parts("month", 12),
        unit => {
            let (_, seconds) = SECONDS.iter().find(|(known, _)| *known == unit)?;
            let whole = |place: u8| format!("date_part('epoch', date_trunc('{unit}', ${place}))");
            Some(format!("cast(({} - {}) / {seconds} as bigint)", whole(3), whole(2)))
        }
    }
}

/// Visitor that replaces the placeholders `$1`, `$2` … by the arguments of the call.
struct Filler<'a> {
    values: &'a [&'a Expr],
}

impl VisitorMut for Filler<'_> {
    type Break = ();

    /// Replaces a placeholder after its subexpressions were visited, so that placeholders in arguments stay unchanged.
    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if let Expr::Value(value) = &*expression
            && let Value::Placeholder(place) = &value.value
            && let Some(at) = place.strip_prefix('$').and_then(|place| place.parse::<usize>().ok())
            && let Some(value) = at.checked_sub(1).and_then(|at| self.values.get(at))
        {
            *expression = Expr::Nested(Box::new((*value).clone()));
        }
        ControlFlow::Continue(())
    }
}

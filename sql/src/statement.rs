//! Parser and checks of statements. Only a single read-only statement that is small enough to plan is accepted. The
//! module does no I/O.

use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast::{self, SetExpr};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use crate::SqlError;
use crate::names::tables_read;
use crate::rewrite::rewrite;

pub(crate) const STATEMENT_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of tokens without commas and literals. Planning recurses over them.
const WORDS_MAX: usize = 4_000;
/// Maximum number of tables that a statement reads after all named queries are expanded.
const TABLES_READ_MAX: u64 = 1_000;
/// Maximum number of `||` operators, each of which may copy a column.
const JOINED_TEXTS_MAX: usize = 32;

/// Parsed statement that only reads.
#[derive(Debug, Clone)]
pub(crate) enum ReadStatement {
    /// Statement that the engine plans.
    Statement(Box<Statement>),
    /// Request for the columns of the named table, with their comments.
    Describe(String),
}

impl ReadStatement {
    /// Parses and checks a statement. Needs a thread with a large stack, because the statement is dropped recursively.
    pub(crate) fn of(text: &str) -> Result<Self, SqlError> {
        if text.len() > STATEMENT_BYTES_MAX {
            return Err(refused(format!(
                "the statement is longer than {STATEMENT_BYTES_MAX} bytes"
            )));
        }
        let dialect = GenericDialect {};
        let tokens = Tokenizer::new(&dialect, text)
            .tokenize()
            .map_err(|error| SqlError::Invalid(error.to_string()))?;
        let counted = |token: &&Token| {
            !matches!(
                token,
                Token::Whitespace(_) | Token::Comma | Token::Number(..) | Token::SingleQuotedString(_)
            )
        };
        if tokens.iter().filter(counted).count() > WORDS_MAX {
            return Err(refused(format!("the statement has more than {WORDS_MAX} tokens")));
        }
        let joined = tokens.iter().filter(|token| matches!(token, Token::StringConcat));
        if joined.count() > JOINED_TEXTS_MAX {
            return Err(refused(format!(
                "the statement joins more than {JOINED_TEXTS_MAX} texts with ||: use concat, which accepts any number \
                 of texts"
            )));
        }
        let mut statements = DFParserBuilder::new(text)
            .build()
            .and_then(|mut parser| parser.parse_statements())
            .map_err(|error| SqlError::Invalid(error.strip_backtrace()))?;
        let Some(mut statement) = statements.pop_front() else {
            return Err(refused("the request contains no statement"));
        };
        if !statements.is_empty() {
            return Err(refused("send one statement at a time"));
        }
        if let Statement::Statement(inner) = &statement
            && let ast::Statement::ExplainTable {
                describe_alias: ast::DescribeAlias::Describe | ast::DescribeAlias::Desc,
                table_name,
                ..
            } = inner.as_ref()
        {
            return Ok(Self::Describe(table_name.to_string()));
        }
        if !reads(&statement) {
            let verb = text.split_whitespace().next().unwrap_or_default();
            let verb: String = verb.chars().take(20).collect();
            return Err(refused(format!(
                "statements may only read data: {} is refused",
                verb.to_uppercase()
            )));
        }
        if tables_read(&statement) > TABLES_READ_MAX {
            return Err(refused(format!(
                "the statement reads more than {TABLES_READ_MAX} tables after its names are expanded: define fewer \
                 names in terms of each other"
            )));
        }
        rewrite(&mut statement)?;
        Ok(Self::Statement(Box::new(statement)))
    }
}

fn refused(words: impl Into<String>) -> SqlError {
    SqlError::Refused(words.into())
}

fn reads(statement: &Statement) -> bool {
    match statement {
        Statement::Explain(explain) => reads(&explain.statement),
        Statement::Statement(inner) => statement_reads(inner),
        Statement::CreateExternalTable(_) | Statement::CopyTo(_) | Statement::Reset(_) => false,
    }
}

fn statement_reads(statement: &ast::Statement) -> bool {
    match statement {
        ast::Statement::Query(query) => !matches!(
            *query.body,
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_)
        ),
        ast::Statement::Explain { statement, .. } => statement_reads(statement),
        ast::Statement::ExplainTable { .. }
        | ast::Statement::ShowTables { .. }
        | ast::Statement::ShowColumns { .. }
        | ast::Statement::ShowVariable { .. }
        | ast::Statement::ShowFunctions { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<String> {
        ReadStatement::of(text)
            .err()
            .map(|error| format!("{}: {error}", error.reason()))
    }

    #[test]
    fn what_reads_is_taken() {
        for reads in [
            "select 1",
            "with a as (select 1) select * from a;",
            "explain select 1",
            "explain analyze select 1",
            "show tables",
            "show columns from products",
            "describe products",
            "values (1)",
        ] {
            assert_eq!(told(reads), None, "{reads}");
        }
    }

    #[test]
    fn what_writes_sets_or_opens_is_refused() {
        for (statement, verb) in [
            ("insert into brands values (1)", "INSERT"),
            ("drop table products", "DROP"),
            ("set datafusion.execution.batch_size = 1", "SET"),
            ("reset datafusion.execution.batch_size", "RESET"),
            ("copy products to 'a.csv'", "COPY"),
            ("create external table a stored as parquet location '/a'", "CREATE"),
            ("create view a as select 1", "CREATE"),
            ("delete from products", "DELETE"),
            ("explain insert into brands values (1)", "EXPLAIN"),
            ("prepare a as select 1", "PREPARE"),
            ("begin", "BEGIN"),
        ] {
            let words = format!("refused: statements may only read data: {verb} is refused");
            assert_eq!(told(statement).as_deref(), Some(words.as_str()), "{statement}");
        }
        assert_eq!(
            told("select 1; select 2").as_deref(),
            Some("refused: send one statement at a time")
        );
        assert_eq!(told("").as_deref(), Some("refused: the request contains no statement"));
        assert!(told("selec 1").is_some_and(|told| told.starts_with("invalid: ")));
    }

    #[test]
    fn what_is_too_large_to_be_planned_is_refused() {
        let sum = vec!["1"; 5_000].join("+");
        let texts = vec!["'a'"; 70].join("||");
        let list = vec!["'a'"; 9_000].join(",");
        let long = "a".repeat(70_000);
        for (statement, words) in [
            (
                format!("select {sum}"),
                "refused: the statement has more than 4000 tokens",
            ),
            (
                format!("select {texts}"),
                "refused: the statement joins more than 32 texts with ||: use concat, which accepts any number of \
                 texts",
            ),
            (
                format!("select '{long}'"),
                "refused: the statement is longer than 65536 bytes",
            ),
        ] {
            assert_eq!(told(&statement).as_deref(), Some(words));
        }
        assert_eq!(told(&format!("select 1 where 'b' in ({list})")), None);
    }
}

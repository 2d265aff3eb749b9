//! Conversion of syntax that the query engine does not support.

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName,
    ObjectNamePart, Select, SelectFlavor, SelectItem, TableFactor, Value, VisitMut, VisitorMut,
    WildcardAdditionalOptions,
};

use crate::SqlError;
use crate::dialect::written_out;

pub(crate) fn rewrite(statement: &mut Statement) -> Result<(), SqlError> {
    match statement {
        Statement::Statement(inner) => match inner.visit(&mut Rewriter) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(words) => Err(SqlError::Invalid(words)),
        },
        Statement::Explain(explain) => rewrite(&mut explain.statement),
        Statement::CreateExternalTable(_) | Statement::CopyTo(_) | Statement::Reset(_) => Ok(()),
    }
}

struct Rewriter;

impl VisitorMut for Rewriter {
    /// Error message for the sender of the statement.
    type Break = String;

    /// Adds `select *` to a `from products` alone, because the engine would return rows without columns.
    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<String> {
        if select.flavor == SelectFlavor::FromFirstNoSelect {
            select.projection = vec![SelectItem::Wildcard(WildcardAdditionalOptions::default())];
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<String> {
        if let Expr::Function(call) = &*expression
            && let Some(written) = written_out(call)
        {
            *expression = written;
        }
        ControlFlow::Continue(())
    }

    /// Rewrites `name => value` as a struct with one field, because the engine has no named arguments for table
    /// functions.
    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<String> {
        let (name, args) = match factor {
            TableFactor::Table {
                name, args: Some(args), ..
            } => (name, &mut args.args),
            TableFactor::Function { name, args, .. } => (name, args),
            _ => return ControlFlow::Continue(()),
        };
        let function = lowered(name);
        for arg in args {
            let (FunctionArg::Unnamed(FunctionArgExpr::Expr(value))
            | FunctionArg::Named {
                arg: FunctionArgExpr::Expr(value),
                ..
            }) = &*arg
            else {
                continue;
            };
            if let Some(words) = column(value) {
                return ControlFlow::Break(format!("{function}: {words}"));
            }
            if let FunctionArg::Named { name, .. } = &*arg {
                let name = Expr::value(Value::SingleQuotedString(name.value.to_lowercase()));
                let field = vec![unnamed(name), unnamed(value.clone())];
                *arg = unnamed(Expr::Function(call("named_struct", field)));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Converts an unquoted function name to lowercase, as the engine expects it.
fn lowered(name: &mut ObjectName) -> String {
    if let [ObjectNamePart::Identifier(ident)] = name.0.as_mut_slice()
        && ident.quote_style.is_none()
    {
        ident.value.make_ascii_lowercase();
    }
    name.to_string()
}

/// Returns an error message if an argument is a column name, because only values are allowed.
fn column(value: &Expr) -> Option<String> {
    match value {
        Expr::Identifier(Ident {
            quote_style: Some('"'),
            value,
            ..
        }) => Some(format!(
            "\"{value}\" in double quotes is the name of a column: write a text in single quotes"
        )),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => Some(format!(
            "an argument must be a value, but {value} is a column: join the rows that the function finds instead"
        )),
        _ => None,
    }
}

fn unnamed(value: Expr) -> FunctionArg {
    FunctionArg::Unnamed(FunctionArgExpr::Expr(value))
}

fn call(name: &str, args: Vec<FunctionArg>) -> Function {
    Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args,
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

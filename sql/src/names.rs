//! Number of tables that a statement reads if each named query (CTE) is replaced by its definition. The module does no
//! I/O.
//!
//! Planning visits a named query again for each use of its name. With thirty names that each use the previous one
//! twice, planning takes hours. Therefore the tables are counted before the plan.

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{ObjectName, Query, Visit, Visitor};

/// Returns the number of tables that a statement reads after all named queries are expanded.
pub(crate) fn tables_read(statement: &Statement) -> u64 {
    match statement {
        Statement::Statement(inner) => {
            let mut counting = TableCounter::default();
            let _: ControlFlow<()> = inner.visit(&mut counting);
            counting.read
        }
        Statement::Explain(explain) => tables_read(&explain.statement),
        Statement::CreateExternalTable(_) | Statement::CopyTo(_) | Statement::Reset(_) => 0,
    }
}

/// Query that is visited, with the named queries so far and the number of tables read.
#[derive(Debug, Default)]
struct Scope {
    /// Address and name of each named query of this query, in order.
    naming: Vec<(*const Query, String)>,
    /// Names defined so far, each with the number of tables that its query reads.
    named: Vec<(String, u64)>,
    read: u64,
}

/// Visitor of a statement with a stack of scopes, which resolve names.
#[derive(Debug, Default)]
struct TableCounter {
    scopes: Vec<Scope>,
    read: u64,
}

/// Returns a name without quotation marks and in lowercase. Names that are equal for the engine get equal keys.
fn key(name: &ObjectName) -> Option<String> {
    let last = name.0.last()?.as_ident()?;
    Some(last.value.to_lowercase())
}

impl TableCounter {
    fn stands_for(&self, name: &ObjectName) -> u64 {
        let Some(key) = key(name) else { return 1 };
        let named = self.scopes.iter().rev().flat_map(|scope| scope.named.iter().rev());
        named
            .filter(|(known, _)| *known == key)
            .map(|(_, read)| *read)
            .next()
            .unwrap_or(1)
    }

    fn add(&mut self, read: u64) {
        let sum = self.scopes.last_mut().map_or(&mut self.read, |scope| &mut scope.read);
        *sum = sum.saturating_add(read);
    }
}

impl Visitor for TableCounter {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let named = query.with.iter().flat_map(|with| &with.cte_tables);
        let naming = named.map(|one| (&raw const *one.query, one.alias.name.value.to_lowercase()));
        self.scopes.push(Scope {
            naming: naming.collect(),
            ..Scope::default()
        });
        ControlFlow::Continue(())
    }

    /// Records the table count of a finished query. A named query is visited before the queries that use its name.
    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let Some(scope) = self.scopes.pop() else {
            return ControlFlow::Continue(());
        };
        if let Some(outer) = self.scopes.last_mut()
            && let Some((_, name)) = outer.naming.iter().find(|(at, _)| std::ptr::eq(*at, query))
        {
            let stands_for = (name.clone(), scope.read.max(1));
            outer.named.push(stands_for);
        }
        // The definition of a named query also counts, because the engine plans it too.
        self.add(scope.read);
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        let read = self.stands_for(name);
        self.add(read);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::parser::DFParserBuilder;

    use super::*;

    fn read(text: &str) -> u64 {
        let mut parser = DFParserBuilder::new(text).build().unwrap();
        tables_read(&parser.parse_statements().unwrap().pop_front().unwrap())
    }

    #[test]
    fn names_count_as_often_as_they_are_read() {
        assert_eq!(read("select 1"), 0);
        assert_eq!(
            read("select * from a join b using (id) where id in (select id from c)"),
            3
        );
        // Tables in the definition of a named query count too.
        assert_eq!(read("with a as (select * from p) select * from a"), 2);
        let doubled = "with a as (select * from p, p q), B as (select * from a x, a y) select * from \"b\", b";
        assert_eq!(read(doubled), 2 + 4 + 8);
        let within = "select * from (with a as (select * from p, p q) select * from a, a) t";
        assert_eq!(read(within), 2 + 4);
        assert_eq!(
            read("with recursive n as (select 1 i union all select i + 1 from n) select * from n"),
            2
        );
    }

    #[test]
    fn a_name_is_the_same_however_it_is_quoted() {
        for [one, again] in [
            ["`t`", "t"],
            ["t", "`T`"],
            [r#""t""0""#, r#""t""0""#],
            ["\"t\"", "main.t"],
        ] {
            let told = format!("with {one} as (select * from p, p q) select * from {again} a, {again} b");
            assert_eq!(read(&told), 2 + 4, "{told}");
        }
    }

    #[test]
    fn names_within_names_stand_for_what_is_seen_from_where_they_stand() {
        let doubled = |count: usize| {
            let inner = |at: usize| {
                format!(
                    "t{} as (with u as (select i from t{at}) select x.i from u x, u y)",
                    at + 1
                )
            };
            let names: Vec<_> = (0..count).map(inner).collect();
            format!(
                "with t0 as (select 1 i from p), {} select * from t{count}",
                names.join(", ")
            )
        };
        let counts: Vec<u64> = (1..5).map(|count| read(&doubled(count))).collect();
        assert_eq!(counts, [7, 22, 67, 202]);
        // An inner query's name replaces the outer one only inside the inner query.
        let hidden = "with a as (select * from p, p q, p r) \
                      select * from (with a as (select * from p) select * from a) t, a";
        assert_eq!(read(hidden), 3 + (1 + 1) + 3);
    }
}

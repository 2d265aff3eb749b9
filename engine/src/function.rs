use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::error::Result;
use query_server::QueryServer;

use crate::arguments::{Arguments, Signature};
use crate::call::Call;
use crate::scan::FunctionTable;

/// Table function: its signature, its result columns, and the parser of its arguments.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) signature: Signature,
    columns: &'static [Column],
    read: fn(&Arguments) -> Result<Call>,
}

#[derive(Debug)]
struct Column {
    name: &'static str,
    data_type: DataType,
    nullable: bool,
}

const fn column(name: &'static str, data_type: DataType, nullable: bool) -> Column {
    Column {
        name,
        data_type,
        nullable,
    }
}

const PRODUCT_ID: Column = column("product_id", DataType::Utf8, false);
const RANK: Column = column("rank", DataType::Int64, false);
const SCORE: Column = column("score", DataType::Float32, false);

pub(crate) static FUNCTIONS: &[Function] = &[
    Function {
        signature: Signature {
            name: "search",
            parameters: &["q", "mode", "limit", "brand"],
        },
        columns: &[PRODUCT_ID, RANK, SCORE],
        read: Call::search,
    },
    Function {
        signature: Signature {
            name: "similar",
            parameters: &["product_id", "limit"],
        },
        columns: &[PRODUCT_ID, RANK, SCORE],
        read: Call::similar,
    },
    Function {
        signature: Signature {
            name: "recommend",
            parameters: &["product_id", "intent", "limit"],
        },
        columns: &[PRODUCT_ID, RANK],
        read: Call::recommend,
    },
    Function {
        signature: Signature {
            name: "shipping",
            parameters: &["pincode"],
        },
        columns: &[
            column("brand_slug", DataType::Utf8, false),
            column("serviceable", DataType::Boolean, true),
            column("days_min", DataType::Int64, true),
            column("days_max", DataType::Int64, true),
            column("earliest_date", DataType::Date32, true),
            column("latest_date", DataType::Date32, true),
            column("free_shipping_threshold_minor", DataType::Int64, true),
            column("currency", DataType::Utf8, false),
            column("basis", DataType::Utf8, false),
            column("confidence", DataType::Utf8, true),
        ],
        read: Call::shipping,
    },
];

/// Table function of a query server with one fixed release.
#[derive(Debug)]
pub(crate) struct TableCall {
    function: &'static Function,
    schema: SchemaRef,
    server: QueryServer,
}

impl TableCall {
    /// Binds `function` to `server`, which must serve one fixed release.
    pub(crate) fn of(function: &'static Function, server: &QueryServer) -> Arc<Self> {
        let columns = function.columns.iter();
        let fields = columns.map(|column| Field::new(column.name, column.data_type.clone(), column.nullable));
        Arc::new(Self {
            function,
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            server: server.clone(),
        })
    }
}

impl TableFunctionImpl for TableCall {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let arguments = Arguments::read(&self.function.signature, args.exprs())?;
        Ok(Arc::new(FunctionTable {
            call: (self.function.read)(&arguments)?,
            server: self.server.clone(),
            schema: Arc::clone(&self.schema),
        }))
    }
}

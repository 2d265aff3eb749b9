//! Messages of Arrow Flight and Flight SQL for a read-only server (`Flight.proto`, `FlightSql.proto`). The field
//! numbers are those of the specification.

use std::collections::BTreeMap;

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Any {
    #[prost(string, tag = "1")]
    pub(crate) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct FlightDescriptor {
    #[prost(int32, tag = "1")]
    pub(crate) kind: i32,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) cmd: Vec<u8>,
    #[prost(string, repeated, tag = "3")]
    pub(crate) path: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Ticket {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) ticket: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct FlightEndpoint {
    #[prost(message, optional, tag = "1")]
    pub(crate) ticket: Option<Ticket>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct FlightInfo {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) schema: Vec<u8>,
    #[prost(message, optional, tag = "2")]
    pub(crate) flight_descriptor: Option<FlightDescriptor>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) endpoint: Vec<FlightEndpoint>,
    #[prost(int64, tag = "4")]
    pub(crate) total_records: i64,
    #[prost(int64, tag = "5")]
    pub(crate) total_bytes: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SchemaResult {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) schema: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Action {
    #[prost(string, tag = "1")]
    pub(crate) kind: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) body: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ActionType {
    #[prost(string, tag = "1")]
    pub(crate) kind: String,
    #[prost(string, tag = "2")]
    pub(crate) description: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ActionResult {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) body: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StatementQuery {
    #[prost(string, tag = "1")]
    pub(crate) query: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PreparedStatementQuery {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) handle: Vec<u8>,
}

/// Ticket of a statement. Like the handle of a prepared statement, it contains the statement itself.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct StatementTicket {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) handle: Vec<u8>,
}

/// Content of a ticket or handle: the whole statement, because the server stores no state between calls.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Handle {
    #[prost(string, tag = "1")]
    pub(crate) statement: String,
    #[prost(string, optional, tag = "2")]
    pub(crate) as_of: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PreparedStatement {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) handle: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) dataset_schema: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) parameter_schema: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct GetDbSchemas {
    #[prost(string, optional, tag = "1")]
    pub(crate) catalog: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(crate) schema_pattern: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct GetTables {
    #[prost(string, optional, tag = "1")]
    pub(crate) catalog: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(crate) schema_pattern: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(crate) table_pattern: Option<String>,
    #[prost(string, repeated, tag = "4")]
    pub(crate) table_types: Vec<String>,
    #[prost(bool, tag = "5")]
    pub(crate) include_schema: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct GetSqlInfo {
    #[prost(uint32, repeated, tag = "1")]
    pub(crate) info: Vec<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct GetXdbcTypeInfo {
    #[prost(int32, optional, tag = "1")]
    pub(crate) data_type: Option<i32>,
}

/// Value of a session option. Only strings are read; other value types of the specification are ignored.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub(crate) struct SessionOptionValue {
    #[prost(string, optional, tag = "1")]
    pub(crate) text: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SessionOptions {
    #[prost(btree_map = "string, message", tag = "1")]
    pub(crate) options: BTreeMap<String, SessionOptionValue>,
}

/// Reason for rejecting a session option: 1 for an invalid name, 2 for an invalid value.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub(crate) struct SessionOptionError {
    #[prost(int32, tag = "1")]
    pub(crate) value: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SetSessionOptionsResult {
    #[prost(btree_map = "string, message", tag = "1")]
    pub(crate) errors: BTreeMap<String, SessionOptionError>,
}

/// Status after closing a session or cancelling a statement.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub(crate) struct Outcome {
    #[prost(int32, tag = "1")]
    pub(crate) status: i32,
}

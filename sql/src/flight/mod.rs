//! Arrow Flight SQL for read-only statements over HTTP/2 (docs/adr/029).
//!
//! The server keeps nothing between calls. A prepared statement and a ticket contain the statement and the requested
//! point in time, so a client can continue with another server of the same release.

mod actions;
mod catalogue;
mod facts;
mod grpc;
mod messages;
mod types;

use api::Asker;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use datafusion::arrow::array::RecordBatch;
use http::HeaderMap;
use prost::Message;

use self::grpc::{Failure, decode};
use self::messages::{
    Action, Any, FlightDescriptor, FlightEndpoint, FlightInfo, GetDbSchemas, GetSqlInfo, GetTables, GetXdbcTypeInfo,
    Handle, PreparedStatement, PreparedStatementQuery, SchemaResult, StatementQuery, StatementTicket, Ticket,
};
use crate::engine::Question;
use crate::ipc::{self, framed};
use crate::{Door, SqlError};

/// URL path of the gRPC calls.
pub(crate) const PATTERN: &str = "/arrow.flight.protocol.FlightService/{call}";

/// Prefix of the type URLs of embedded messages.
const TYPES: &str = "type.googleapis.com/arrow.flight.protocol.sql.";
/// Request header with the point in time of the tables to read.
const AS_OF: &str = "haat-as-of";

pub(crate) async fn call(
    State(door): State<Door>,
    Path(call): Path<String>,
    asker: Asker,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let calling = CallContext {
        door,
        asker,
        as_of: headers
            .get(AS_OF)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned),
        headers,
    };
    let answered = calling.answer(&call, body).await;
    answered.unwrap_or_else(|failure| failure.answer())
}

struct CallContext {
    door: Door,
    asker: Asker,
    as_of: Option<String>,
    headers: HeaderMap,
}

/// Function that computes an answer from the table list.
type Tell = dyn Fn(&RecordBatch) -> Result<RecordBatch, SqlError> + Send + Sync;

/// Parsed Flight SQL command.
enum Command {
    Rows(Question),
    /// Data that is the same on every server.
    Constant(RecordBatch),
    /// Data from the table list.
    Tables(Box<Tell>),
}

impl CallContext {
    async fn answer(&self, call: &str, body: Body) -> Result<Response, Failure> {
        self.door.check(&self.asker)?;
        match call {
            "GetFlightInfo" => self.info(grpc::read(body).await?).await,
            "GetSchema" => self.schema(grpc::read(body).await?).await,
            "DoGet" => self.rows(grpc::read(body).await?).await,
            "DoAction" => self.action(grpc::read(body).await?).await,
            "ListActions" => Ok(grpc::whole(actions::actions())),
            // The handshake does nothing, because every call has the caller's key.
            "ListFlights" | "Handshake" => Ok(grpc::whole(Vec::new())),
            other => Err(Failure::Unimplemented(format!("call {other}"))),
        }
    }

    /// Parses a command without planning its statement.
    fn command(&self, bytes: &[u8]) -> Result<Command, Failure> {
        let any: Any = decode(bytes)?;
        let kind = any.type_url.strip_prefix(TYPES);
        let kind = kind.ok_or(Failure::Malformed("not a command of Flight SQL"))?;
        let value = any.value.as_slice();
        Ok(match kind {
            "CommandStatementQuery" => Command::Rows(Question {
                statement: decode::<StatementQuery>(value)?.query,
                as_of: self.as_of.clone(),
            }),
            "CommandPreparedStatementQuery" => {
                Command::Rows(question(&decode::<PreparedStatementQuery>(value)?.handle)?)
            }
            "TicketStatementQuery" => Command::Rows(question(&decode::<StatementTicket>(value)?.handle)?),
            "CommandGetCatalogs" => Command::Constant(catalogue::catalogs()?),
            "CommandGetTableTypes" => Command::Constant(catalogue::table_types()?),
            "CommandGetPrimaryKeys" => Command::Constant(catalogue::primary_keys()?),
            "CommandGetExportedKeys" | "CommandGetImportedKeys" | "CommandGetCrossReference" => {
                Command::Constant(catalogue::foreign_keys()?)
            }
            "CommandGetDbSchemas" => {
                let wanted: GetDbSchemas = decode(value)?;
                Command::Tables(Box::new(move |known| catalogue::db_schemas(known, &wanted)))
            }
            "CommandGetSqlInfo" => {
                let wanted: GetSqlInfo = decode(value)?;
                Command::Constant(facts::sql_info(&wanted)?)
            }
            "CommandGetXdbcTypeInfo" => {
                let wanted: GetXdbcTypeInfo = decode(value)?;
                Command::Constant(types::types(&wanted)?)
            }
            "CommandGetTables" => {
                let wanted: GetTables = decode(value)?;
                Command::Tables(Box::new(move |known| catalogue::tables(known, &wanted)))
            }
            other => return Err(Failure::Unimplemented(format!("command {other}"))),
        })
    }

    async fn told(&self, tell: &Tell) -> Result<RecordBatch, Failure> {
        let known = self.door.engine.catalogue(self.as_of.as_deref()).await?;
        Ok(tell(&catalogue::known(&known)?)?)
    }

    /// Counts this call towards the caller's rate limit. Every call that plans or runs a statement counts.
    async fn charge(&self) -> Result<(), SqlError> {
        let charged = self.door.guard.charge(&self.asker.caller, PATTERN).await;
        charged.map_err(|_| SqlError::Limited)
    }

    /// Returns the result columns of a statement as an Arrow IPC schema message.
    async fn planned(&self, question: &Question) -> Result<Vec<u8>, SqlError> {
        self.charge().await?;
        self.door.engine.columns(question.clone()).await
    }

    /// Returns the result columns of a command as an Arrow IPC schema message.
    async fn columns(&self, command: &Command) -> Result<Vec<u8>, Failure> {
        let rows = match command {
            Command::Rows(question) => return Ok(self.planned(question).await?),
            Command::Constant(rows) => rows.clone(),
            Command::Tables(tell) => self.told(tell.as_ref()).await?,
        };
        Ok(ipc::schema_message(&ipc::answered(&rows.schema()))?)
    }

    async fn info(&self, descriptor: FlightDescriptor) -> Result<Response, Failure> {
        let command = self.command(&descriptor.cmd)?;
        let schema = self.columns(&command).await?;
        let ticket = match &command {
            Command::Rows(question) => {
                let any = Any {
                    type_url: format!("{TYPES}TicketStatementQuery"),
                    value: StatementTicket {
                        handle: handle(question),
                    }
                    .encode_to_vec(),
                };
                any.encode_to_vec()
            }
            Command::Constant(_) | Command::Tables(_) => descriptor.cmd.clone(),
        };
        let info = FlightInfo {
            schema,
            flight_descriptor: Some(descriptor),
            endpoint: vec![FlightEndpoint {
                ticket: Some(Ticket { ticket }),
            }],
            // The numbers of records and bytes are unknown before the rows are read.
            total_records: -1,
            total_bytes: -1,
        };
        Ok(grpc::whole(framed(&info)))
    }

    async fn schema(&self, descriptor: FlightDescriptor) -> Result<Response, Failure> {
        let command = self.command(&descriptor.cmd)?;
        let schema = self.columns(&command).await?;
        Ok(grpc::whole(framed(&SchemaResult { schema })))
    }

    async fn rows(&self, ticket: Ticket) -> Result<Response, Failure> {
        let question = match self.command(&ticket.ticket)? {
            Command::Constant(rows) => return Ok(grpc::whole(ipc::table(&rows)?)),
            Command::Tables(tell) => return Ok(grpc::whole(ipc::table(&self.told(tell.as_ref()).await?)?)),
            Command::Rows(question) => question,
        };
        self.charge().await?;
        let mut watch = self.door.watch(&self.headers);
        let mut chunks = self.door.engine.flight_rows(question, self.door.timeout_ms).await?;
        let first = watch.while_allowed(chunks.next()).await?;
        Ok(grpc::streamed(first, chunks, watch))
    }

    async fn action(&self, action: Action) -> Result<Response, Failure> {
        if action.kind != actions::CREATE {
            return Ok(grpc::whole(actions::told(&action.kind, &action.body)?));
        }
        let any: Any = decode(&action.body)?;
        let question = Question {
            statement: decode::<StatementQuery>(&any.value)?.query,
            as_of: self.as_of.clone(),
        };
        let prepared = PreparedStatement {
            dataset_schema: self.planned(&question).await?,
            handle: handle(&question),
            parameter_schema: Vec::new(),
        };
        let any = Any {
            type_url: format!("{TYPES}ActionCreatePreparedStatementResult"),
            value: prepared.encode_to_vec(),
        };
        Ok(grpc::whole(actions::result(&any)))
    }
}

fn handle(question: &Question) -> Vec<u8> {
    let handle = Handle {
        statement: question.statement.clone(),
        as_of: question.as_of.clone(),
    };
    handle.encode_to_vec()
}

fn question(bytes: &[u8]) -> Result<Question, Failure> {
    let Handle { statement, as_of } = decode(bytes)?;
    Ok(Question { statement, as_of })
}

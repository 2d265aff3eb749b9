use api::{Problem, Rule, Violation};
use data_model::ErrorCode;

use super::read::{EXPIRED, FOREIGN};
use crate::operations::OperationError;

/// Translates errors of operations into problems for clients. No other code does so.
impl From<OperationError> for Problem {
    fn from(error: OperationError) -> Self {
        match &error {
            OperationError::ForeignCursor { cursor } => {
                let loc = vec!["query".into(), "cursor".into()];
                Self::invalid(vec![Violation::new(loc, &FOREIGN, Some(cursor.as_str().into()))])
            }
            OperationError::ExpiredCursor { cursor } => {
                let loc = vec!["query".into(), "cursor".into()];
                Self::refused(
                    ErrorCode::CursorExpired,
                    vec![Violation::new(loc, &EXPIRED, Some(cursor.as_str().into()))],
                )
            }
            OperationError::TooManyIdents { max, asked } => {
                let rule = Rule::TooLong {
                    max: *max,
                    actual: *asked,
                };
                Self::invalid(vec![Violation::new(vec!["body".into(), "idents".into()], &rule, None)])
            }
            other => Self::of(other),
        }
    }
}

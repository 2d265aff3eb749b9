use api::{Problem, Rule, Violation};

use super::read::FOREIGN;
use crate::operations::OperationError;

/// The one place where failures of operations become what clients get.
impl From<OperationError> for Problem {
    fn from(error: OperationError) -> Self {
        match &error {
            OperationError::ForeignCursor { cursor } => {
                let loc = vec!["query".into(), "cursor".into()];
                Self::invalid(vec![Violation::new(loc, &FOREIGN, Some(cursor.as_str().into()))])
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

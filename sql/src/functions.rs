//! Functions whose answers may be far larger than their arguments, or take far longer than reading these: bounded before they are
//! called, because what an expression makes is counted by no pool, and nothing interrupts it.

use std::cell::Cell;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    AggregateUDF, ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use datafusion::prelude::SessionContext;

use crate::SqlError;
use crate::growth::{Cost, GROWING, Growth};
use crate::mode::Mode;

/// How often what follows from constants is held while a plan is made better: each rule may copy it.
const CONSTANT_COPIES: usize = 16;

/// Most comparisons of one call: about three seconds.
const STEPS_MAX: u128 = 1 << 31;

thread_local! {
    /// What the growing functions made for the batch that this thread is at, or for the plan. All of it may be held at once.
    static MADE_BYTES: Cell<u128> = const { Cell::new(0) };
}

/// Says that this thread begins with another batch, or another plan.
pub(crate) fn begin_batch() {
    MADE_BYTES.set(0);
}

/// Bounds the growing functions of a session, and adds what the engine lacks.
pub(crate) fn bound(context: &SessionContext, bytes_max: usize) {
    let known: Vec<_> = {
        let state = context.state_ref();
        let state = state.read();
        let found = |(name, growth): &(&str, Growth)| Some((Arc::clone(state.scalar_functions().get(*name)?), *growth));
        GROWING.iter().filter_map(found).collect()
    };
    for (inner, growth) in known {
        context.register_udf(ScalarUDF::from(Bounded {
            inner,
            growth,
            bytes_max,
        }));
    }
    context.register_udaf(AggregateUDF::from(Mode::default()));
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Bounded {
    inner: Arc<ScalarUDF>,
    growth: Growth,
    bytes_max: usize,
}

impl ScalarUDFImpl for Bounded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Cost { bytes, steps } = self.growth.cost(&args)?;
        if steps > STEPS_MAX {
            let words = format!(
                "{} compares each part of one value with each of another, and these are too long for that",
                self.name()
            );
            return Err(DataFusionError::External(Box::new(SqlError::Refused(words))));
        }
        let is_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let bytes_max = self.bytes_max / if is_constant { CONSTANT_COPIES } else { 1 };
        let made = MADE_BYTES.get().saturating_add(bytes);
        if made > bytes_max as u128 {
            // The bound that is told is the one that an operator sets.
            let bytes_max = self.bytes_max;
            return Err(DataFusionError::External(Box::new(SqlError::Memory { bytes_max })));
        }
        MADE_BYTES.set(made);
        self.inner.invoke_with_args(args)
    }
}

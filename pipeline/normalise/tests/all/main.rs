//! Pages of stores in, the market's products out.

mod catalogue;
mod filed;
mod hostile;
mod variants;

//! Terms out of text, at build and query time alike.
//!
//! Terms: words of letters, digits and marks of any script, compatibility-normalised, lower case, Latin letters
//! without accents, `'s` joined (`men's` → `mens`). A number with a unit is one term however it was written
//! (`3 m`, `3m`, `3-metre`, `3 meters` → `3m`; `6\"`, `6 in.` → `6in`), a fraction is a decimal number (`1-1/2` → `1.5`);
//! the index also holds the pieces, `12x24` for `12 in. x 24 in.`, and `tshirt` for `t-shirt`.

mod analysis;
mod fold;
mod quantity;
mod units;
mod words;

pub use analysis::{Analysis, Term, analyse, code_of, letters_of};
pub(crate) use analysis::{indexed_words, stem};

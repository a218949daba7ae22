//! The library as one shared object: polars, candle and tantivy stand inside it once, and every notebook cell links
//! against it.

mod models;

pub use claimlab::*;

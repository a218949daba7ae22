pub use claimlab::*;

//! Artifacts: frames that were expensive to compute, addressed by what they depend on.

use std::path::PathBuf;

use polars::prelude::DataFrame;
use serde_json::{Value, json};

use super::{Fingerprint, Lab};
use crate::error::{Error, Result};
use crate::table::{read_parquet, write_parquet};

impl Lab {
    /// The artifact of this kind, specification and inputs: read if it is there, else computed, made durable and
    /// then returned. `spec.json` beside it says in plain words what it is.
    ///
    /// # Errors
    /// Whatever the computation fails with, or the folder's refusal. An artifact that cannot be read is an error
    /// that names its file, never silently computed again.
    pub fn artifact(
        &self,
        kind: &str,
        specification: &Value,
        inputs: &[&DataFrame],
        compute: &mut dyn FnMut() -> Result<DataFrame>,
    ) -> Result<DataFrame> {
        let folder = self.artifact_folder(kind, specification, inputs)?;
        let file = folder.join("data.parquet");
        if file.is_file() {
            return read_parquet(&file);
        }
        let frame = compute()?;
        std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, &error))?;
        let told = json!({"kind": kind, "specification": specification, "rows": frame.height(),
            "claimlab": env!("CARGO_PKG_VERSION")});
        let spec = folder.join("spec.json");
        std::fs::write(&spec, format!("{told:#}\n")).map_err(|error| Error::file(&spec, &error))?;
        write_parquet(&frame, &file)?;
        Ok(frame)
    }

    fn artifact_folder(&self, kind: &str, specification: &Value, inputs: &[&DataFrame]) -> Result<PathBuf> {
        // A release that computes differently must not meet an older one's results.
        let mut print = Fingerprint::new().text(kind).text(env!("CARGO_PKG_VERSION")).text(&specification.to_string());
        for input in inputs {
            print = print.frame(input)?;
        }
        Ok(self.folder().join("artifacts").join(kind).join(print.finish()))
    }
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;
    use serde_json::json;

    use crate::Error;
    use crate::lab::Lab;

    #[test]
    fn an_artifact_is_computed_once_and_again_when_an_input_changes() -> crate::Result<()> {
        let folder = tempfile::tempdir().map_err(|error| Error::io("temporary folder", &error))?;
        let lab = Lab::at(folder.path())?;
        let mut calls = 0;
        for (value, expected_calls) in [(1_i64, 1), (1, 1), (2, 2)] {
            let input = df!("a" => [value])?;
            let made = lab.artifact("test", &json!({"k": 1}), &[&input], &mut || {
                calls += 1;
                Ok(df!("b" => [value * 10, value])?)
            })?;
            assert_eq!(made, df!("b" => [value * 10, value])?);
            assert_eq!(calls, expected_calls);
        }
        Ok(())
    }

    #[test]
    fn a_failed_computation_leaves_nothing() -> crate::Result<()> {
        let folder = tempfile::tempdir().map_err(|error| Error::io("temporary folder", &error))?;
        let lab = Lab::at(folder.path())?;
        let failing = lab.artifact("test", &json!(1), &[], &mut || Err(Error::input("no")));
        assert!(failing.is_err());
        let made = lab.artifact("test", &json!(1), &[], &mut || Ok(df!("b" => [1_i64])?))?;
        assert_eq!(made.height(), 1);
        Ok(())
    }
}

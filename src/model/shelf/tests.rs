use super::*;

fn lab_with(models: &str) -> (tempfile::TempDir, Lab) {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    std::fs::write(folder.path().join("models.json"), models).unwrap();
    (folder, lab)
}

#[test]
fn the_table_is_read_strictly() {
    for (models, told) in [
        (r#"{"m": {"path": "x", "slotts": 3}}"#, "slotts"),
        (r#"{"m": {"path": "x", "endpoint": "http://h/v1"}}"#, "exactly one"),
        (r#"{"m": {"repository": "o/n", "revision": "main"}}"#, "40 digits"),
        (r#"{"m": {"path": "x", "device": "tpu"}}"#, "tpu"),
        (r#"{"m": {"path": "x", "precision": "int8"}}"#, "int8"),
        ("[]", "object"),
        ("{", "models.json"),
    ] {
        let (_folder, lab) = lab_with(models);
        let error = Shelf::of(&lab).unwrap_err().to_string();
        assert!(error.contains(told), "{models}: {error}");
    }
}

#[test]
fn what_is_locked_must_stay_what_it_is() -> Result<()> {
    let (folder, lab) = lab_with(r#"{"m": {"path": "m"}, "far": {"endpoint": "http://localhost:1/v1"}}"#);
    let place = folder.path().join("m");
    std::fs::create_dir(&place).unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::write(place.join(name), name).unwrap();
    }
    let shelf = Shelf::of(&lab)?;
    assert!(shelf.verify("m").unwrap_err().to_string().contains("fetch it first"));
    assert_eq!(shelf.fetch("m")?.height(), 3);
    assert_eq!(shelf.verify("m")?.height(), 3);
    let state = |shelf: &Shelf| -> Result<Vec<Option<String>>> { crate::table::texts(&shelf.list()?, "state") };
    assert_eq!(state(&shelf)?, [Some("there, locked".to_owned()), Some("remote".to_owned())]);
    std::fs::write(place.join("config.json"), "config.jsoN").unwrap();
    let changed = shelf.verify("m").unwrap_err().to_string();
    assert!(changed.contains("config.json has") && changed.contains("SHA-256"), "{changed}");
    assert!(shelf.fetch("m").is_err() && shelf.language_model("m").is_err());
    std::fs::remove_file(place.join("config.json")).unwrap();
    assert!(shelf.verify("m").unwrap_err().to_string().contains("missing"));
    assert!(shelf.verify("other").unwrap_err().to_string().contains("\"far\""));
    assert!(shelf.language_model("far").is_ok());
    Ok(())
}

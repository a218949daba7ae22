use super::*;

fn lab_with(models: &str) -> (tempfile::TempDir, Lab) {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    std::fs::write(folder.path().join("lab.toml"), models).unwrap();
    (folder, lab)
}

#[test]
fn the_table_is_read_strictly() {
    for (models, told) in [
        ("[models.m]\npath = 'x'\nslotts = 3", "line 3: unknown field `slotts`"),
        ("[models.m]\npath = 'x'\n\n[model.n]\npath = 'y'", "line 4: unknown field `model`"),
        (
            "[models.a]\npath = 'x'\n\n[models.m]\npath = 'x'\nendpoint = 'http://h/v1'",
            "line 4: m: expected exactly one",
        ),
        ("[models.m]\nrepository = 'o/n'\nrevision = 'main'", "40 digits"),
        ("[models.m]\npath = 'x'\ndevice = 'tpu'", "tpu"),
        ("[models.m]\npath = 'x'\nprecision = 'int8'", "int8"),
        ("[models.m]\npath = 'x'\nslots = 'two'", "line 3: invalid type"),
        ("[models.m]\npath = 'x'\nkey_from = 'K'", "key_from is a field of an endpoint"),
        ("[models.m]\nendpoint = 'http://h/v1'\ndevice = 'cpu'", "device is a field of a model on this machine"),
        ("[models.m]\nendpoint = 'http://h/v1'\ntokenizer = 't.json'", "tokenizer and context"),
        ("[models.m]\nendpoint = 'h'", "not the URL of a server"),
        ("[models.gpt-4.1]\nendpoint = 'http://h/v1'", "in quotes"),
        ("models = 3", "line 1"),
        ("[models.m]\npath = 'x'\n[models.m]\npath = 'y'", "line 3"),
        ("[models.m", "lab.toml, line 1"),
    ] {
        let (_folder, lab) = lab_with(models);
        let error = Shelf::of(&lab).unwrap_err().to_string();
        assert!(error.contains(told), "{models}: {error}");
    }
}

#[test]
fn an_empty_shelf_says_how_to_fill_it() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path())?;
    for empty in [None, Some(""), Some("# nothing yet\n")] {
        if let Some(text) = empty {
            std::fs::write(folder.path().join("lab.toml"), text).unwrap();
        }
        let shelf = Shelf::of(&lab)?;
        assert_eq!(shelf.list()?.height(), 0);
        let advice = shelf.advice().unwrap_or_default();
        // The example is one that the reader takes.
        let example = advice.split("\n\n").last().unwrap_or_default();
        let (_filled, other) = lab_with(example);
        assert!(advice.contains("lab.toml") && Shelf::of(&other)?.list()?.height() == 1, "{advice}");
        let told = shelf.language_model("gpt-4.1").unwrap_err().to_string();
        assert!(told.contains("it is empty") && told.contains("[models.\"gpt-4.1\"]"), "{told}");
    }
    let (_folder, lab) = lab_with("[models.far]\nendpoint = 'http://localhost:1/v1'");
    assert_eq!(Shelf::of(&lab)?.advice(), None);
    Ok(())
}

#[test]
fn what_is_locked_must_stay_what_it_is() -> Result<()> {
    let (folder, lab) = lab_with("[models.m]\npath = 'm'\n\n[models.far]\nendpoint = 'http://localhost:1/v1'");
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
    // By name: `far`, `m`.
    assert_eq!(state(&shelf)?, [Some("remote".to_owned()), Some("there, locked".to_owned())]);
    let lock = folder.path().join("models.lock.toml");
    let written = std::fs::read_to_string(&lock).unwrap();
    std::fs::write(&lock, written.replace("sha256", "sha265")).unwrap();
    let told = shelf.verify("m").unwrap_err().to_string();
    assert!(told.contains("models.lock.toml, line") && told.contains("sha265"), "{told}");
    std::fs::write(&lock, written).unwrap();
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

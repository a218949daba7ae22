use super::*;
use crate::table::FrameBuilder;
use crate::table::texts;

fn read(name: &str, content: &[u8]) -> Result<DataFrame> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    read_frame(&path)
}

#[test]
fn the_same_table_comes_from_every_format() {
    let expected = FrameBuilder::new().text("id", &["a", "b"]).integer("n", &[1, 2]).build().unwrap();
    for (name, content) in [
        ("x.csv", "id,n\na,1\nb,2\n"),
        ("x.tsv", "id\tn\r\na\t1\r\nb\t2\r\n"),
        ("x.json", r#"[{"id": "a", "n": 1}, {"id": "b", "n": 2}]"#),
        ("x.json", r#"{"data": [{"id": "a", "n": 1}, {"id": "b", "n": 2}], "version": 1}"#),
        ("x.jsonl", "{\"id\": \"a\", \"n\": 1}\n\n{\"id\": \"b\", \"n\": 2}"),
    ] {
        assert_eq!(read(name, content.as_bytes()).unwrap(), expected, "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    crate::table::write_parquet(&expected, &path).unwrap();
    assert_eq!(read_frame(&path).unwrap(), expected);
}

#[test]
fn mixed_and_nested_values_become_text_and_nan_null() {
    let frame = read("x.jsonl", b"{\"a\": 1, \"b\": [1, 2]}\n{\"a\": \"x\", \"b\": {\"c\": 1}}\n{\"a\": NaN}").unwrap();
    assert_eq!(texts(&frame, "a").unwrap(), [Some("1".to_owned()), Some("x".to_owned()), None]);
    assert_eq!(texts(&frame, "b").unwrap()[1].as_deref(), Some("{\"c\":1}"));
}

#[test]
fn a_fault_is_told_with_file_and_line() {
    let error = read("x.jsonl", b"{\"a\": 1}\n{\"a\": ").unwrap_err().to_string();
    assert!(error.contains("x.jsonl") && error.contains("line 2"), "{error}");
    assert!(read("x.xlsx", b"x").unwrap_err().to_string().contains("xlsx"));
    assert!(read("x.parquet", b"PAR1 no").unwrap_err().to_string().contains("not a Parquet file"));
    assert!(read("x.csv", b"PK\x03\x04").unwrap_err().to_string().contains("ZIP"));
    let twice = read("x.csv", b"question_id,question,reference_answer\n1,a,b\n1,c,d\n").unwrap();
    assert!(ColumnMap::new().questions(&twice).unwrap_err().to_string().contains("two rows"));
}

#[test]
fn labels_are_mapped_and_originals_kept() {
    let file = read(
        "x.tsv",
        "premise\thypothesis\tlabel_text\nIl \"pleut\".\tIl pleut.\tENTAILMENT\nA.\tB.\tcompatibles\n".as_bytes(),
    )
    .unwrap();
    let map =
        ColumnMap::new().column("text", "hypothesis").column("context_unit", "premise").column("label", "label_text");
    let claims = map.claims(&file).unwrap();
    assert_eq!(texts(claims.frame(), "label").unwrap(), [Some("entailment".to_owned()), None]);
    let mapped = map.value("label", "compatibles", "neutral").claims(&file).unwrap();
    assert_eq!(texts(mapped.frame(), "label").unwrap()[1].as_deref(), Some("neutral"));
    assert_eq!(texts(mapped.frame(), "claim_id").unwrap()[1].as_deref(), Some("row-2"));
}

#[test]
fn what_comes_late_in_a_long_file_is_not_lost() {
    let mut lines: String =
        (0..3000).map(|row| format!("{{\"id\": \"{row}\", \"n\": {row}, \"e\": null}}\n")).collect();
    lines.push_str("{\"id\": 7, \"n\": 1.5, \"e\": \"late\", \"new\": \"key\"}\n");
    let frame = read("x.jsonl", lines.as_bytes()).unwrap();
    assert_eq!(frame.height(), 3001);
    assert_eq!(texts(&frame, "e").unwrap()[3000].as_deref(), Some("late"));
    assert_eq!(texts(&frame, "new").unwrap()[3000].as_deref(), Some("key"));
    assert_eq!(texts(&frame, "id").unwrap()[3000].as_deref(), Some("7"));
    assert_eq!(crate::table::floats(&frame, "n").unwrap()[3000], Some(1.5));
    let twice = "{\"a\": \"x\", \"a\": \"y\"}\n{\"a\": \"q\\\"z\"}\n";
    assert_eq!(texts(&read("x.jsonl", twice.as_bytes()).unwrap(), "a").unwrap()[1].as_deref(), Some("q\"z"));
}

#[test]
fn single_bits_turned_in_a_parquet_file_cost_an_error_at_most() {
    // Found by fuzzing: polars panics over some of these.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let frame = FrameBuilder::new().text("id", &["a", "b"]).integer("n", &[1, 2]).boolean("t", &[Some(true), None]);
    crate::table::write_parquet(&frame.build().unwrap(), &path).unwrap();
    let sound = std::fs::read(&path).unwrap();
    let mut refused = 0;
    for bit in (0..sound.len() * 8).step_by(37) {
        let mut bytes = sound.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, bytes).unwrap();
        if let Err(error) = read_frame(&path) {
            let told = error.to_string();
            assert!(told.contains("x.parquet") && told.contains("help:"), "{told}");
            refused += 1;
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn nan_among_numbers_of_a_csv_is_a_missing_number_and_elsewhere_a_word() {
    let frame = read("x.csv", b"n,x,name,only\n1,1.5,Nan,NaN\nnan,NaN,Jo,NaN\n3,2,Al,NaN\n").unwrap();
    assert_eq!(crate::table::integers(&frame, "n").unwrap(), [Some(1), None, Some(3)]);
    assert_eq!(crate::table::floats(&frame, "x").unwrap(), [Some(1.5), None, Some(2.0)]);
    assert_eq!(texts(&frame, "name").unwrap()[0].as_deref(), Some("Nan"));
    assert_eq!(texts(&frame, "only").unwrap()[0].as_deref(), Some("NaN"));
}

#[test]
fn ids_keep_their_zeros() {
    let frame = read("x.csv", b"id,n,x\n007,1,1.50\n012,2,2.25\n").unwrap();
    assert_eq!(texts(&frame, "id").unwrap()[0].as_deref(), Some("007"));
    assert_eq!(crate::table::integers(&frame, "n").unwrap(), [Some(1), Some(2)]);
    assert_eq!(crate::table::floats(&frame, "x").unwrap(), [Some(1.5), Some(2.25)]);
}

use super::*;

const LABELS: [&str; 3] = ["entailment", "neutral", "contradiction"];

fn matrix(rows: [[u64; 3]; 3]) -> ConfusionMatrix {
    ConfusionMatrix::from_counts(&LABELS, &rows.map(Vec::from)).unwrap()
}

#[test]
fn what_has_no_denominator_has_no_value() {
    let none = matrix([[0; 3]; 3]);
    for measure in Agreement::ALL {
        assert_eq!(measure.of(&none), None, "{measure}");
    }
    assert_eq!(none.majority(), None);
    // Everything is neutral, and everything is predicted so: nothing can be said about the other two.
    let one = matrix([[0, 0, 0], [0, 9, 0], [0, 0, 0]]);
    assert_eq!(one.accuracy(), Some(1.0));
    assert_eq!((one.kappa(), one.mcc(), one.macro_f1(), one.balanced_accuracy()), (None, None, None, None));
    assert_eq!((one.precision("entailment"), one.recall("entailment"), one.f1("entailment")), (None, None, None));
}

#[test]
fn a_label_that_is_never_predicted_has_recall_and_f1_zero_and_no_precision() {
    let matrix = matrix([[5, 1, 0], [2, 4, 0], [1, 1, 0]]);
    assert_eq!(matrix.precision("contradiction"), None);
    assert_eq!(matrix.recall("contradiction"), Some(0.0));
    assert_eq!(matrix.f1("contradiction"), Some(0.0));
    assert!(matrix.macro_f1().is_some());
}

#[test]
fn the_binary_view_keeps_all_items() {
    let three = matrix([[5, 1, 2], [2, 4, 1], [3, 1, 7]]);
    let two = three.binary("entailment").unwrap();
    assert_eq!(two.rows(), [vec![5, 3], vec![5, 13]]);
    assert_eq!(two.labels(), ["entailment", "not entailment"]);
    assert_eq!(two.recall("entailment"), three.recall("entailment"));
    assert!(three.binary("abstain").is_err());
}

#[test]
fn sums_of_matrices_are_the_matrix_of_all_items() {
    let (mut left, right) = (matrix([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), matrix([[1, 0, 0], [0, 1, 0], [0, 0, 1]]));
    left.add(&right).unwrap();
    assert_eq!(left.rows(), [vec![2, 2, 3], vec![4, 6, 6], vec![7, 8, 10]]);
    assert!(left.add(&ConfusionMatrix::from_counts(&["a"], &[vec![1]]).unwrap()).is_err());
}

#[test]
fn labels_off_the_menu_and_lists_that_differ_in_length_are_named() {
    let error = ConfusionMatrix::new(&LABELS, &["entailment"], &[Some("Entailment")]).unwrap_err().to_string();
    assert!(error.contains("\"Entailment\" is not on the menu"), "{error}");
    let error = ConfusionMatrix::new(&LABELS, &["entailment"], &[] as &[Option<&str>]).unwrap_err().to_string();
    assert!(error.contains("1 given labels, but 0 predicted"), "{error}");
    assert!(ConfusionMatrix::new(&["a", "a"], &["a"], &[Some("a")]).is_err());
    assert!(ConfusionMatrix::from_counts(&LABELS, &[vec![1, 2, 3]]).is_err());
}

#[test]
fn the_table_has_given_rows_and_predicted_columns() {
    let table = matrix([[5, 1, 2], [2, 4, 1], [3, 1, 7]]).table().unwrap();
    let column: Vec<i64> = table.column("contradiction").unwrap().i64().unwrap().into_no_null_iter().collect();
    assert_eq!(column, [2, 1, 7]);
    assert_eq!(matrix([[5, 1, 2], [2, 4, 1], [3, 1, 7]]).by_class().unwrap().shape(), (3, 6));
}

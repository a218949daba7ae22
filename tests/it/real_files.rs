//! Real public files, read in place where they are.

use claimlab::dataset::RagCheckerFile;
use claimlab::prelude::*;
use claimlab::study::rescore;
use claimlab::table::floats;

#[test]
fn the_gdpr_has_its_recitals_and_articles() {
    let Some(path) = super::shared("data/gdpr/gdpr_32016R0679_oj_en.xhtml") else {
        return super::skip("the_gdpr_has_its_recitals_and_articles", "the act is not beside the checkout", true);
    };
    let act = Corpus::read_html("gdpr", "en", path).unwrap();
    let count = |prefix: &str| act.provisions().iter().filter(|one| one.id.starts_with(prefix)).count();
    assert_eq!((count("rct_"), count("art_")), (173, 99));
    let passage = act.passage(&["art_5".to_owned()]).unwrap();
    assert!(passage.starts_with("Article 5") && passage.contains("(a) processed lawfully"), "{passage}");
}

#[test]
fn ragcheckers_example_scores_to_the_digit() {
    let Some(path) = super::shared("data/claim_checking/checking_outputs.json") else {
        return super::skip("ragcheckers_example_scores_to_the_digit", "the file is not beside the checkout", true);
    };
    let table = rescore(&RagCheckerFile::read(path).unwrap()).unwrap();
    let (ours, theirs) = (floats(&table, "computed here").unwrap(), floats(&table, "stated in the file").unwrap());
    assert_eq!(ours.len(), 11);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours.unwrap().to_bits(), theirs.unwrap().to_bits());
    }
}

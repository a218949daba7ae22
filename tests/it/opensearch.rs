//! OpenSearch's client against a server that plays OpenSearch. A real cluster has not been seen.

use std::sync::Arc;

use claimlab::model::Embed;
use claimlab::prelude::*;
use claimlab::retrieval::Dense;
use claimlab::retrieval::opensearch::{OpenSearch, OpenSearchIndex};
use claimlab::table::{integers, texts};

use super::cluster::{Cluster, Fault};
use super::retrieval::{Counts, ask, chunks, keeps_its_promises};

fn lab() -> (tempfile::TempDir, Lab) {
    let folder = tempfile::tempdir().unwrap();
    let lab = Lab::at(folder.path()).unwrap();
    (folder, lab)
}

fn indexed(cluster: &Cluster, lab: &Lab) -> claimlab::Result<OpenSearchIndex> {
    OpenSearch::connect(cluster.url())?.index(lab, "claimlab", &chunks())
}

#[test]
fn both_kinds_of_search_keep_their_promises() {
    let (_folder, lab) = lab();
    for version in ["2.19.1", "3.2.0"] {
        let played = Cluster::start("opensearch", version);
        let cluster = OpenSearch::connect(played.url()).unwrap();
        assert_eq!(cluster.version(), version);
        let index = cluster.index(&lab, "claimlab", &chunks()).unwrap();
        assert_eq!(index.names(), ["claimlab-act", "claimlab-code"]);
        keeps_its_promises(&index.bm25(), true);
        assert!(index.knn().unwrap_err().to_string().contains("no vectors"));
        let counts: Arc<dyn Embed> = Arc::new(Counts);
        let dense = Dense::new("Counts", &counts);
        let index = cluster.index_with_vectors(&lab, "vectors", &chunks(), &dense).unwrap();
        keeps_its_promises(&index.knn().unwrap(), true);
        index.delete().unwrap();
        assert_eq!(played.documents("vectors-act"), 0);
        assert_eq!(played.documents("claimlab-act"), 60);
    }
}

#[test]
fn what_is_no_opensearch_is_refused() {
    for (distribution, version) in [("opensearch", "1.3.0"), ("elasticsearch", "8.1.0"), ("opensearch", "4.0.0")] {
        let played = Cluster::start(distribution, version);
        let error = OpenSearch::connect(played.url()).unwrap_err().to_string();
        assert!(error.contains(version) && error.contains("2.x and 3.x"), "{error}");
    }
    let played = Cluster::start("opensearch", "2.19.1");
    played.require("Basic someone");
    let error = OpenSearch::connect(played.url()).unwrap_err().to_string();
    assert!(error.contains("401") && error.contains("OPENSEARCH_USERNAME"), "{error}");
}

#[test]
fn a_second_call_sends_nothing_and_lost_documents_are_sent_again() {
    let (_folder, lab) = lab();
    let played = Cluster::start("opensearch", "3.2.0");
    indexed(&played, &lab).unwrap();
    assert_eq!(played.count("documents"), 100);
    indexed(&played, &lab).unwrap();
    assert_eq!((played.count("documents"), played.count("create")), (100, 2));
    played.lose_documents("claimlab-act", 7);
    indexed(&played, &lab).unwrap();
    assert_eq!((played.count("documents"), played.documents("claimlab-act")), (160, 60));
    // A lab elsewhere knows nothing of what was acknowledged; sending again leaves one document each.
    let (_other, other) = super::opensearch::lab();
    indexed(&played, &other).unwrap();
    assert_eq!((played.documents("claimlab-act"), played.documents("claimlab-code")), (60, 40));
}

#[test]
fn a_busy_cluster_gets_less_at_once_and_everything_in_the_end() {
    let (_folder, lab) = lab();
    let played = Cluster::start("opensearch", "2.19.1");
    for fault in [Fault::Busy, Fault::HalfBusy, Fault::TooLarge, Fault::Away] {
        played.fault("bulk", fault);
    }
    indexed(&played, &lab).unwrap();
    assert_eq!((played.documents("claimlab-act"), played.documents("claimlab-code")), (60, 40));
    assert!(played.count("bulk") >= 6);
}

#[test]
fn a_refused_document_is_named_the_others_are_in_and_only_it_is_sent_again() {
    let (_folder, lab) = lab();
    let played = Cluster::start("opensearch", "2.19.1");
    played.fault("bulk", Fault::Misfit("act#007"));
    let error = indexed(&played, &lab).unwrap_err().to_string();
    assert!(error.contains("refused 1 of 60") && error.contains("act#007"), "{error}");
    assert!(error.contains("strict_dynamic_mapping_exception") && error.contains("all others are in"), "{error}");
    assert_eq!(played.documents("claimlab-act"), 59);
    let sent = played.count("documents");
    indexed(&played, &lab).unwrap();
    assert_eq!(played.count("documents") - sent, 1 + 40);
}

#[test]
fn an_index_of_somebody_else_is_left_alone() {
    let (_folder, lab) = lab();
    let played = Cluster::start("opensearch", "2.19.1");
    played.occupy("claimlab-act");
    let error = indexed(&played, &lab).unwrap_err().to_string();
    assert!(error.contains("claimlab-act") && error.contains("something else"), "{error}");
    assert_eq!(played.count("documents"), 0);
    // The same name for other chunks.
    let played = Cluster::start("opensearch", "2.19.1");
    let cluster = OpenSearch::connect(played.url()).unwrap();
    let index = cluster.index(&lab, "claimlab", &chunks()).unwrap();
    let fewer = Chunks::new(chunks().into_frame().head(Some(20))).unwrap();
    let error = cluster.index(&lab, "claimlab", &fewer).unwrap_err().to_string();
    assert!(error.contains("other chunks") && error.contains("another name"), "{error}");
    played.occupy("claimlab-act");
    assert!(index.delete().unwrap_err().to_string().contains("something else"));
}

#[test]
fn a_red_cluster_and_half_an_answer_are_errors() {
    let (_folder, lab) = lab();
    let played = Cluster::start("opensearch", "2.19.1");
    played.fault("health", Fault::Red);
    let error = indexed(&played, &lab).unwrap_err().to_string();
    assert!(error.contains("it is red: 1 shards") && error.contains("claimlab-act"), "{error}");
    let index = indexed(&played, &lab).unwrap();
    let question = [ask("Must the controller notify?", "act")];
    for (fault, told) in [(Fault::ShardLost, "not whole"), (Fault::TooManyClauses, "max_clause_count")] {
        played.fault("search", fault);
        let error = index.bm25().search(&question, 5).unwrap_err().to_string();
        assert!(error.contains(told) && error.contains("Must the controller"), "{error}");
    }
    played.fault("search", Fault::Busy);
    assert_eq!(index.bm25().search(&question, 5).unwrap()[0].len(), 5);
    assert!(index.bm25().search(&question, 20_000).unwrap_err().to_string().contains("10000"));
}

#[test]
fn a_cluster_that_is_not_there_is_an_error_that_says_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = OpenSearch::connect(&url).unwrap_err();
    assert!(error.to_string().contains("cannot be reached") && error.is_retryable(), "{error}");
}

#[test]
fn the_same_run_here_and_there_is_compared_row_by_row() {
    let (_folder, lab) = lab();
    let played = Cluster::start("opensearch", "3.2.0");
    let index = indexed(&played, &lab).unwrap();
    let questions = QaPairs::new(
        claimlab::polars::prelude::df!("question_id" => ["a", "b"], "reference_answer" => ["", ""],
            "question" => ["Must the controller notify?", "le bailleur"], "source" => ["act", "code"])
        .unwrap(),
    )
    .unwrap();
    let there = index.bm25().retrieve(&questions, 5).unwrap();
    let here = Retriever::bm25(&chunks()).unwrap().retrieve(&questions, 5).unwrap();
    let table = here.beside(&there).unwrap();
    let ranks = integers(&table, "rank").unwrap();
    assert_eq!(ranks.iter().filter(|rank| rank.is_some()).count(), here.height());
    assert_eq!(texts(&table, "question_id").unwrap()[0].as_deref(), Some("a"));
}

#[test]
fn a_caller_inside_a_runtime_is_not_blocked_by_ours() {
    let (_folder, lab) = lab();
    let played = Cluster::start("opensearch", "3.2.0");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let index = runtime.block_on(async { indexed(&played, &lab) }).unwrap();
    assert_eq!(index.names().len(), 2);
}

use proptest::prelude::*;

use super::recipe::windows;
use super::*;
use crate::table::{integers, texts};

fn act() -> Corpus {
    let mut html = String::from("<div id='cpt_I'><p class='oj-ti-section-1'>CHAPTER I</p>");
    for article in 1..=12 {
        html.push_str(&format!("<div id='art_{article}'><p class='oj-ti-art'>Article {article}</p>"));
        for paragraph in 1..=3 {
            html.push_str(&format!(
                "<div id='{article:03}.{paragraph:03}'><p>{paragraph}. The office n° {article} keeps the été register. It \
                 shall publish it. Nobody may change entry {paragraph} of it.</p></div>"
            ));
        }
        html.push_str("</div>");
    }
    Corpus::from_html("act", "en", &(html + "</div>")).unwrap()
}

#[test]
fn every_recipe_gives_slices_of_the_text_in_order_with_offsets_that_fit() {
    let act = act();
    let letters: Vec<char> = act.text().chars().collect();
    for chunking in [
        Chunking::tokens(40, 8).unwrap(),
        Chunking::sentences(40, 0.2).unwrap(),
        Chunking::context_units(130, 30).unwrap(),
        Chunking::lines(),
        Chunking::paragraphs(),
        Chunking::articles(),
    ] {
        let chunks = chunking.cut(std::slice::from_ref(&act)).unwrap();
        let starts = integers(chunks.frame(), "start").unwrap();
        let ends = integers(chunks.frame(), "end").unwrap();
        let mut is_covered = vec![false; letters.len()];
        for ((text, start), end) in texts(chunks.frame(), "text").unwrap().iter().zip(&starts).zip(&ends) {
            let (start, end) = (start.unwrap() as usize, end.unwrap() as usize);
            let slice: String = letters[start..end].iter().collect();
            assert_eq!(Some(&slice), text.as_ref(), "{chunking:?}");
            is_covered[start..end].fill(true);
        }
        assert!(starts.is_sorted());
        for (place, letter) in letters.iter().enumerate() {
            assert!(is_covered[place] || letter.is_whitespace(), "{chunking:?} leaves out character {place}");
        }
    }
}

#[test]
fn articles_paragraphs_and_units_follow_the_structure() {
    let act = act();
    let by_article = Chunking::articles().cut(std::slice::from_ref(&act)).unwrap();
    // The chapter's heading stands in no article.
    assert_eq!(by_article.height(), 13);
    assert_eq!(texts(by_article.frame(), "provisions").unwrap()[1].as_deref(), Some("art_1"));
    let by_paragraph = Chunking::paragraphs().cut(std::slice::from_ref(&act)).unwrap();
    assert_eq!(by_paragraph.height(), 1 + 12 * 4);
    let units = Chunking::context_units(130, 50).unwrap().cut(std::slice::from_ref(&act)).unwrap();
    let counts = integers(units.frame(), "n_tokens").unwrap();
    let last = counts.len() - 1;
    assert!(counts[..last].iter().all(|count| (80..=180).contains(&count.unwrap())), "{counts:?}");
    let begins = texts(units.frame(), "text").unwrap();
    assert!(begins[1..].iter().all(|text| text.as_ref().unwrap().starts_with("Article ")), "{begins:?}");
}

#[test]
fn sentences_are_whole_and_repeat_up_to_the_ratio() {
    let act = act();
    let chunks = Chunking::sentences(40, 0.25).unwrap().cut(std::slice::from_ref(&act)).unwrap();
    assert!(integers(chunks.frame(), "n_tokens").unwrap().iter().all(|count| count.unwrap() <= 40));
    let texts = texts(chunks.frame(), "text").unwrap();
    // A heading is a line of its own, and ends a chunk as a sentence does.
    let is_whole =
        |text: &str| text.ends_with('.') || text.lines().last().is_some_and(|line| line.starts_with("Article "));
    assert!(texts.iter().flatten().all(|text| is_whole(text)), "{texts:?}");
    let ends = integers(chunks.frame(), "end").unwrap();
    let starts = integers(chunks.frame(), "start").unwrap();
    assert!(ends.iter().zip(&starts[1..]).any(|(end, start)| start < end), "no overlap at all");
    let apart = Chunking::sentences(40, 0.0).unwrap().cut(&[act]).unwrap();
    let ends = integers(apart.frame(), "end").unwrap();
    let starts = integers(apart.frame(), "start").unwrap();
    assert!(ends.iter().zip(&starts[1..]).all(|(end, start)| start >= end));
}

#[test]
fn a_passage_makes_the_chunks_relevant_that_hold_half_of_it_or_are_half_in_it() {
    use polars::prelude::df;
    let act = act();
    let passage = act.passage(&["art_5".to_owned()]).unwrap();
    let marked = format!("# {}", passage.replace("The office", "**The office**").replace(' ', "  "));
    let frame = df!("question_id" => ["q1", "q2"], "question" => ["?", "?"], "reference_answer" => ["a", "a"],
        "context_unit" => [Some(marked.as_str()), None], "source" => ["ACT", "ACT"])
    .unwrap();
    let questions = crate::table::QaPairs::new(frame).unwrap();
    for (chunking, expected) in
        [(Chunking::articles(), 1), (Chunking::paragraphs(), 4), (Chunking::tokens(5000, 0).unwrap(), 1)]
    {
        let chunks = chunking.cut(std::slice::from_ref(&act)).unwrap();
        let found = Relevance::find(&questions, std::slice::from_ref(&act), &chunks, 0.5).unwrap();
        let quality = crate::table::floats(found.passages(), "quality").unwrap();
        assert!(quality[0].unwrap() > 0.95 && quality[1].is_none(), "{quality:?}");
        let relevant: Vec<Option<bool>> = found.chunks().column("relevant").unwrap().bool().unwrap().iter().collect();
        assert_eq!(relevant.iter().filter(|one| **one == Some(true)).count(), expected, "{chunking:?}");
    }
    let chunks = Chunking::articles().cut(std::slice::from_ref(&act)).unwrap();
    assert!(Relevance::find(&questions, &[act], &chunks, 0.0).is_err());
}

proptest! {
    #[test]
    fn windows_cover_every_token_in_order(n in 0_usize..400, size in 1_usize..60, overlap in 0_usize..59) {
        prop_assume!(overlap < size);
        let found = windows(n, size, overlap);
        let mut next = 0;
        for (start, end) in found {
            prop_assert!(start <= next && end > next && end - start <= size);
            next = end;
        }
        prop_assert_eq!(next, n);
    }
}

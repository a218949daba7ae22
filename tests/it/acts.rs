//! Real acts, read in place where they are, against other parsers and against their own files.

use std::path::PathBuf;

use claimlab::dataset::{Kind, Relevance};
use claimlab::prelude::*;
use claimlab::table::{floats, integers, texts};

fn file(test: &str, path: &str) -> Option<PathBuf> {
    let found = super::shared(&format!("data/{path}"));
    if found.is_none() {
        super::skip(test, &format!("{path} is not beside the checkout"), true);
    }
    found
}

fn count(act: &Corpus, kind: Kind) -> usize {
    act.parts().iter().filter(|part| part.kind == kind).count()
}

fn bare(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// Offsets cut the text where the parts' own text is, and the characters of all kinds add up to the text's.
fn assert_accounted(act: &Corpus) {
    let characters: Vec<char> = act.text().chars().collect();
    for part in act.parts() {
        let slice: String = characters[part.start..part.end].iter().collect();
        assert_eq!(slice, act.text_of(part), "{}", part.id);
        if let Some(parent) = part.parent {
            let around = &act.parts()[parent];
            assert!(around.start <= part.start && part.end <= around.end, "{} leaves {}", part.id, around.id);
        }
    }
    let ids: std::collections::HashSet<&str> = act.parts().iter().map(|part| part.id.as_str()).collect();
    assert_eq!(ids.len(), act.parts().len(), "two parts share an id");
    let table = act.accounting().unwrap();
    let sum: i64 = integers(&table, "characters").unwrap().into_iter().flatten().sum();
    assert_eq!(sum as usize, characters.len());
    assert!(integers(&table, "characters").unwrap().iter().all(|own| own.unwrap() >= 0), "{table}");
}

/// The text of a page's body by another parser: html5ever's tree, not its tokenizer.
fn body(html: &str) -> String {
    let page = scraper::Html::parse_document(html);
    let body = page.select(&scraper::Selector::parse("body").unwrap()).next().unwrap();
    bare(&body.text().collect::<String>())
}

#[test]
fn the_gdpr_in_two_languages_and_consolidated_is_read_to_the_last_character() {
    let test = "the_gdpr_in_two_languages_and_consolidated_is_read_to_the_last_character";
    let mut ids = Vec::new();
    for (name, language, articles, recitals) in [
        ("gdpr_32016R0679_oj_en.xhtml", "en", 99, 173),
        ("gdpr_32016R0679_oj_fr.xhtml", "fr", 99, 173),
        ("gdpr_02016R0679-20160504_consolidated_en.html", "en", 99, 0),
    ] {
        let Some(path) = file(test, &format!("gdpr/{name}")) else { return };
        let act = Corpus::read("gdpr", language, &path).unwrap();
        assert_eq!((count(&act, Kind::Article), count(&act, Kind::Recital)), (articles, recitals), "{name}");
        assert_eq!(count(&act, Kind::Division), 11 + 15, "{name}: chapters and sections");
        assert_eq!(bare(act.text()), body(&std::fs::read_to_string(&path).unwrap()), "{name}");
        assert_accounted(&act);
        for number in 1..=99 {
            assert!(act.parts().iter().any(|part| part.id == format!("art_{number}")), "{name} lacks article {number}");
        }
        let numbered = act.parts().iter().filter(|part| part.kind == Kind::Paragraph).count();
        assert_eq!(numbered, 372, "{name}: numbered paragraphs");
        let part = act.parts().iter().find(|part| part.id == "art_5.1.a").unwrap();
        assert!(act.text_of(part).starts_with("(a) ") || act.text_of(part).starts_with("a) "), "{}", act.text_of(part));
        assert_eq!(part.path.len(), 3, "{:?}", part.path);
        let legal = act.parts().iter().filter(|part| part.kind != Kind::Note);
        ids.push(legal.filter(|part| part.id.starts_with("art_")).map(|part| part.id.clone()).collect::<Vec<_>>());
    }
    assert_eq!(ids[0], ids[1], "English and French have the same articles, paragraphs and points");
    assert_eq!(ids[0], ids[2], "the consolidated act has them too");
}

#[test]
fn an_article_knows_its_place_and_its_text() {
    let Some(path) = file("an_article_knows_its_place_and_its_text", "gdpr/gdpr_32016R0679_oj_en.xhtml") else {
        return;
    };
    let act = Corpus::read("gdpr", "en", path).unwrap();
    let part = |id: &str| act.parts().iter().find(|part| part.id == id).unwrap().clone();
    assert_eq!(
        part("art_23").breadcrumb(),
        "CHAPTER III — Rights of the data subject › Section 5 — Restrictions › Article 23"
    );
    assert_eq!(part("art_5").heading.as_deref(), Some("Principles relating to processing of personal data"));
    assert!(act.text_of(&part("art_4.7")).starts_with("(7) ‘controller’ means"));
    assert!(act.text_of(&part("rct_1")).starts_with("(1) The protection of natural persons"));
    assert!(act.text_of(&part("note_1")).contains("OJ C 229"));
    assert_eq!(texts(&act.about().unwrap(), "value").unwrap().len(), 2);
}

#[test]
fn the_code_civil_has_its_articles_as_json_and_as_markdown() {
    let test = "the_code_civil_has_its_articles_as_json_and_as_markdown";
    let Some(path) = file(test, "code_civil_lu/code_civil_lu_2025-12-26.json") else { return };
    let code = Corpus::read("code civil", "fr", &path).unwrap();
    assert_eq!(count(&code, Kind::Article), 2301);
    assert_accounted(&code);
    // Article by article, every letter of the file is in the text.
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let articles = code.provisions();
    for (provision, part) in value["provisions"].as_array().unwrap().iter().zip(articles) {
        let field = |name: &str| provision[name].as_str().unwrap_or_default();
        assert_eq!(part.id, field("anchor"));
        let told = letters(&format!("{}{}{}", field("num"), field("heading"), field("text_md")));
        assert_eq!(letters(code.text_of(part)), told, "{}", part.id);
        let path: Vec<String> =
            provision["path"].as_array().unwrap().iter().map(|step| bare(step.as_str().unwrap())).collect();
        assert_eq!(part.path.iter().map(|step| bare(step)).collect::<Vec<_>>(), path, "{}", part.id);
    }
    let example = articles.iter().find(|part| part.id == "art_1147").unwrap();
    assert!(
        example
            .breadcrumb()
            .starts_with("Livre III. — Des différentes manières dont on acquiert la propriété › TITRE III.")
    );
    assert!(example.breadcrumb().ends_with("› Art. 1147."), "{}", example.breadcrumb());

    let Some(path) = file(test, "code_civil_lu/code_civil_lu_2025-12-26.md") else { return };
    let text = std::fs::read_to_string(&path).unwrap();
    let markdown = Corpus::read("code civil", "fr", &path).unwrap();
    assert_eq!(count(&markdown, Kind::Article), 2301);
    assert_accounted(&markdown);
    assert_eq!(
        markdown.provisions().iter().map(|part| &part.id).collect::<Vec<_>>(),
        articles.iter().map(|part| &part.id).collect::<Vec<_>>()
    );
    // Anchors are markup; all other letters below the head are in the text.
    let body = text.split_once("\n---\n").unwrap().1;
    let body: String = body.lines().filter(|line| !line.starts_with("<a id=")).collect();
    assert_eq!(letters(markdown.text()), letters(&body));
}

/// The text of an Akoma Ntoso document outside of its metadata, by quick-xml.
fn akoma_text(xml: &str) -> String {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(xml);
    let (mut text, mut hidden) = (String::new(), 0);
    let is_hidden = |name: &[u8]| name == b"meta" || name.contains(&b':');
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) => hidden += i32::from(is_hidden(tag.name().as_ref())),
            Event::End(tag) => hidden -= i32::from(is_hidden(tag.name().as_ref())),
            Event::Text(piece) if hidden == 0 => text.push_str(&piece.decode().unwrap()),
            Event::GeneralRef(name) if hidden == 0 => match &*name.decode().unwrap() {
                "amp" => text.push('&'),
                "lt" => text.push('<'),
                "gt" => text.push('>'),
                "quot" => text.push('"'),
                "apos" => text.push('\''),
                _ => text.push(name.resolve_char_ref().unwrap().unwrap()),
            },
            Event::Eof => return bare(&text),
            _ => {}
        }
    }
}

#[test]
fn akoma_ntoso_is_read_to_the_last_character() {
    let test = "akoma_ntoso_is_read_to_the_last_character";
    // Articles: those of the act itself, without those that it quotes to amend other acts.
    for (name, articles) in
        [("sample_akn_constitution_fr.xml", 132), ("sample_akn_loi-2018-08-01-a686_dataprotection_fr.xml", 77)]
    {
        let Some(path) = file(test, &format!("code_civil_lu/{name}")) else { return };
        let act = Corpus::read("loi", "fr", &path).unwrap();
        assert_eq!(count(&act, Kind::Article), articles, "{name}");
        assert_eq!(bare(act.text()), akoma_text(&std::fs::read_to_string(&path).unwrap()), "{name}");
        assert_accounted(&act);
    }
}

#[test]
fn the_articles_of_the_gdpr_as_json_are_ninety_nine() {
    let Some(path) = file("the_articles_of_the_gdpr_as_json_are_ninety_nine", "gdpr/gdpr_articles_2016-05-04_en.json")
    else {
        return;
    };
    let act = Corpus::read("gdpr", "en", path).unwrap();
    assert_eq!(count(&act, Kind::Article), 99);
    assert_accounted(&act);
}

#[test]
fn other_encodings_of_the_act_give_the_same_text() {
    let Some(path) = file("other_encodings_of_the_act_give_the_same_text", "gdpr/gdpr_32016R0679_oj_fr.xhtml") else {
        return;
    };
    let text = std::fs::read_to_string(&path).unwrap();
    let act = Corpus::read("gdpr", "fr", &path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("act.xhtml");
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let windows = text.replace('\n', "\r\n").into_bytes();
    for bytes in [wide, [b"\xef\xbb\xbf", text.as_bytes()].concat(), windows] {
        std::fs::write(&other, bytes).unwrap();
        assert_eq!(Corpus::read("gdpr", "fr", &other).unwrap().text(), act.text());
    }
}

#[test]
fn units_of_the_gdpr_are_as_long_as_the_paper_says_and_chunks_find_their_passages() {
    let test = "units_of_the_gdpr_are_as_long_as_the_paper_says_and_chunks_find_their_passages";
    let Some(path) = file(test, "gdpr/gdpr_32016R0679_oj_en.xhtml") else { return };
    let act = Corpus::read("gdpr", "en", path).unwrap();
    let units = Chunking::context_units(1300, 200).unwrap().cut(std::slice::from_ref(&act)).unwrap();
    let sizes: Vec<i64> = integers(units.frame(), "n_tokens").unwrap().into_iter().flatten().collect();
    let (last, whole) = sizes.split_last().unwrap();
    assert!(whole.iter().all(|size| (1100..=1500).contains(size)) && *last <= 1500, "{sizes:?}");
    // The questions of this project name their articles; the passages are found again, in whichever chunking.
    let benchmark = Benchmark::gdpr_questions(&act).unwrap();
    for chunking in [Chunking::articles(), Chunking::tokens(300, 60).unwrap(), Chunking::sentences(300, 0.2).unwrap()] {
        let chunks = benchmark.chunks(&chunking).unwrap();
        let found: Relevance = benchmark.relevance(&chunks).unwrap();
        let quality = floats(found.passages(), "quality").unwrap();
        assert!(quality.iter().all(|quality| quality.unwrap() > 0.99), "{quality:?}");
        let relevant = texts(found.chunks(), "question_id").unwrap();
        assert_eq!(relevant.into_iter().collect::<std::collections::HashSet<_>>().len(), 16);
    }
}

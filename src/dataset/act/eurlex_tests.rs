//! Shapes of acts, written for these tests.

use super::*;

fn parts(html: &str) -> (String, Vec<(String, Kind, String)>) {
    let parsed = parse(html).unwrap();
    let told = parsed.parts.iter().map(|part| {
        (part.id.clone(), part.kind, parsed.text.get(part.bytes.0..part.bytes.1).unwrap_or_default().to_owned())
    });
    (parsed.text.clone(), told.collect())
}

#[test]
fn points_are_rows_and_paragraphs_have_numbers() {
    let (text, parts) = parts(
        r#"<?xml version="1.0"?><html><head><title>L_1.xml</title></head><body><div id="cpt_I"><p class="oj-ti-section-1">CHAPTER I</p>
        <div class="eli-title"><p class="oj-ti-section-2">General</p></div>
        <div id="art_2"><p class="oj-ti-art">Article 2</p><div class="eli-title"><p class="oj-sti-art">Scope</p></div>
        <div id="002.001"><p class="oj-normal">1.   It does not apply
        <a id="x"/> to <i>data</i>:</p><table><tbody><tr><td><p>(a)</p></td><td><p>kept at home;</p>
        <table><tbody><tr><td><p>(i)</p></td><td><p>on paper;</p></td></tr></tbody></table></td></tr>
        <tr><td><p>(b)</p></td><td><p>of the dead.</p></td></tr></tbody></table></div></div></div></body></html>"#,
    );
    assert_eq!(
        text,
        "CHAPTER I\nGeneral\nArticle 2\nScope\n1. It does not apply to data:\n(a) kept at home;\n(i) on paper;\n(b) of the dead."
    );
    let ids: Vec<&str> = parts.iter().map(|part| &*part.0).collect();
    assert_eq!(ids, ["cpt_I", "art_2", "art_2.1", "art_2.1.a", "art_2.1.a.i", "art_2.1.b"]);
    assert_eq!(parts[3].2, "(a) kept at home;\n(i) on paper;");
    let parsed = parse("<div id='art_1'><p class='oj-ti-art'>Article 1</p><p>x</p></div>").unwrap();
    assert_eq!(parsed.parts[0].breadcrumb(), "Article 1");
}

#[test]
fn a_consolidated_act_has_the_same_parts() {
    let (text, parts) = parts(
        r#"<body><div id="art_5"><p class="title-article-norm">Article 5</p>
        <div class="norm"><span class="no-parag">1.  </span><div class="norm inline-element">Data shall be:</div>
        <div class="grid-container grid-list"><div class="list grid-list-column-1"><span>(a) </span></div>
        <div class="grid-list-column-2"><p class="norm">lawful;</p></div></div></div>
        <div class="norm"><span class="no-parag">2.  </span><div class="norm inline-element">The controller shall.</div></div>
        </div><p class="footnote">(1) OJ L 1.</p></body>"#,
    );
    assert_eq!(text, "Article 5\n1. Data shall be:\n(a) lawful;\n2. The controller shall.\n(1) OJ L 1.");
    let ids: Vec<&str> = parts.iter().map(|part| &*part.0).collect();
    assert_eq!(ids, ["art_5", "art_5.1", "art_5.1.a", "art_5.2", "note_1"]);
    assert_eq!(parts[1].2, "1. Data shall be:\n(a) lawful;");
}

#[test]
fn an_older_page_without_identifiers_is_read_by_its_headings() {
    let (_, parts) = parts(
        r#"<html><body><p class="doc-ti">DIRECTIVE</p><p class="normal">Whereas:</p>
        <table><tr><td><p class="normal">(1)</p></td><td><p class="normal">It is so.</p></td></tr></table>
        <p class="ti-section-1">CHAPTER I</p><p class="ti-section-2">Scope</p><p class="ti-art">Article 1</p>
        <p class="sti-art">Aim</p><p class="normal">One.</p><p class="ti-art">Article 2</p><p class="normal">Two.</p>
        <p class="ti-section-1">CHAPTER II</p><p class="ti-art">Article 3</p><p class="normal">Three.</p></body></html>"#,
    );
    let told: Vec<(&str, &str)> = parts.iter().map(|part| (&*part.0, &*part.2)).collect();
    assert_eq!(told[0], ("rct_1", "(1) It is so."));
    assert_eq!(told[2], ("art_1", "Article 1\nAim\nOne."));
    assert_eq!(told[3], ("art_2", "Article 2\nTwo."));
    assert_eq!(told[5], ("art_3", "Article 3\nThree."));
    assert_eq!(told[4], ("chapter_ii", "CHAPTER II\nArticle 3\nThree."));
}

#[test]
fn what_is_unclosed_entities_and_scripts_are_read_as_a_browser_reads_them() {
    let (text, _) = parts(
        "<title>x</title><style>p{}</style><div id=art_1><p class=oj-ti-art>Article 1<p>caf&eacute; &amp; th&#233; &nosuch; \
         <script>if (a<b) {}</script>a<br>b<p>c<ul><li>d<li>e</ul></div></p></em><p>after",
    );
    assert_eq!(text, "Article 1\ncafé & thé &nosuch; a b\nc\nd\ne\nafter");
}

#[test]
fn a_page_of_nesting_is_read_in_little_memory() {
    let bomb = format!("<div id=art_1><p>a</p>{}b{}<p>c</p></div>", "<div>".repeat(300_000), "</div>".repeat(300_000));
    let parsed = parse(&bomb).unwrap();
    assert_eq!(parsed.text, "Article 1".replace("Article 1", "a\nb\nc"));
    assert!(parse(&"<table><tr><td>".repeat(100_000)).is_err());
}

#[test]
fn an_error_page_is_told_from_an_act() {
    let page = "<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>";
    let error = parse(page).unwrap_err().to_string();
    assert!(error.contains("error page") && error.contains("404 Not Found") && error.contains("help:"), "{error}");
    let other = parse("<p>nothing</p>").unwrap_err().to_string();
    assert!(other.contains("art_1") && !other.contains("error page"), "{other}");
}

#[test]
fn enumerators_are_short_and_marked() {
    for (text, number) in [("(a)", Some("a")), ("1.", Some("1")), ("iv)", Some("iv")), ("—", Some("-")), ("a", None)]
    {
        assert_eq!(number_of(text).as_deref(), number, "{text}");
    }
    assert_eq!(number_of("Done at Brussels."), None);
}

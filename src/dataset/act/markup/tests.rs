//! The fast path beside html5ever alone.

use proptest::prelude::*;

use super::*;

/// All that readers may see, adjacent text joined.
#[derive(Debug, Default, PartialEq)]
struct Seen(Vec<Event>);

#[derive(Debug, PartialEq)]
enum Event {
    Open(String, Vec<Option<String>>, bool),
    Close(String),
    Text(String),
}

impl Reader for Seen {
    fn open(&mut self, tag: &Tag, is_empty: bool) {
        let values = ["a", "b", "id", "x:y"].map(|name| tag.attribute(name).map(str::to_owned));
        self.0.push(Event::Open(tag.name.to_string(), values.into(), is_empty));
    }

    fn close(&mut self, name: &LocalName) {
        self.0.push(Event::Close(name.to_string()));
    }

    fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Event::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.0.push(Event::Text(text.to_owned())),
        }
    }
}

/// What html5ever's tokenizer alone finds in a whole text.
fn alone(text: &str, is_xml: bool) -> Seen {
    let tokenizer = Tokenizer::new(Sink::new(Seen::default(), is_xml), TokenizerOpts::default());
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from_slice(text));
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.reader.into_inner()
}

/// What is found in pieces of some lengths in characters, over and over.
fn in_pieces(text: &str, lengths: &[usize], is_xml: bool) -> Seen {
    let mut feed = Feed::new(Seen::default(), is_xml);
    let mut rest = text;
    for length in lengths.iter().cycle() {
        let end = rest.char_indices().nth(*length).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        feed.push(piece);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    feed.finish()
}

/// Pieces of markup, good and bad; NUL, ends of lines and the byte order mark as pictures.
const FRAGMENTS: &str = r#"<p>¦</p>¦<p¦<a b="c">¦<a b='c' id="d>e">¦<a b=c>¦<a B="1" b="2" x:y=''>¦<a b="c"id='d'>¦<a b>¦<a b = "c">¦<aB="c">
<a b="&amp;&lt">¦<a␍␊b="c␍␊d">¦<a␊b="c␊d">¦<a b="␀">¦<a b="¦<a b='>¦<a/>¦<a b='c'/>¦<a / b="c">¦<br>¦<br/>¦<BR>¦</A >¦</a b="c">
</a/>¦</>¦<>¦< a>¦</ a>¦</a␍>¦<a␍>¦<a b=␍>¦<a␀b>¦<é>¦<aé>¦<x:y x:y="é">¦</x:y>¦<script>¦</script>¦<script/>¦</script >
<script a="b">¦<SCRIPT>¦<style>¦</style>¦<title>¦</title>¦<textarea>¦</textarea>¦<xmp>¦</xmp>¦<noframes>¦</noframes>¦<plaintext>
<!--¦-->¦<!-->¦<!--->¦--!>¦<!-- a > b -->¦<!--<!-- -->¦<![CDATA[¦]]>¦<![CDATA[ a > <b> ]]>¦<!DOCTYPE html>¦<!doctype>
<!doctype a public "x>y" 'z'>¦<!doctype¦<!x>¦<?xml version="1.0"?>¦<?¦?>¦&amp;¦&amp¦&AMP;¦&am¦&¦&;¦&nbsp;¦&notin;¦&notit;¦&not
&nosuch;¦&fj¦&fjlig;¦&NotEqualTilde;¦&CounterClockwiseContourIntegral;¦&#160;¦&#xA0;¦&#Xe9;¦&#128;¦&#0;¦&#13;¦&#10;¦&#xD800;
&#xFFFF;¦&#x110000;¦&#99999999999;¦&#+65;¦&#x+65;¦&#;¦&#x;¦&#160¦&#x¦&#¦;¦#¦x¦a¦text ¦é’漢¦␇¦␍¦␊¦␍␊¦␀¦ ¦>¦<¦/¦=¦"¦'¦-¦!¦]
[¦?¦1¦amp;¦script¦</¦<!¦<!-¦<![CD"#;

/// Markup, good and bad, as it may follow on itself.
fn markup() -> impl Strategy<Value = String> {
    let plain =
        |fragment: &str| fragment.replace('␀', "\0").replace('␊', "\n").replace('␍', "\r").replace('␇', "\u{feff}");
    let fragments: Vec<String> = FRAGMENTS.split(['¦', '\n']).map(plain).collect();
    let fragment = prop_oneof![
        12 => prop::sample::select(fragments),
        1 => "[<>/&;#!a-c=\"' \r\n-]{1,6}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(fragment, 0..16).prop_map(|fragments| fragments.concat())
}

proptest! {
    #[test]
    fn the_fast_path_reads_what_html5ever_reads(
        text in markup(),
        lengths in prop::collection::vec(1_usize..24, 1..6),
        is_xml: bool,
    ) {
        let expected = alone(&text, is_xml);
        prop_assert_eq!(&in_pieces(&text, &[usize::MAX], is_xml), &expected);
        prop_assert_eq!(&in_pieces(&text, &lengths, is_xml), &expected);
    }
}

#[test]
fn what_is_odd_is_left_to_html5ever_and_no_more() {
    let reads = |text: &'static str| plain::read(text, &mut Seen::default(), false);
    for odd in ["<!-- a > b -->c", "<a b=\"&amp;\">c", "<script>a<b", "<A>c", "<a b=c>d", "&#128;c", "&amp", "<a b=\"c"]
    {
        assert_eq!(reads(odd), odd);
    }
    assert_eq!(reads("a\r\n\0<p id=\"é\" b='>'>&amp;&#xA0;&eacute;</p ><br/>"), "");
    let mut feed = Feed::new(Seen::default(), false);
    for (piece, is_in_data) in [
        ("<!-- a > b --", false),
        (">", true),
        ("<script>a > b", false),
        ("</script><p", false),
        (" a='>'", false),
        (">&am", false),
        ("p; <b>", true),
    ] {
        feed.push(piece);
        assert_eq!(feed.is_in_data, is_in_data, "{piece}");
    }
}

#[test]
fn a_byte_order_mark_is_discarded_at_the_beginning_only() {
    let text = "\u{feff}a\u{feff}b";
    assert_eq!(in_pieces(text, &[1], false).0, [Event::Text("a\u{feff}b".to_owned())]);
}

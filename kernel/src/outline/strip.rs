//! One source file without the bodies of its functions and without comments.

use ra_ap_syntax::{Edition, NodeOrToken, SourceFile, SyntaxKind, SyntaxNode, WalkEvent};

/// The file's items. Bodies of `const fn` stay: lengths of arrays may need them. With `keep_docs`, so do doc comments,
/// which inspecting a name shows.
pub fn strip(text: &str, keep_docs: bool) -> String {
    let root = SourceFile::parse(text, Edition::Edition2024).syntax_node();
    let mut outline = String::with_capacity(text.len() / 2);
    let mut walk = root.preorder_with_tokens();
    while let Some(event) = walk.next() {
        let WalkEvent::Enter(element) = event else { continue };
        match element {
            NodeOrToken::Node(node) if is_body(&node) => {
                outline.push_str("{}");
                walk.skip_subtree();
            }
            NodeOrToken::Node(_) => {}
            NodeOrToken::Token(token) if token.kind() == SyntaxKind::COMMENT => {
                if keep_docs && is_doc(token.text()) {
                    outline.push_str(token.text());
                }
            }
            NodeOrToken::Token(token) if token.kind() == SyntaxKind::WHITESPACE => {
                outline.push(if token.text().contains('\n') { '\n' } else { ' ' });
            }
            NodeOrToken::Token(token) => outline.push_str(token.text()),
        }
    }
    outline
}

fn is_doc(comment: &str) -> bool {
    ["///", "//!", "/**", "/*!"].iter().any(|mark| comment.starts_with(mark))
}

fn is_body(node: &SyntaxNode) -> bool {
    node.kind() == SyntaxKind::BLOCK_EXPR
        && node.parent().is_some_and(|parent| {
            parent.kind() == SyntaxKind::FN
                && !parent.children_with_tokens().any(|child| child.kind() == SyntaxKind::CONST_KW)
        })
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn signatures_macros_and_constants_stay_and_bodies_go() {
        let text = "//! Why.\n/// Says.\npub fn f(x: u8) -> u8 {\n    // inner\n    x + 1\n}\nconst fn n() -> usize { 3 }\n\
                    trait T { fn g(&self) { f(1); } fn h(); }\nmacro_rules! m { ($x:ty) => { impl $x { fn k() { 1 } } } }\n";
        let outline = strip(text, true);
        assert!(outline.contains("/// Says.") && outline.contains("pub fn f(x: u8) -> u8 {}"), "{outline}");
        assert!(outline.contains("{ 3 }") && outline.contains("fn g(&self) {} fn h();"), "{outline}");
        assert!(outline.contains("fn k() { 1 }") && !outline.contains("inner"), "{outline}");
        assert!(!strip(text, false).contains("Says"));
    }

    #[test]
    fn broken_text_does_not_stop_it() {
        for text in ["fn f( {", "impl {", "", "\u{0}", "fn f() { \"unclosed }"] {
            let _ = strip(text, false);
        }
    }
}

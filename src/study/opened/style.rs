//! How the pages look. Every rule is tied to the class `claimlab`, so that nothing else in a notebook changes, and the
//! same rules serve every page, so that several pages in one notebook agree.

/// Rules for all pages. Colours are those of the figures, light enough to read on.
pub(super) const STYLE: &str = "
.claimlab{max-width:78em;background:#fff;color:#222;font:14px/1.5 system-ui,sans-serif;padding:8px 12px;border:1px solid #ddd;border-radius:6px;display:flex;flex-direction:column}
.claimlab *{box-sizing:border-box}
.claimlab .text{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
.claimlab .id{font:12px ui-monospace,monospace;color:#666;overflow-wrap:anywhere}
.claimlab h4{font-size:13px;margin:10px 0 3px;color:#444;font-weight:600}
.claimlab .question{font-size:17px;margin:4px 0}
.claimlab .tag{display:inline-block;font-size:12px;border:1px solid #ccc;border-radius:9px;padding:0 7px;margin-right:4px;color:#444;background:#fafafa}
.claimlab .sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(26em,1fr));gap:0 22px}
.claimlab .side{min-width:0}
.claimlab .side>h3{font-size:15px;margin:10px 0 2px;border-bottom:2px solid #444}
.claimlab .score{display:inline-block;font-size:12px;margin-right:9px;color:#555;white-space:nowrap}
.claimlab .score b{color:#222}
.claimlab .mark{border-radius:3px;padding:0 1px}
.claimlab .correct{background:#cfe4f3}
.claimlab .own{background:#e3f3fc;border-bottom:2px dotted #2b83ba}
.claimlab .noise-relevant{background:#fbe3b5}
.claimlab .noise-irrelevant{background:#f8f1ae}
.claimlab .invented{background:#f9cdb5}
.claimlab .unknown{background:#e6e6e6}
.claimlab .chip{position:relative;display:inline-block;font-size:11px;font-weight:600;line-height:15px;border:1px solid #777;border-radius:8px;padding:0 5px;margin:0 2px;cursor:help;color:#222;vertical-align:1px}
.claimlab .chip.against{border:2px solid #b32d00}
.claimlab .tip{display:none;position:absolute;left:-2em;top:17px;z-index:9;width:27em;max-width:70vw;background:#fff;border:1px solid #777;border-radius:5px;box-shadow:0 3px 12px #0004;padding:7px 9px;font-weight:400;line-height:1.4;text-align:left;white-space:normal;cursor:auto}
.claimlab .side:nth-child(even) .tip{left:auto;right:-2em}
.claimlab .chip:hover>.tip,.claimlab .chip:focus>.tip{display:block}
.claimlab .tip i{color:#666}
.claimlab ol,.claimlab ul{margin:2px 0;padding-left:0;list-style:none}
.claimlab li{margin:3px 0;padding-left:2.5em;text-indent:-2.5em}
.claimlab li>*{text-indent:0}
.claimlab .kind{font-size:12px;border-radius:3px;padding:0 5px;margin-left:5px;white-space:nowrap;display:inline-block}
.claimlab .yes{background:#cfe4f3}.claimlab .no{background:#f9cdb5}.claimlab .none{background:#eee}
.claimlab details.chunk{margin:3px 0;border-left:3px solid #ddd;padding-left:8px}
.claimlab details.relevant{border-left-color:#0072b2}
.claimlab summary{cursor:pointer}
.claimlab .note{font-size:12px;color:#666}
.claimlab .bar{margin:3px 0;font-size:13px;display:flex;flex-wrap:wrap;gap:1px 11px;align-items:baseline}
.claimlab .bar>b{min-width:6.5em}
.claimlab .bar input{margin:0 3px 0 0;vertical-align:-1px}
.claimlab .list{display:flex;flex-direction:column;counter-reset:shown}
.claimlab .case{border-top:1px solid #ddd;padding:5px 0;counter-increment:shown}
.claimlab .case>summary .worth{display:none;min-width:11em;color:#444;font-size:12px}
.claimlab .count{order:-1;font-size:12px;color:#666}
.claimlab .count::before{content:counter(shown)}
.claimlab .head{order:-2}
";

/// The rule that hides what a checked filter excludes: inputs carry `i-NAME`, questions that pass carry `NAME`.
pub(super) fn filter(name: &str) -> String {
    format!(".claimlab:has(.i-{name}:checked) .case:not(.{name}){{display:none}}\n")
}

/// The rules that order questions by a metric and show its values.
pub(super) fn order(name: &str) -> String {
    format!(
        ".claimlab:has(.i-{name}:checked) .case{{order:var(--{name})}}\n\
         .claimlab:has(.i-{name}:checked) .case>summary .worth.{name}{{display:inline-block}}\n"
    )
}

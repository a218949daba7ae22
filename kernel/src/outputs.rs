//! Events as outputs of a notebook, and the media types in between.

use claimlab_protocol::{Bundle, Event};
use jupyter_protocol::{ExecutionCount, Media};
use nbformat::v4::{DisplayData, ErrorOutput, ExecuteResult, MultilineString, Output};
use serde_json::{Map, Value};

use crate::outcome::CellError;

/// A bundle as the protocol's media. What is not valid for its type is left out; plain text always stands.
pub fn media(bundle: &Bundle) -> Media {
    let mut found = Media::default();
    for (kind, text) in bundle {
        let value = if kind.ends_with("json") { serde_json::from_str(text).ok() } else { Some(text.clone().into()) };
        let Some(value) = value else { continue };
        let one = Map::from_iter([(kind.clone(), value)]);
        if let Ok(one) = serde_json::from_value::<Media>(Value::Object(one)) {
            found.content.extend(one.content);
        }
    }
    found
}

/// Collects a cell's events as notebook outputs, with adjacent text of one stream joined.
#[derive(Debug, Default)]
pub struct Collector {
    outputs: Vec<(Option<String>, Output)>,
    /// Everything before the next output goes when it comes.
    clearing: bool,
}

impl Collector {
    /// Adds one event.
    pub fn add(&mut self, event: Event, count: usize) {
        if self.clearing && matches!(event, Event::Stream { .. } | Event::Display { .. } | Event::Result { .. }) {
            self.outputs.clear();
            self.clearing = false;
        }
        match event {
            Event::Stream { stderr, text } => self.stream(if stderr { "stderr" } else { "stdout" }, text),
            Event::Display { data, id } => {
                let data = DisplayData { data: media(&data), metadata: Map::new() };
                self.outputs.push((id, Output::DisplayData(data)));
            }
            Event::Update { data, id } => {
                let display = DisplayData { data: media(&data), metadata: Map::new() };
                for (known, output) in &mut self.outputs {
                    if known.as_deref() == Some(id.as_str()) {
                        *output = Output::DisplayData(display.clone());
                    }
                }
            }
            Event::Clear => self.clearing = true,
            Event::Result { data } => {
                let result = ExecuteResult {
                    execution_count: ExecutionCount::new(count),
                    data: media(&data),
                    metadata: Map::new(),
                };
                self.outputs.push((None, Output::ExecuteResult(result)));
            }
            _ => {}
        }
    }

    /// Adds how the cell failed.
    pub fn error(&mut self, error: &CellError) {
        let CellError { ename, evalue, traceback } = error.clone();
        self.outputs.push((None, Output::Error(ErrorOutput { ename, evalue, traceback })));
    }

    /// The outputs in order.
    pub fn finish(self) -> Vec<Output> {
        self.outputs.into_iter().map(|(_, output)| output).collect()
    }

    fn stream(&mut self, name: &str, text: String) {
        if let Some((_, Output::Stream { name: last, text: before })) = self.outputs.last_mut()
            && last == name
        {
            before.0.push_str(&text);
            return;
        }
        self.outputs.push((None, Output::Stream { name: name.to_owned(), text: MultilineString(text) }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn display(text: &str, id: Option<&str>) -> Event {
        let data = Bundle::from([("text/plain".to_owned(), text.to_owned())]);
        Event::Display { data, id: id.map(str::to_owned) }
    }

    #[test]
    fn several_displays_stay_several_and_updates_replace() {
        let mut collector = Collector::default();
        collector.add(display("one", Some("a")), 1);
        collector.add(display("two", None), 1);
        let data = Bundle::from([("text/plain".to_owned(), "one, later".to_owned())]);
        collector.add(Event::Update { data, id: "a".to_owned() }, 1);
        let outputs = collector.finish();
        assert_eq!(outputs.len(), 2);
        let text = serde_json::to_string(&outputs[0]).unwrap_or_default();
        assert!(text.contains("one, later"), "{text}");
    }

    #[test]
    fn adjacent_text_of_a_stream_is_joined() {
        let mut collector = Collector::default();
        for text in ["a", "b\n"] {
            collector.add(Event::Stream { stderr: false, text: text.to_owned() }, 1);
        }
        assert_eq!(collector.finish().len(), 1);
    }

    #[test]
    fn text_that_is_not_json_is_left_out_of_a_json_bundle() {
        let bundle = Bundle::from([
            ("application/json".to_owned(), "{oops".to_owned()),
            ("text/plain".to_owned(), "plain".to_owned()),
        ]);
        assert_eq!(media(&bundle).content.len(), 1);
    }
}

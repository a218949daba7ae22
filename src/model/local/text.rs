//! Between conversations and tokens: tokenizers and chat templates.

use std::path::Path;

use candle_core::quantized::gguf_file::{Content, Value as Gguf};
use candle_core::quantized::tokenizer::TokenizerFromGguf;
use minijinja::{Environment, ErrorKind as JinjaKind, Value as Jinja, context};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::{PreTokenizerWrapper, Tokenizer};

use crate::error::{Error, ErrorKind, Result};
use crate::model::{Message, Role};

/// What templates that print today's date get instead: a prompt must be the same tomorrow.
const DATE: &str = "26 Jul 2024";

/// A model's tokenizer, and the template that turns a conversation into text.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) tokenizer: Tokenizer,
    template: Option<String>,
    begin: String,
    end: String,
    /// Identifies tokenizer and template in a call's key.
    pub(super) sum: String,
}

impl Text {
    /// From `tokenizer.json`, `tokenizer_config.json` and `chat_template.jinja` of a folder.
    pub(super) fn from_folder(folder: &Path) -> Result<Self> {
        Self::from_file(&folder.join("tokenizer.json"))
    }

    /// From a tokenizer's file, and the other two beside it.
    pub(super) fn from_file(path: &Path) -> Result<Self> {
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        let bytes = std::fs::read(path).map_err(|error| {
            Error::file(path, &error).help("a model needs its tokenizer.json; slow tokenizers (.model) are not read")
        })?;
        let tokenizer = Tokenizer::from_bytes(&bytes)
            .map_err(|error| Error::input(format!("{}: not a tokenizer: {error}", path.display())))?;
        let settings = super::json(&folder.join("tokenizer_config.json"))?.unwrap_or(Value::Null);
        let file = folder.join("chat_template.jinja");
        let template = match std::fs::read_to_string(&file) {
            Ok(text) => Some(text),
            Err(_) => named_template(&settings),
        };
        Ok(Self::new(tokenizer, &bytes, template, special(&settings, "bos_token"), special(&settings, "eos_token")))
    }

    /// From the header of a GGUF file. Only tokenizers that are known to come out right: a wrong split of words changes
    /// every result and no error would say so.
    pub(super) fn from_gguf(content: &Content) -> Result<Self> {
        let text = |name: &str| match content.metadata.get(name) {
            Some(Gguf::String(text)) => Some(text.clone()),
            _ => None,
        };
        let model = text("tokenizer.ggml.model").unwrap_or_default();
        let pre = text("tokenizer.ggml.pre").unwrap_or_default();
        if model != "gpt2" || !["smollm", "gpt-2", "gpt2", "qwen2"].contains(&pre.as_str()) {
            return Err(Error::input(format!("the GGUF file's tokenizer ({model:?}, {pre:?}) is not rebuilt"))
                .help("put the base model's tokenizer.json and tokenizer_config.json beside the GGUF file"));
        }
        let mut tokenizer = Tokenizer::from_gguf(content)
            .map_err(|error| Error::input(format!("the GGUF file's tokenizer: {error}")))?;
        if pre == "smollm" {
            // Single digits first, then GPT-2's split.
            let parts: Vec<PreTokenizerWrapper> =
                vec![Digits::new(true).into(), ByteLevel::new(false, true, true).into()];
            tokenizer.with_pre_tokenizer(Some(Sequence::new(parts)));
        }
        let named = |name: &str| {
            let id = content.metadata.get(name).and_then(super::config::gguf_number)?;
            tokenizer.id_to_token(id as u32)
        };
        let (begin, end) = (named("tokenizer.ggml.bos_token_id"), named("tokenizer.ggml.eos_token_id"));
        let bytes = tokenizer.to_string(false).unwrap_or_default();
        Ok(Self::new(
            tokenizer,
            bytes.as_bytes(),
            text("tokenizer.chat_template"),
            begin.unwrap_or_default(),
            end.unwrap_or_default(),
        ))
    }

    fn new(mut tokenizer: Tokenizer, bytes: &[u8], template: Option<String>, begin: String, end: String) -> Self {
        // Cutting and padding are this library's business, not the file's.
        let _ = tokenizer.with_truncation(None);
        tokenizer.with_padding(None);
        let mut digest = Sha256::new();
        digest.update(bytes);
        digest.update(template.as_deref().unwrap_or_default());
        let sum = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self { tokenizer, template, begin, end, sum }
    }

    /// Tokens of plain text; `special` adds what the tokenizer puts around a text.
    pub(super) fn encode(&self, text: &str, special: bool) -> Result<Vec<u32>> {
        let encoded = self.tokenizer.encode_fast(text, special);
        encoded
            .map(|encoding| encoding.get_ids().to_vec())
            .map_err(|error| Error::input(format!("tokenizing: {error}")))
    }

    /// Text of tokens, without special ones.
    pub(super) fn decode(&self, ids: &[u32]) -> Result<String> {
        self.tokenizer.decode(ids, true).map_err(|error| Error::input(format!("turning tokens into text: {error}")))
    }

    /// Whether the files say how a conversation becomes text.
    #[cfg(feature = "remote")]
    pub(super) fn has_template(&self) -> bool {
        self.template.is_some()
    }

    /// The id of the token that ends a text, if the files name one.
    pub(super) fn end_id(&self) -> Option<u32> {
        self.tokenizer.token_to_id(&self.end)
    }

    /// A conversation as tokens, ready for the model's turn.
    pub(super) fn conversation(&self, messages: &[Message]) -> Result<Vec<u32>> {
        let rendered = match self.render(messages) {
            Err(_) if messages.first().is_some_and(|first| first.role == Role::System) => {
                // Some templates know no system role; the instructions then open the user's message.
                self.render(&folded(messages))?
            }
            other => other?,
        };
        self.encode(&rendered, false)
    }

    fn render(&self, messages: &[Message]) -> Result<String> {
        let Some(template) = &self.template else {
            return Err(Error::input("the model has no chat template")
                .help("use an instruct model, or put a chat_template.jinja beside it"));
        };
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |told: String| -> std::result::Result<Jinja, minijinja::Error> {
            Err(minijinja::Error::new(JinjaKind::InvalidOperation, told))
        });
        environment.add_function("strftime_now", |_: String| DATE);
        let rendered = environment.render_str(
            template,
            context! {
                messages => messages,
                add_generation_prompt => true,
                bos_token => self.begin,
                eos_token => self.end,
                date_string => DATE,
            },
        );
        rendered.map_err(|error| Error::new(ErrorKind::Input, format!("the model's chat template: {error:#}")))
    }
}

fn folded(messages: &[Message]) -> Vec<Message> {
    let mut rest = messages.iter();
    let instructions = rest.next().map(|message| message.content.as_str()).unwrap_or_default();
    let mut folded: Vec<Message> = rest.cloned().collect();
    if let Some(first) = folded.first_mut() {
        first.content = format!("{instructions}\n\n{}", first.content);
    }
    folded
}

/// `chat_template` is a text, or a list of named ones of which `default` is meant.
fn named_template(settings: &Value) -> Option<String> {
    match settings.get("chat_template")? {
        Value::String(text) => Some(text.clone()),
        Value::Array(several) => several
            .iter()
            .find(|one| one.get("name").and_then(Value::as_str) == Some("default"))
            .and_then(|one| one.get("template"))
            .and_then(Value::as_str)
            .map(str::to_owned),
        _ => None,
    }
}

fn special(settings: &Value, name: &str) -> String {
    let value = settings.get(name);
    let text =
        value.and_then(Value::as_str).or_else(|| value.and_then(|token| token.get("content")).and_then(Value::as_str));
    text.unwrap_or_default().to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;
    use tokenizers::models::wordlevel::WordLevel;
    use tokenizers::pre_tokenizers::whitespace::Whitespace;

    use super::*;

    /// A tokenizer of words `w0` … `w119`, for tiny checkpoints.
    pub(crate) fn words() -> Result<Text> {
        let vocabulary: Vec<(String, u32)> = (0..120).map(|id| (format!("w{id}"), id)).collect();
        let model = WordLevel::builder()
            .vocab(vocabulary.into_iter().collect())
            .unk_token("w0".into())
            .build()
            .map_err(|error| Error::input(error.to_string()))?;
        let mut tokenizer = Tokenizer::new(model);
        tokenizer.with_pre_tokenizer(Some(Whitespace {}));
        let template = "{% for message in messages %}{{ message.content }} {% endfor %}";
        Ok(Text::new(tokenizer, b"words", Some(template.into()), String::new(), String::new()))
    }

    fn message(role: Role, content: &str) -> Message {
        Message { role, content: content.into() }
    }

    fn with(template: &str) -> Text {
        let mut text = words().unwrap();
        text.template = Some(template.into());
        text.begin = "<s>".into();
        text
    }

    #[test]
    fn templates_are_rendered_as_transformers_does() -> Result<()> {
        // Blocks take their line break with them, methods of Python's strings work, and dates stand still.
        let text = with(
            "{{ bos_token }}{% for m in messages %}\n    {% if m['role'] == 'user' %}\n[{{ m['content'].strip() }}]\n{% endif %}\n{% endfor %}\n{{ strftime_now('%d') }}{% if add_generation_prompt %}>{% endif %}",
        );
        let rendered = text.render(&[message(Role::User, "  hi ")])?;
        assert_eq!(rendered, format!("<s>[hi]\n{DATE}>"));
        Ok(())
    }

    #[test]
    fn a_template_without_a_system_role_gets_the_instructions_in_the_users_message() -> Result<()> {
        let text = with(
            "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}{{ m.content }}{% endfor %}",
        );
        let ids = text.conversation(&[message(Role::System, "w1"), message(Role::User, "w2")])?;
        assert_eq!(ids, [1, 2]);
        let told = with("{{ raise_exception('never') }}").conversation(&[message(Role::User, "w2")]).unwrap_err();
        assert!(told.to_string().contains("never"), "{told}");
        Ok(())
    }

    #[test]
    fn the_default_of_several_templates_is_taken() {
        let several = json!({"chat_template": [{"name": "tool_use", "template": "a"}, {"name": "default", "template": "b"}],
            "bos_token": {"content": "<s>"}, "eos_token": "</s>"});
        assert_eq!(named_template(&several).as_deref(), Some("b"));
        assert_eq!((special(&several, "bos_token"), special(&several, "eos_token")), ("<s>".into(), "</s>".into()));
    }

    /// llama.cpp's tokens of the same texts.
    #[test]
    fn a_tokenizer_rebuilt_from_gguf_gives_llama_cpps_tokens() -> Result<()> {
        let folder = std::env::var_os("CLAIMLAB_PARTS").map(std::path::PathBuf::from).or_else(|| {
            std::env::var_os("HOME").map(|home| std::path::PathBuf::from(home).join(".cache/claimlab/parts"))
        });
        let file = folder.unwrap_or_default().join("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
        if !file.is_file() {
            let is_required = std::env::var("CLAIMLAB_REQUIRE").is_ok_and(|value| value == "all");
            assert!(!is_required, "{} is not there", file.display());
            println!("SKIPPED: {} is not there; run tests/fetch-parts", file.display());
            return Ok(());
        }
        let weights = super::super::weights::Weights::gguf(&file, &candle_core::Device::Cpu)?;
        let text = Text::from_gguf(weights.header().unwrap())?;
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/smollm2_llama_cpp.json");
        let golden: Value = serde_json::from_str(&std::fs::read_to_string(golden).unwrap()).unwrap();
        let ids =
            |value: &Value| value.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect::<Vec<_>>();
        for case in golden["tokens"].as_array().unwrap() {
            let words = case["text"].as_str().unwrap();
            assert_eq!(text.encode(words, false)?, ids(&case["ids"]), "{words:?}");
        }
        let asked = [message(Role::User, golden["conversation"].as_str().unwrap())];
        assert_eq!(text.conversation(&asked)?, ids(&golden["prompt_ids"]));
        Ok(())
    }
}

//! `docs/configuration.md` and `docs/schemas/config.json`: every key of hypocenter.toml, said by the types that read it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use serde_json::{Map, Value};

use crate::config::Config;

const HEAD: &str = "# Configuration\n\n\
    Every key of `hypocenter.toml`. This page is generated from the types that read the file; `hypocenter schema config` prints them as \
    a JSON schema for editors. `hypocenter init` writes a file with the usual keys. Paths are relative to the file. In every command, \
    and where stated, `{dir}` is a directory that is fresh in each trial. An unknown key is an error.\n";

/// Types that have a name and need no section of their own.
const PLAIN: [(&str, &str); 2] = [("Span", "time, as `500ms`, `90s`, `5m`"), ("CommandLine", "command")];

/// The schema, and what of it is still to be written.
struct Reference<'s> {
    definitions: &'s Map<String, Value>,
    open: Vec<(String, &'s Value)>,
    seen: BTreeSet<String>,
    text: String,
}

fn reference(schema: &Value) -> String {
    let definitions = schema["$defs"].as_object().expect("the configuration has parts");
    let mut it = Reference { definitions, open: Vec::new(), seen: BTreeSet::new(), text: HEAD.to_owned() };
    for (key, value) in schema["properties"].as_object().expect("the configuration has keys") {
        it.table(key, value);
    }
    let mut at = 0;
    while at < it.open.len() {
        let (name, value) = it.open[at].clone();
        it.value(&name, value);
        at += 1;
    }
    it.text
}

impl<'s> Reference<'s> {
    /// A table of the file, or several of one name, and those in it.
    fn table(&mut self, path: &str, value: &'s Value) {
        let (is_list, name) = match value["items"]["$ref"].as_str() {
            Some(name) => (true, name),
            None => (false, reference_of(value).unwrap_or_else(|| panic!("{path} is no table"))),
        };
        let definition = &self.definitions[name_of(name)];
        let heading = if is_list { format!("[[{path}]]") } else { format!("[{path}]") };
        let _ = write!(self.text, "\n## `{heading}`\n\n{}\n", said(definition));
        let inner: Vec<(&String, &Value)> =
            properties(definition).filter(|(_, value)| self.is_table(value)).collect();
        self.keys(definition, |key| inner.iter().any(|(name, _)| *name == key));
        for (key, value) in inner {
            self.table(&format!("{path}.{key}"), value);
        }
    }

    /// Tests whether a key is a list of tables.
    fn is_table(&self, value: &Value) -> bool {
        let name = value["items"]["$ref"].as_str().map(name_of);
        name.is_some_and(|it| self.definitions[it]["properties"].is_object())
    }

    /// A value that is written in one line.
    fn value(&mut self, name: &str, definition: &'s Value) {
        let _ = write!(self.text, "\n## {}\n\n{}\n", heading(name), said(definition));
        if definition["properties"].is_object() {
            self.keys(definition, |_| false);
            return;
        }
        self.text.push_str("\n| one of | what it means |\n|---|---|\n");
        for it in definition["oneOf"].as_array().into_iter().flatten() {
            let row = match it["const"].as_str() {
                Some(word) => format!("`\"{word}\"`"),
                None => {
                    let (key, value) = properties(it).next().expect("a form of the value has a key");
                    format!("`{{ {key} = ... }}`, {}", self.kind(value))
                }
            };
            let _ = writeln!(self.text, "| {row} | {} |", said(it));
        }
    }

    /// The keys of a table, those that must be there first.
    fn keys(&mut self, definition: &'s Value, is_left_out: impl Fn(&str) -> bool) {
        let needed: Vec<&str> =
            definition["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut keys: Vec<(&String, &Value)> =
            properties(definition).filter(|(key, _)| !is_left_out(key)).collect();
        keys.sort_by_key(|(key, _)| !needed.contains(&key.as_str()));
        if keys.is_empty() {
            return;
        }
        self.text.push_str("\n| key | value | what it means |\n|---|---|---|\n");
        for (key, value) in keys {
            let kind = self.kind(value);
            let must = if needed.contains(&key.as_str()) { " (needed)" } else { "" };
            let default = match &value["default"] {
                Value::Null => String::new(),
                Value::Array(it) if it.is_empty() => String::new(),
                Value::Object(it) if it.is_empty() => String::new(),
                it => format!(" By default `{it}`."),
            };
            let _ = writeln!(self.text, "| `{key}`{must} | {kind} | {}{default} |", said(value));
        }
    }

    /// Kind of a value in words. A part with a name gets a section.
    fn kind(&mut self, value: &'s Value) -> String {
        if let Some(name) = reference_of(value) {
            let name = name_of(name);
            if let Some((_, words)) = PLAIN.iter().find(|it| it.0 == name) {
                return (*words).to_owned();
            }
            let definition = &self.definitions[name];
            if let Some(all) = definition["anyOf"].as_array() {
                return all.iter().map(|it| self.kind(it)).collect::<Vec<_>>().join(" or ");
            }
            if self.seen.insert(heading(name).to_owned()) {
                self.open.push((name.to_owned(), definition));
            }
            return format!("[{}](#{})", heading(name).to_lowercase(), heading(name).to_lowercase());
        }
        let kind = match &value["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|it| *it != "null"),
            it => it.as_str(),
        };
        match kind.unwrap_or_else(|| panic!("{value} has no type")) {
            "string" => "text".to_owned(),
            "integer" | "number" => "number".to_owned(),
            "boolean" => "`true` or `false`".to_owned(),
            "array" => format!("list of {}", self.kind(&value["items"])),
            "object" => format!("table of {}", self.kind(&value["additionalProperties"])),
            other => panic!("no words for {other}"),
        }
    }
}

fn properties(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value["properties"].as_object().into_iter().flatten()
}

/// The part that a value is, where it has a name; it may also be absent.
fn reference_of(value: &Value) -> Option<&str> {
    let among = value["anyOf"].as_array().into_iter().flatten();
    among.chain([value]).find_map(|it| it["$ref"].as_str())
}

fn name_of(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

fn heading(name: &str) -> &str {
    name.strip_suffix("Form").unwrap_or(name)
}

/// Description in one line of a table.
fn said(value: &Value) -> String {
    let text = value["description"].as_str().unwrap_or_else(|| panic!("nothing is said of {value}"));
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Compares with the published files; `UPDATE_DOCS=1` writes them anew.
#[test]
fn the_published_reference_is_what_the_types_say() {
    let schema = serde_json::to_value(schemars::schema_for!(Config)).unwrap();
    let json = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    for (name, text) in [("configuration.md", reference(&schema)), ("schemas/config.json", json)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            published == text,
            "docs/{name} is not what the types say any more: UPDATE_DOCS=1 cargo test -p hypocenter config_reference"
        );
    }
}

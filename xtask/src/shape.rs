//! The shape of the code in figures: `cargo xtask shape [DIR]`. It reads sources as text, of this checkout or of another one, so that
//! two states can be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::{Verdict, root, table};

/// Count what shows whether the house is in order: lines a verb, names, sentences, formatters, files
#[derive(Debug, clap::Args)]
pub struct ShapeArgs {
    /// The checkout to look at; by default this one
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// List what was counted
    #[arg(long)]
    list: bool,
}

/// Crates a name may be defined in before it counts as one with several meanings.
const CRATES_MAX: usize = 2;
/// The shortest text that counts as a sentence, in words and in characters.
const SENTENCE_WORDS_MIN: usize = 4;
const SENTENCE_CHARS_MIN: usize = 24;

pub fn run(args: &ShapeArgs) -> Result<Verdict> {
    let directory = args.directory.clone().unwrap_or_else(|| root().to_owned());
    let tree = Tree::read(&directory)?;
    let mut rows: Vec<(String, usize, Vec<String>)> = Vec::new();
    for verb in ["reproduce", "explore"] {
        let files = tree.of_verb(verb);
        let lines = files.iter().map(|it| it.code().lines().count()).sum();
        let list = files.iter().map(|it| format!("{} {}", it.code().lines().count(), it.path)).collect();
        rows.push((format!("lines in cli for `{verb}`"), lines, list));
    }
    let clashes = tree.clashes();
    rows.push(("public type names in three crates or more".to_owned(), clashes.len(), clashes));
    let sentences = tree.sentences_in_both("cli", "report");
    rows.push(("sentences in both cli and report".to_owned(), sentences.len(), sentences));
    let formatters = tree.formatters();
    rows.push(("formatters of a fault".to_owned(), formatters.len(), formatters));
    let program = tree.directly_in("crates/program/src/");
    rows.push(("files directly in program/src".to_owned(), program.len(), program));
    let longest = tree.files.iter().map(|it| (it.text.lines().count(), it.path.clone())).max();
    let (lines, path) = longest.unwrap_or_default();
    rows.push(("lines of the longest file".to_owned(), lines, vec![path]));
    let (lines, name) = tree.files.iter().flat_map(Source::functions).max().unwrap_or_default();
    rows.push(("lines of the longest function".to_owned(), lines, vec![name]));
    let table: Vec<Vec<String>> =
        rows.iter().map(|(what, number, _)| vec![what.clone(), table::thousands(*number as u64)]).collect();
    print!("{}", table::text(&["what", "figure"], &table));
    if args.list {
        for (what, _, list) in &rows {
            println!("\n{what}:");
            list.iter().for_each(|it| println!("  {it}"));
        }
    }
    Ok(Verdict::Pass)
}

/// A source file.
struct Source {
    /// From the root of the checkout.
    path: String,
    text: String,
}

/// The sources of all crates, tests and benches left out.
struct Tree {
    files: Vec<Source>,
}

impl Tree {
    fn read(directory: &Path) -> Result<Tree> {
        let crates = directory.join("crates");
        let mut files = Vec::new();
        for entry in fs::read_dir(&crates).map_err(Failure::file(&crates))?.flatten() {
            read_into(&entry.path().join("src"), directory, &mut files)?;
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Tree { files })
    }

    fn of_verb(&self, verb: &str) -> Vec<&Source> {
        let base = "crates/cli/src";
        let own = [format!("{base}/commands/{verb}.rs"), format!("{base}/args/{verb}.rs")];
        let below = format!("{base}/commands/{verb}/");
        let is_own = |it: &&Source| own.contains(&it.path) || it.path.starts_with(&below);
        self.files.iter().filter(is_own).collect()
    }

    /// The names of public types that are defined in too many crates, each with these.
    fn clashes(&self) -> Vec<String> {
        let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for file in &self.files {
            for line in file.code().lines() {
                let Some(rest) = line.strip_prefix("pub ") else { continue };
                let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
                let Some(rest) = kinds.iter().find_map(|it| rest.strip_prefix(it)) else { continue };
                let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
                names.entry(&rest[..end]).or_default().insert(file.krate());
            }
        }
        let clashing = names.into_iter().filter(|(_, crates)| crates.len() > CRATES_MAX);
        clashing
            .map(|(name, crates)| format!("{name}: {}", crates.into_iter().collect::<Vec<_>>().join(", ")))
            .collect()
    }

    fn sentences_in_both(&self, one: &str, other: &str) -> Vec<String> {
        let of = |krate: &str| -> BTreeSet<String> {
            self.files.iter().filter(|it| it.krate() == krate).flat_map(Source::sentences).collect()
        };
        of(one).intersection(&of(other)).cloned().collect()
    }

    /// Functions outside of the types' own crate that make text of a fault.
    fn formatters(&self) -> Vec<String> {
        let mut found = Vec::new();
        for file in &self.files {
            for signature in file.signatures() {
                let takes = ["&Injected", "&Fault", "&explore::Injected"];
                let takes = takes
                    .iter()
                    .any(|it| signature.split(it).skip(1).any(|rest| rest.starts_with([',', ')', ' '])));
                let gives = signature.split("->").nth(1).unwrap_or("");
                let gives = ["String", "Sentence", "&'static str"].iter().any(|it| gives.trim().contains(it))
                    && !gives.contains("Vec<");
                if takes && gives {
                    let name = signature.split('(').next().unwrap_or(&signature).trim().to_owned();
                    found.push(format!("{}: {name}", file.path));
                }
            }
        }
        found
    }

    fn directly_in(&self, directory: &str) -> Vec<String> {
        let below = self.files.iter().filter_map(|it| it.path.strip_prefix(directory));
        below.filter(|it| !it.contains('/')).map(str::to_owned).collect()
    }
}

fn read_into(directory: &Path, root: &Path, files: &mut Vec<Source>) -> Result<()> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for path in entries.flatten().map(|it| it.path()) {
        if path.is_dir() {
            read_into(&path, root, files)?;
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
            let path = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            if !path.ends_with("tests.rs") {
                files.push(Source { path, text });
            }
        }
    }
    Ok(())
}

impl Source {
    /// Without its tests.
    fn code(&self) -> &str {
        self.text.split("#[cfg(test)]\nmod tests").next().unwrap_or(&self.text)
    }

    fn krate(&self) -> &str {
        self.path.split('/').nth(1).unwrap_or("")
    }

    /// The texts in quotes that a person would read as a sentence, with `{}` for what is filled in.
    fn sentences(&self) -> Vec<String> {
        let code: String = self
            .code()
            .lines()
            .filter(|it| !it.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n");
        let mut found = Vec::new();
        for text in code.split('"').skip(1).step_by(2) {
            let text = filled(&text.replace("\\\n", " "));
            let words = text.split_whitespace().filter(|it| it.chars().any(char::is_alphabetic)).count();
            if words >= SENTENCE_WORDS_MIN && text.len() >= SENTENCE_CHARS_MIN && !text.contains('<') {
                found.push(text);
            }
        }
        found
    }

    /// The signatures of its functions, each in one line.
    fn signatures(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (at, _) in self.code().match_indices("fn ") {
            let rest = &self.code()[at + 3..];
            let Some(end) = rest.find(['{', ';']) else { continue };
            found.push(rest[..end].split_whitespace().collect::<Vec<_>>().join(" "));
        }
        found
    }

    /// Number of lines and place of each function.
    fn functions(&self) -> Vec<(usize, String)> {
        let lines: Vec<&str> = self.code().lines().collect();
        let mut found = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let is_function = line.contains("fn ") && !line.trim_start().starts_with("//");
            if !is_function || line.trim_end().ends_with(';') {
                continue;
            }
            let is_end = |it: &&str| it.len() > indent && it.trim_end() == format!("{:indent$}}}", "");
            if let Some(length) = lines[at..].iter().position(is_end) {
                found.push((length + 1, format!("{}:{}", self.path, at + 1)));
            }
        }
        found
    }
}

/// A text with `{}` for all that is filled in.
fn filled(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        plain += before;
        plain += "{}";
        rest = behind.split_once('}').map_or("", |it| it.1);
    }
    plain += rest;
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn names_sentences_and_formatters_are_counted_where_they_are() {
        let types = "pub struct Found;\npub(crate) struct Own;\n    pub struct Inner;\n";
        let words = |name: &str| {
            format!(
                "fn {name}(it: &Injected, more: bool) -> String {{\n    format!(\"the failure of {{it}} happened again\")\n}}\n"
            )
        };
        let tree = Tree {
            files: vec![
                source("crates/cli/src/a.rs", &(types.to_owned() + &words("one"))),
                source("crates/report/src/b.rs", &(types.to_owned() + &words("two"))),
                source("crates/engine/src/c.rs", types),
                source(
                    "crates/engine/src/d.rs",
                    "#[cfg(test)]\nmod tests {\n    fn x(it: &Fault) -> String {}\n}\n",
                ),
            ],
        };
        assert_eq!(tree.clashes(), ["Found: cli, engine, report"]);
        assert_eq!(tree.sentences_in_both("cli", "report"), ["the failure of {} happened again"]);
        assert_eq!(tree.formatters(), ["crates/cli/src/a.rs: one", "crates/report/src/b.rs: two"]);
        assert_eq!(tree.directly_in("crates/engine/src/"), ["c.rs", "d.rs"]);
        assert_eq!(tree.files[0].functions(), [(3, "crates/cli/src/a.rs:4".to_owned())]);
    }
}

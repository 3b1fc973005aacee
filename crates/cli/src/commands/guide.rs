//! `hypocenter guide`: the guide, as far as it is text. Whoever has only the binary has it too.

use std::io::Write;

use clap::builder::PossibleValue;
use hypocenter_plan::ExitCode;

use crate::args::GuideArgs;
use crate::failure::Failure;

/// A page of `docs/`.
struct Page {
    name: &'static str,
    text: &'static str,
}

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(Page { name: $name, text: include_str!(concat!("../../../../docs/", $name, ".md")) }),*]
    };
}

/// The pages, in the order in which they are listed.
const PAGES: &[Page] = pages![
    "start",
    "clusters",
    "exploring",
    "cascading",
    "predicting",
    "explaining",
    "oracles",
    "reading-a-report",
    "limits",
    "configuration",
    "troubleshooting",
    "exit-codes",
];
/// The page that says what each of them is for.
const CONTENTS: &str = include_str!("../../../../docs/README.md");

pub fn run(args: &GuideArgs) -> Result<ExitCode, Failure> {
    let page = args.page.as_deref().and_then(|name| PAGES.iter().find(|it| it.name == name));
    let text = page.map_or_else(contents, |it| linked(it.text));
    match std::io::stdout().write_all(text.as_bytes()) {
        // A pager that was left has seen what was wanted.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("stdout cannot be written: {error}")))
        }
        _ => Ok(ExitCode::Done),
    }
}

/// Available pages.
pub fn names() -> impl Iterator<Item = PossibleValue> {
    PAGES.iter().map(|it| PossibleValue::new(it.name).help(purpose(it.name)))
}

/// Purpose of a page, from the page of contents.
fn purpose(name: &str) -> &'static str {
    let link = format!("]({name}.md)");
    let behind = CONTENTS.lines().find_map(|line| line.split_once(&link)).map_or("", |(_, behind)| behind);
    behind.trim_start_matches(':').trim()
}

fn contents() -> String {
    let width = PAGES.iter().map(|it| it.name.len()).max().unwrap_or(0);
    let lines = PAGES.iter().map(|it| format!("  {:<width$}  {}\n", it.name, purpose(it.name)));
    format!("{}\n`hypocenter guide PAGE` prints one of them.\n", lines.collect::<String>())
}

/// A page on which what leads to another names the command that prints it: `[label](page.md#part)` has no meaning on a terminal.
fn linked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("](") {
        let page = |target: &str| PAGES.iter().find(|it| target.strip_prefix(it.name).is_some_and(is_file));
        let link = before.rsplit_once('[').zip(behind.split_once(')'));
        let link = link.and_then(|((before, label), (target, behind))| {
            Some((before, label, page(target)?.name, behind))
        });
        match link {
            Some((before, label, name, behind)) => {
                out += before;
                out += &match label.strip_prefix(name).is_some_and(is_file) {
                    true => format!("`hypocenter guide {name}`"),
                    false => format!("{label} (`hypocenter guide {name}`)"),
                };
                rest = behind;
            }
            None => {
                out += before;
                out += "](";
                rest = behind;
            }
        }
    }
    out + rest
}

/// Tests whether this is what follows the name of a page in a link.
fn is_file(ending: &str) -> bool {
    ending.split('#').next() == Some(".md")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_page_of_the_folder_is_carried_and_has_a_purpose() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let files =
            std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        let files: BTreeSet<String> = files.filter(|it| it.ends_with(".md") && it != "README.md").collect();
        let carried: BTreeSet<String> = PAGES.iter().map(|it| format!("{}.md", it.name)).collect();
        assert_eq!(carried, files);
        for page in PAGES {
            assert!(page.text.starts_with("# "), "{} has no heading", page.name);
            assert!(!purpose(page.name).is_empty(), "docs/README.md does not say what {} is for", page.name);
        }
    }

    #[test]
    fn what_leads_to_a_page_names_the_command() {
        let check = |text: &str, expected: &str| assert_eq!(linked(text), expected);
        check("see [oracles.md](oracles.md).", "see `hypocenter guide oracles`.");
        check(
            "[Exploring](exploring.md), [start.md](start.md#gradle)",
            "Exploring (`hypocenter guide exploring`), `hypocenter guide start`",
        );
        // What leads elsewhere, and what only looks like a link.
        check("[Maven](#maven) [a](b.md) a](start.md) [b", "[Maven](#maven) [a](b.md) a](start.md) [b");
        for page in PAGES {
            assert!(!linked(page.text).contains(".md)"), "{}", page.name);
        }
    }
}

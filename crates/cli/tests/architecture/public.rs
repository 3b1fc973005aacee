//! Public items of a library are used outside of it.
//!
//! The check goes by names: an item counts as used if its name stands anywhere in the code of another crate, or in the tests
//! and benches of its own. It misses some items that nobody uses, and reports none that somebody does.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::sources::{Source, all, compared, made_up, without_comments};

/// Items that nobody uses yet or any more. Use them, make them private or remove them; none may be added.
const UNUSED: &[&str] = &[
    // For engines to come.
    "engine::fisher",
    "program::EFFECT_DEPTH_MAX",
    "program::REACHED_METHODS_MAX",
];

/// Crates that no other links to: the agent is loaded by JVMs.
const NOT_LINKED: [&str; 1] = ["agent"];
/// The instructions of the JVM, of which all are there.
const TABLES: [&str; 1] = ["crates/classfile/src/op.rs"];

fn regex(text: &str) -> Regex {
    Regex::new(text).expect("a regular expression")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_other = |it: char| !it.is_alphanumeric() && it != '_';
    text.split(is_other).filter(|it| !it.is_empty())
}

/// A library, as the code of each of its files.
struct Library<'a> {
    krate: &'a str,
    code: BTreeMap<&'a str, String>,
}

impl<'a> Library<'a> {
    fn of(sources: &'a [Source], krate: &'a str) -> Library<'a> {
        let own = sources.iter().filter(|it| it.krate() == krate && it.is_product());
        Library { krate, code: own.map(|it| (it.path.as_str(), it.code())).collect() }
    }

    /// The files whose modules are public up to the root.
    fn public_files(&self) -> BTreeSet<&str> {
        let module = regex(r"(?m)^pub mod (\w+);");
        let base = format!("crates/{}/src", self.krate);
        let mut found = BTreeSet::new();
        let mut open = vec![(format!("{base}/lib.rs"), base)];
        while let Some((path, below)) = open.pop() {
            let Some((path, code)) = self.code.get_key_value(path.as_str()) else { continue };
            found.insert(*path);
            for it in module.captures_iter(code) {
                let below = format!("{below}/{}", &it[1]);
                open.push((format!("{below}.rs"), below.clone()));
                open.push((format!("{below}/mod.rs"), below));
            }
        }
        found
    }

    /// The names that it gives out of its private modules.
    fn re_exported(&self) -> BTreeSet<String> {
        let (exported, module) = (regex(r"pub use ([^;]*);"), regex(r"\w+::"));
        let files = self.public_files();
        let open = self.code.iter().filter(|(path, _)| files.contains(*path));
        let all = open.flat_map(|(_, code)| exported.captures_iter(code));
        // The modules that lead to a name are not given out with it.
        let names = |it: &str| words(&module.replace_all(it, "")).map(str::to_owned).collect::<Vec<_>>();
        all.flat_map(|it| names(&it[1])).collect()
    }

    /// The words in declarations of what is public: a type that stands there has to be public too.
    fn declared(&self) -> BTreeSet<String> {
        let declarations = [
            r"(?m)^\s*pub (?:const |unsafe |extern \S+ )*fn \w+([^{;]*)",
            r"(?m)^\s*pub \w+: (.*)",
            r"(?ms)^pub (?:enum|trait) \w+(.*?)^\}",
            r"(?ms)^pub struct \w+(?:<[^>]*>)?\((.*?);",
            r"(?m)^pub (?:type|const|static) \w+([^;]*);",
            r"(?m)^\s+type \w+ = ([^;]*);",
            r"(?m)^impl([^{]*) for ",
        ];
        let mut found = BTreeSet::new();
        for declaration in declarations.map(regex) {
            for code in self.code.values() {
                declaration.captures_iter(code).for_each(|it| found.extend(words(&it[1]).map(str::to_owned)));
            }
        }
        found
    }

    /// The public items that nobody needs.
    fn unused(&self, is_used: impl Fn(&str) -> bool) -> Vec<String> {
        let item = regex(
            r"(?m)^pub (?:const |unsafe |extern \S+ )*(fn|struct|enum|trait|type|union|const|static|mod) (\w+)",
        );
        let (files, exported, declared) = (self.public_files(), self.re_exported(), self.declared());
        let mut found = Vec::new();
        for (path, code) in self.code.iter().filter(|(path, _)| !TABLES.contains(path)) {
            for it in item.captures_iter(code) {
                let (kind, name) = (&it[1], &it[2]);
                let is_reachable = files.contains(path) || exported.contains(name);
                let is_type = ["struct", "enum", "trait", "type", "union"].contains(&kind);
                let is_needed = is_used(name) || (is_type && declared.contains(name));
                if is_reachable && !is_needed {
                    found.push(format!("{}::{name}", self.krate));
                }
            }
        }
        found
    }
}

fn unused(sources: &[Source]) -> Vec<String> {
    // The words of each crate's own sources, and those of tests and benches by their files. This check names what nobody uses.
    let mut users: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for source in sources.iter().filter(|it| !it.path.starts_with("crates/cli/tests/architecture/")) {
        let user = if source.path.contains("/src/") { source.krate() } else { source.path.as_str() };
        users.entry(user).or_default().extend(words(&without_comments(&source.text)).map(str::to_owned));
    }
    let is_library = |it: &&Source| it.path.starts_with("crates/") && it.path.ends_with("/src/lib.rs");
    let libraries = sources.iter().filter(is_library).map(Source::krate);
    let mut found = Vec::new();
    for krate in libraries.filter(|it| !NOT_LINKED.contains(it)) {
        let is_used = |name: &str| users.iter().any(|(user, words)| *user != krate && words.contains(name));
        found.extend(Library::of(sources, krate).unused(is_used));
    }
    found.sort();
    found.dedup();
    found
}

#[test]
fn what_is_public_is_used_by_somebody() {
    let wrong = compared(&unused(&all()), UNUSED);
    assert!(
        wrong.is_empty(),
        "{}\nnobody outside of the crate uses these: make them `pub(crate)`, or remove them",
        wrong.join("\n")
    );
}

#[test]
fn what_nobody_uses_is_found() {
    let check = |text: &str, user: &str, expected: &[&str]| {
        let lib = "mod hidden;\npub mod open;\npub use hidden::{Given, given};\n";
        let sources = [
            made_up("crates/x/src/lib.rs", lib),
            made_up("crates/x/src/hidden.rs", text),
            made_up("crates/x/src/open.rs", "pub fn opened() {}\n"),
            made_up("crates/y/src/main.rs", &format!("use x::open::opened;\nx::open;\n{user}")),
        ];
        assert_eq!(unused(&sources), expected, "{text}{user}");
    };
    check("pub struct Given;\npub fn given() {}\n", "use x::{Given, given};", &[]);
    check("pub struct Given;\npub fn given() {}\n", "use x::given;", &["x::Given"]);
    check("pub struct Given;\npub fn given() -> Given {}\n", "use x::given;", &[]);
    check("pub struct Given;\npub const fn given() {}\n", "// x::given\nx::Given", &["x::given"]);
    check("pub(crate) struct Given;\npub struct Private;\n", "", &[]);
    let sources = [
        made_up("crates/x/src/lib.rs", "pub mod open;\n"),
        made_up("crates/x/src/open/mod.rs", "pub mod more;\npub const MAX: u8 = 1;\n"),
        made_up("crates/x/src/open/more.rs", "pub static MORE: u8 = 1;\npub type Test = u8;\n"),
        made_up("crates/x/tests/it.rs", "use x::open::more::Test;"),
    ];
    assert_eq!(unused(&sources), ["x::MAX", "x::MORE"]);
}

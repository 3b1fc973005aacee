//! The sites that fit a pattern, or what comes nearest.

use hypocenter_classfile::{ClassFile, display_name};
use hypocenter_plan::{Problem, Site, SiteKind, glob_matches, method_around};

use crate::loading::classes::{Classes, parse_class};
use crate::sites::kinds::KindSet;
use crate::sites::nearest::{SUGGESTIONS_MAX, Suggestions, nearest, nearest_classes};
use crate::sites::pattern::SitePattern;
use crate::sites::sites_of_method;

/// Findings for a pattern.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The sites that fit, in the order of class names and of the code.
    pub sites: Vec<Site>,
    /// Unreadable files on the way.
    pub problems: Vec<Problem>,
    /// Suggestions; empty if an item matches.
    pub suggestions: Suggestions,
}

/// Finds the sites that fit a pattern.
pub fn find_sites(classes: &Classes, pattern: &SitePattern) -> Found {
    let (found, mut problems) = classes.map(
        |name| pattern.method().fits_class(name),
        |name, bytes| sites_of_kind(name, bytes, pattern.kind(), fits_method(pattern), |it| pattern.fits(it)),
    );
    let mut sites = Vec::new();
    for (of_class, of_class_problems) in found {
        sites.extend(of_class);
        problems.extend(of_class_problems);
    }
    let suggestions = if sites.is_empty() { suggest(classes, pattern) } else { Suggestions::default() };
    Found { sites, problems, suggestions }
}

fn fits_method(pattern: &SitePattern) -> impl Fn(&str, &str) -> bool {
    |name, descriptor| pattern.method().fits_method(name, descriptor)
}

/// The sites of a kind, in methods that fit, that `keep` takes.
fn sites_of_kind(
    name: &str,
    bytes: &[u8],
    kind: SiteKind,
    fits_method: impl Fn(&str, &str) -> bool,
    keep: impl Fn(&Site) -> bool,
) -> (Vec<Site>, Vec<Problem>) {
    let class = match parse_class(name, bytes) {
        Ok(class) => class,
        Err(problem) => return (Vec::new(), vec![problem]),
    };
    let (mut sites, mut problems) = (Vec::new(), Vec::new());
    for method in class.methods() {
        let method_name = String::from_utf8_lossy(method.name);
        let descriptor = String::from_utf8_lossy(method.descriptor);
        if !fits_method(&method_name, &descriptor) {
            continue;
        }
        match sites_of_method(&class, method, KindSet::NONE.with(kind)) {
            Ok(found) => {
                let named = found.sites.iter().map(|site| site.named(name, &method_name, &descriptor));
                sites.extend(named.filter(&keep));
            }
            Err(error) => problems.push(Problem {
                place: format!("{name}.{method_name}{descriptor}"),
                what: format!("{error}; its sites are left out"),
            }),
        }
    }
    (sites, problems)
}

fn method_names(class: &ClassFile<'_>) -> Vec<String> {
    let mut names: Vec<String> =
        class.methods().iter().map(|method| String::from_utf8_lossy(method.name).into_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// Alternatives to a method that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// Not even its class.
    Class(Suggestions),
    /// The class has none of that name.
    Method(Suggestions),
}

/// Looks for a frame as stack traces have it, `package.Class.method`, of which parts of the package may be left out. Nothing if it is
/// there.
pub fn unknown_frame(classes: &Classes, frame: &str) -> Option<Unknown> {
    let (class, method) = frame.rsplit_once('.')?;
    unknown_method(classes, class, method, |name| ends_in(name, class))
}

/// Tests whether a dotted name is this one, or ends in it from one of its dots on.
fn ends_in(name: &str, end: &str) -> bool {
    name.strip_suffix(end).is_some_and(|it| it.is_empty() || it.ends_with('.'))
}

/// Looks for a test as the runners of JUnit name it: `Class`, `package.Class` or `Class.method`, of which parts of the package may be
/// left out. Nothing if it is there, or may come from a superclass that is not.
pub fn unknown_test(classes: &Classes, test: &str) -> Option<Suggestions> {
    let is_called = |name: &str, class: &str| ends_in(name, class) || ends_in(&name.replace('$', "."), class);
    let is_there = |class: &str| classes.names().any(|name| is_called(name, class));
    let (class, method) = test.rsplit_once('.').unwrap_or((test, ""));
    if is_there(test) {
        return None;
    }
    if !is_there(class) {
        // Who misspells a class still begins it with a capital, and a method without.
        let class = if method.starts_with(char::is_lowercase) { class } else { test };
        return Some(no_class(classes, class));
    }
    let owners = classes.names().filter(|name| is_called(name, class));
    let methods: Option<Vec<Vec<String>>> = owners.map(|it| inherited_methods(classes, it)).collect();
    let mut methods = methods?.concat();
    methods.sort();
    methods.dedup();
    if methods.iter().any(|it| it == method) {
        return None;
    }
    let by_hand = methods.into_iter().filter(|it| !it.contains(['<', '$']));
    Some(no_method(class, method, by_hand.map(|it| (it, class.to_owned()))))
}

/// The most classes and interfaces that are asked for what a class inherits.
const ANCESTORS_MAX: usize = 256;

/// The names of the methods that a class has or inherits. Nothing if an ancestor cannot be read; what the JDK has is no test.
fn inherited_methods(classes: &Classes, class: &str) -> Option<Vec<String>> {
    let (mut names, mut seen) = (Vec::new(), vec![class.to_owned()]);
    let mut at = 0;
    while let Some(name) = seen.get(at).filter(|_| at < ANCESTORS_MAX).cloned() {
        at += 1;
        if name.starts_with("java.") {
            continue;
        }
        let bytes = classes.read(&name)?.ok()?;
        let class = parse_class(&name, &bytes).ok()?;
        names.extend(method_names(&class));
        let ancestors = class.super_name().into_iter().chain(class.interfaces()).map(display_name);
        let new: Vec<String> = ancestors.filter(|it| !seen.contains(it)).collect();
        seen.extend(new);
    }
    (at < ANCESTORS_MAX).then_some(names)
}

fn no_class(classes: &Classes, class: &str) -> Suggestions {
    let names = nearest_classes(class, classes.names());
    Suggestions { what: format!("no class `{class}` is on the class path"), names }
}

/// Substitutes of a class for a method, each with the class that has it.
fn no_method(class: &str, method: &str, methods: impl IntoIterator<Item = (String, String)>) -> Suggestions {
    let names = nearest(method, methods, |(method, _)| method, true, SUGGESTIONS_MAX);
    Suggestions {
        what: format!("`{class}` has no method `{method}`"),
        names: names.into_iter().map(|(method, class)| format!("{class}.{method}")).collect(),
    }
}

fn unknown_method(
    classes: &Classes,
    class: &str,
    method: &str,
    fits_class: impl Fn(&str) -> bool + Sync,
) -> Option<Unknown> {
    if !classes.names().any(&fits_class) {
        return Some(Unknown::Class(no_class(classes, class)));
    }
    let of_class = |name: &str, bytes: &[u8]| -> Vec<(String, String)> {
        let Ok(class) = parse_class(name, bytes) else { return Vec::new() };
        method_names(&class).into_iter().map(|method| (method, name.to_owned())).collect()
    };
    let methods: Vec<(String, String)> = classes.map(&fits_class, of_class).0.into_iter().flatten().collect();
    if methods.iter().any(|(it, _)| glob_matches(method, it)) {
        return None;
    }
    Some(Unknown::Method(no_method(class, method, methods)))
}

/// The calls in lambdas of the method that is meant, each once: to whom reads the source they are calls of the method.
fn calls_in_lambdas(classes: &Classes, pattern: &SitePattern) -> Vec<String> {
    let wanted = pattern.method();
    let is_inside =
        |name: &str, _: &str| method_around(name).is_some_and(|it| glob_matches(&wanted.name, it));
    let of_class = |name: &str, bytes: &[u8]| {
        sites_of_kind(name, bytes, pattern.kind(), is_inside, |it| pattern.fits_callee(it)).0
    };
    let sites = classes.map(|name| wanted.fits_class(name), of_class).0.into_iter().flatten();
    let mut shown: Vec<String> = sites.map(|it| Site { ordinal: 0, line: None, ..it }.to_string()).collect();
    shown.sort();
    shown.dedup();
    shown.truncate(SUGGESTIONS_MAX);
    shown
}

/// Goes down class, method, callee and number, and names what there is instead at the first that does not exist.
fn suggest(classes: &Classes, pattern: &SitePattern) -> Suggestions {
    let wanted = pattern.method();
    let wanted_class = wanted.class.as_deref().unwrap_or("*");
    let unknown = unknown_method(classes, wanted_class, &wanted.name, |name| wanted.fits_class(name));
    if let Some(Unknown::Class(it) | Unknown::Method(it)) = unknown {
        return it;
    }
    let sites: Vec<Site> = classes
        .map(
            |name| wanted.fits_class(name),
            |name, bytes| sites_of_kind(name, bytes, pattern.kind(), fits_method(pattern), |_| true).0,
        )
        .0
        .into_iter()
        .flatten()
        .collect();
    if let Some(callee) = pattern.callee()
        && !sites.iter().any(|site| pattern.fits_callee(site))
    {
        let names = calls_in_lambdas(classes, pattern);
        if !names.is_empty() {
            let what = format!("`{wanted}` does not call `{callee}`, but a lambda in it does");
            return Suggestions { what, names };
        }
    }
    let kind = pattern.kind().name();
    if sites.is_empty() {
        return Suggestions { what: format!("`{wanted}` has no site of kind {kind}"), names: Vec::new() };
    }
    match pattern.callee() {
        Some(callee) if !sites.iter().any(|site| pattern.fits_callee(site)) => {
            // Each as it is shown, with whether its owner is another than the wanted one, and its name.
            let mut callees: Vec<(bool, String, String)> = sites
                .into_iter()
                .map(|site| {
                    let site = Site { ordinal: 0, line: None, ..site };
                    let text = site.callee.as_deref().unwrap_or("");
                    let method = &text[..text.find('(').unwrap_or(text.len())];
                    let (owner, name) = method.rsplit_once('.').unwrap_or(("", method));
                    (!callee.fits_class(owner), name.to_owned(), site.to_string())
                })
                .collect();
            callees.sort();
            callees.dedup();
            let mut ranked = nearest(&callee.name, callees, |(_, name, _)| name, true, usize::MAX);
            ranked.sort_by_key(|(is_other, ..)| *is_other);
            let names = ranked.into_iter().map(|(.., shown)| shown).take(SUGGESTIONS_MAX).collect();
            Suggestions { what: format!("`{wanted}` does not call `{callee}`"), names }
        }
        _ => {
            let fitting = sites.into_iter().filter(|site| pattern.fits_callee(site));
            let names = fitting.map(|site| site.to_string()).take(SUGGESTIONS_MAX).collect();
            Suggestions { what: format!("no site of kind {kind} has this line or number"), names }
        }
    }
}

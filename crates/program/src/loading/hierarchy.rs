//! Class hierarchy, as far as throwing needs it.

use hypocenter_classfile::{ClassFile, display_name};
use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::loading::classes::{Classes, parse_class};
use crate::sites::nearest::{Suggestions, nearest_classes};

const PUBLIC: u16 = 0x0001;
const INTERFACE: u16 = 0x0200;
const ABSTRACT: u16 = 0x0400;
const THROWABLE: &str = "java.lang.Throwable";
/// The most subtypes that are given.
const SUBTYPES_MAX: usize = 16;
/// No chain of superclasses is longer; class files that extend each other in a ring would make one.
const DEPTH_MAX: usize = 256;

/// Stored data of a class.
struct Kin {
    name: String,
    parent: Option<String>,
    access: u16,
    /// True if it is public and has a public constructor that takes nothing or a text.
    is_handy: bool,
}

impl Kin {
    fn of(class: &ClassFile<'_>) -> Kin {
        let is_handy_constructor = |name: &[u8], descriptor: &[u8], access: u16| {
            name == b"<init>"
                && access & PUBLIC != 0
                && matches!(descriptor, b"()V" | b"(Ljava/lang/String;)V")
        };
        Kin {
            name: display_name(class.name()),
            parent: class.super_name().map(display_name),
            access: class.access,
            is_handy: class.access & PUBLIC != 0
                && class.methods().iter().any(|it| is_handy_constructor(it.name, it.descriptor, it.access)),
        }
    }

    fn is_concrete(&self) -> bool {
        self.access & (ABSTRACT | INTERFACE) == 0
    }
}

/// The classes that can be thrown where `exception` is asked for: itself if it is concrete, else the concrete classes
/// that extend it, nearest first, those that are public and easy to construct before others, at most 16.
pub fn concrete_subtypes(classes: &Classes, exception: &str) -> Result<Vec<String>, Error> {
    let kin = read(classes, exception)?.ok_or_else(|| {
        Error::UnknownClass(Suggestions {
            what: format!("no class `{exception}` is on the class path"),
            names: nearest_classes(exception, classes.names()),
        })
    })?;
    check_throwable(classes, &kin)?;
    if kin.is_concrete() {
        return Ok(vec![kin.name]);
    }
    let (all, _) =
        classes.map(|_| true, |name, bytes| parse_class(name, bytes).ok().map(|class| Kin::of(&class)));
    let mut children: FxHashMap<&str, Vec<&Kin>> = FxHashMap::default();
    for kin in all.iter().flatten() {
        if let Some(parent) = &kin.parent {
            children.entry(parent).or_default().push(kin);
        }
    }
    let mut found = Vec::new();
    let mut generation = vec![exception];
    for _ in 0..DEPTH_MAX {
        let mut next: Vec<&Kin> =
            generation.iter().flat_map(|name| children.remove(name).unwrap_or_default()).collect();
        if next.is_empty() || found.len() >= SUBTYPES_MAX {
            break;
        }
        next.sort_by_key(|kin| (!kin.is_handy, &kin.name));
        found.extend(next.iter().filter(|kin| kin.is_concrete()).map(|kin| kin.name.clone()));
        generation = next.iter().map(|kin| kin.name.as_str()).collect();
    }
    found.truncate(SUBTYPES_MAX);
    if found.is_empty() {
        return Err(Error::NoConcreteSubtype { class: exception.to_owned() });
    }
    Ok(found)
}

fn read(classes: &Classes, name: &str) -> Result<Option<Kin>, Error> {
    let Some(bytes) = classes.read(name) else { return Ok(None) };
    let kin = bytes.and_then(|bytes| parse_class(name, &bytes).map(|class| Kin::of(&class)));
    kin.map(Some).map_err(|problem| Error::Unreadable { place: problem.place, what: problem.what })
}

fn check_throwable(classes: &Classes, kin: &Kin) -> Result<(), Error> {
    if kin.name == THROWABLE {
        return Ok(());
    }
    let mut ancestors: Vec<String> = Vec::new();
    let mut parent = kin.parent.clone();
    while let Some(name) = parent.filter(|_| ancestors.len() < DEPTH_MAX) {
        if name == THROWABLE {
            return Ok(());
        }
        ancestors.push(name);
        let name = ancestors.last().expect("one was just added");
        if name == "java.lang.Object" {
            break;
        }
        let Some(kin) = read(classes, name)? else {
            let class = ancestors.iter().rev().nth(1).unwrap_or(&kin.name).clone();
            return Err(Error::MissingParent { class, parent: name.clone() });
        };
        parent = kin.parent;
    }
    Err(Error::NotThrowable { class: kin.name.clone(), ancestors: ancestors.join(", ") })
}

//! The classes of the target, opened and indexed: for each name, the definition that the JVM would take.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hypocenter_classfile::{ClassFile, display_name};
use hypocenter_plan::Problem;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::loading::classpath::{ClassPath, ENTRIES_MAX};
use crate::loading::directory;
use crate::loading::jar::{ENTRY_BYTES_MAX, Jar, JarEntry};
use crate::loading::modules::{Modules, Resource};
use crate::loading::walk::{Jdk, Stop, Walk};

/// The most bytes of jars inside jars that are kept.
const NESTED_BYTES_MAX: u64 = 1 << 30;
/// The most bytes of classes that the jars of a class path may inflate to: ten times what the largest systems have. Entries
/// of a jar may share their data, so a small one can claim any size.
const CLASS_BYTES_MAX: u64 = 4 << 30;
/// Directories of frameworks for classes inside a jar, beside its root.
const CLASS_ROOTS: [&str; 2] = ["BOOT-INF/classes/", "WEB-INF/classes/"];
/// Directories of frameworks for jars inside a jar.
const LIBRARY_ROOTS: [&str; 2] = ["BOOT-INF/lib/", "WEB-INF/lib/"];

/// Every class that can be found on a class path, by name. The first definition on the path wins, as in the JVM.
pub struct Classes {
    sources: Vec<Source>,
    /// Sorted by name, each name once.
    index: Vec<Located>,
    problems: Vec<Problem>,
}

struct Source {
    /// For people: a file, or `outer.jar!/inner.jar`.
    place: String,
    content: Content,
    /// True if it belongs to the JDK.
    is_jdk: bool,
}

enum Content {
    Directory(PathBuf),
    Jar(Jar),
    Modules(Modules),
}

struct Located {
    /// With dots.
    name: Box<str>,
    source: u32,
    at: Place,
}

#[derive(Clone, Copy)]
enum Place {
    /// The file of that name below the directory.
    File,
    Entry(JarEntry),
    Resource(Resource),
}

impl std::fmt::Debug for Classes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Classes")
            .field("sources", &self.sources.len())
            .field("classes", &self.index.len())
            .finish()
    }
}

impl Classes {
    pub(crate) fn open(path: &ClassPath, release: u16) -> Classes {
        let mut opening = Opening { release, problems: path.problems.clone(), ..Opening::default() };
        for entry in &path.entries {
            opening.entry(entry, true);
        }
        if let Some(home) = &path.jdk {
            opening.is_jdk = true;
            opening.jdk(home);
        }
        let Opening { sources, mut index, problems, .. } = opening;
        // The sort keeps the order of the path among equal names, so the first definition stays.
        index.par_sort_by(|a, b| a.name.cmp(&b.name));
        index.dedup_by(|later, first| later.name == first.name);
        Classes { sources, index, problems }
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Tests whether there are none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The names, with dots, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.index.iter().map(|class| &*class.name)
    }

    /// Files that could not be opened.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Tests whether there is a class of this name (with dots).
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The directory, jar or image that a class comes from.
    pub fn origin(&self, name: &str) -> Option<&str> {
        Some(&self.sources[self.find(name)?.source as usize].place)
    }

    /// The bytes of a class (with dots); none if there is no such class.
    pub fn read(&self, name: &str) -> Option<Result<Vec<u8>, Problem>> {
        self.find(name).map(|class| self.bytes(class))
    }

    /// Shows every class that the filter takes to `visit`, in parallel and in no order. A class that cannot be
    /// read is a problem.
    pub fn for_each(
        &self,
        filter: impl Fn(&str) -> bool + Sync,
        visit: impl Fn(&str, &[u8]) + Sync,
    ) -> Vec<Problem> {
        self.map(filter, |name, bytes| visit(name, bytes)).1
    }

    /// Results of `work` for every class that passes the filter: computed in parallel, given in the order of the
    /// names. A class that cannot be read is a problem.
    pub fn map<T: Send>(
        &self,
        filter: impl Fn(&str) -> bool + Sync,
        work: impl Fn(&str, &[u8]) -> T + Sync,
    ) -> (Vec<T>, Vec<Problem>) {
        let problems = Mutex::new(Vec::new());
        let results = self
            .index
            .par_iter()
            .filter(|class| filter(&class.name))
            .filter_map(|class| match self.bytes(class) {
                Ok(bytes) => Some(work(&class.name, &bytes)),
                Err(problem) => {
                    problems.lock().unwrap_or_else(|it| it.into_inner()).push(problem);
                    None
                }
            })
            .collect();
        let mut problems = problems.into_inner().unwrap_or_else(|it| it.into_inner());
        problems.sort_by(|a, b| a.place.cmp(&b.place));
        (results, problems)
    }

    /// The bytes of every class that the filter takes, read in parallel, in the order of the names. The filter is
    /// told the name and whether the class is the JDK's.
    pub(crate) fn read_all(
        &self,
        filter: impl Fn(&str, bool) -> bool + Sync,
    ) -> Vec<(&str, Result<Vec<u8>, Problem>)> {
        self.index
            .par_iter()
            .filter(|class| filter(&class.name, self.sources[class.source as usize].is_jdk))
            .map(|class| (&*class.name, self.bytes(class)))
            .collect()
    }

    /// Tests whether a class (with dots) is the JDK's.
    pub(crate) fn is_jdk(&self, name: &str) -> bool {
        self.find(name).is_some_and(|class| self.sources[class.source as usize].is_jdk)
    }

    fn find(&self, name: &str) -> Option<&Located> {
        let at = self.index.binary_search_by(|class| (*class.name).cmp(name)).ok()?;
        Some(&self.index[at])
    }

    fn bytes(&self, class: &Located) -> Result<Vec<u8>, Problem> {
        let source = &self.sources[class.source as usize];
        let bytes = match (&source.content, class.at) {
            (Content::Jar(jar), Place::Entry(entry)) => jar.read(entry).map_err(|error| error.to_string()),
            (Content::Modules(modules), Place::Resource(resource)) => modules.read(resource),
            (Content::Directory(root), _) => directory::read(root, &class.name),
            _ => unreachable!("a place belongs to its source"),
        };
        bytes.map_err(|what| Problem {
            place: format!("{} in {}", class.name, source.place),
            what: format!("the class {what}; its sites are left out"),
        })
    }
}

/// The work of opening a class path.
#[derive(Default)]
struct Opening {
    release: u16,
    is_jdk: bool,
    sources: Vec<Source>,
    index: Vec<Located>,
    problems: Vec<Problem>,
    walk: Walk,
    nested_bytes: u64,
    class_bytes: u64,
}

impl Opening {
    fn problem(&mut self, place: impl ToString, what: impl Into<String>) {
        self.problems.push(Problem { place: place.to_string(), what: what.into() });
    }

    /// Opens an entry and what its manifest names.
    fn entry(&mut self, path: &Path, is_explicit: bool) {
        let mut walk = std::mem::take(&mut self.walk);
        walk.entry(path, is_explicit, |stop| {
            match stop {
                Stop::Missing { path, is_explicit: true } => {
                    self.problem(path.display(), "this entry of the class path does not exist");
                }
                Stop::Missing { .. } => {}
                Stop::Beyond(path) => self.problem(
                    path.display(),
                    format!("is beyond entry {ENTRIES_MAX} of the class path: left out"),
                ),
                Stop::Directory(path) => self.directory(path),
                Stop::Jar(path) => return self.jar_file(path),
            }
            Vec::new()
        });
        self.walk = walk;
    }

    fn source(&mut self, place: String, content: Content) -> u32 {
        self.sources.push(Source { place, content, is_jdk: self.is_jdk });
        (self.sources.len() - 1) as u32
    }

    fn directory(&mut self, root: &Path) {
        let (names, problems) = directory::class_names(root);
        self.problems.extend(problems);
        let source = self.source(root.display().to_string(), Content::Directory(root.to_owned()));
        self.index.extend(names.into_iter().map(|name| Located { name, source, at: Place::File }));
    }

    /// Opens a jar and returns the `Class-Path` of its manifest.
    fn jar_file(&mut self, path: &Path) -> Vec<String> {
        match Jar::open(path) {
            Ok(jar) => {
                let addresses = jar.manifest.class_path.clone();
                self.jar(path.display().to_string(), jar, true);
                addresses
            }
            Err(error) => {
                self.problem(path.display(), format!("the jar {error}; its classes are left out"));
                Vec::new()
            }
        }
    }

    fn jar(&mut self, place: String, jar: Jar, may_nest: bool) {
        let source = self.sources.len() as u32;
        // For each name the highest version that the release may see, and the entry.
        let mut versions: FxHashMap<Cow<'_, str>, (u16, JarEntry)> = FxHashMap::default();
        let mut nested = Vec::new();
        let mut too_deep: Vec<&str> = Vec::new();
        for (path, entry) in &jar.entries {
            let is_library =
                path.ends_with(".jar") && LIBRARY_ROOTS.iter().any(|root| path.starts_with(root));
            match is_library {
                true if may_nest => nested.push((path.clone(), *entry)),
                true => too_deep.push(path),
                false => {}
            }
            let Some((version, path)) = versioned(path, jar.manifest.multi_release, self.release) else {
                continue;
            };
            let path = CLASS_ROOTS.iter().find_map(|root| path.strip_prefix(root)).unwrap_or(path);
            let Some(name) = class_name(path) else { continue };
            let slot = versions.entry(name).or_insert((version, *entry));
            if version > slot.0 {
                *slot = (version, *entry);
            }
        }
        if let Some(first) = too_deep.iter().min() {
            let more = match too_deep.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more beside it)"),
            };
            let what = format!(
                "is nested too deep{more}: jars are read inside a jar, but not inside those; its classes are left out; \
                 unpack it, and add it to the class path"
            );
            self.problem(format!("{place}!/{first}"), what);
        }
        let claimed: u64 = versions.values().map(|it| it.1.claimed_bytes().min(ENTRY_BYTES_MAX)).sum();
        if self.class_bytes + claimed > CLASS_BYTES_MAX {
            let what = format!(
                "the jar says that it has {} MiB of classes, which is more than the {} MiB that are read of a class path; \
                 its classes are left out",
                claimed >> 20,
                CLASS_BYTES_MAX >> 20
            );
            return self.problem(place, what);
        }
        self.class_bytes += claimed;
        let located = versions.into_iter().map(|(name, (_, entry))| Located {
            name: name.into(),
            source,
            at: Place::Entry(entry),
        });
        self.index.extend(located);
        let inner: Vec<(String, Result<Jar, String>)> = nested
            .into_iter()
            .map(|(path, entry)| (format!("{place}!/{path}"), self.nested(&jar, entry)))
            .collect();
        self.source(place, Content::Jar(jar));
        for (place, jar) in inner {
            match jar {
                Ok(jar) => self.jar(place, jar, false),
                Err(what) => self.problem(place, format!("the jar {what}; its classes are left out")),
            }
        }
    }

    fn nested(&mut self, jar: &Jar, entry: JarEntry) -> Result<Jar, String> {
        if self.nested_bytes > NESTED_BYTES_MAX - ENTRY_BYTES_MAX {
            return Err(format!(
                "is beyond the {} MiB of jars inside jars that are read",
                NESTED_BYTES_MAX >> 20
            ));
        }
        let bytes = jar.read(entry).map_err(|error| error.to_string())?;
        self.nested_bytes += bytes.len() as u64;
        Jar::from_bytes(bytes).map_err(|error| error.to_string())
    }

    fn jdk(&mut self, home: &Path) {
        match Jdk::of(home) {
            Jdk::Image(path) => self.modules(&path),
            Jdk::Jars(paths) => paths.iter().for_each(|path| self.entry(path, false)),
            Jdk::None => self.problem(
                home.display(),
                "is not a JDK: it has neither lib/modules nor jre/lib/rt.jar; classes of the JDK are not known",
            ),
        }
    }

    fn modules(&mut self, path: &Path) {
        match Modules::open(path) {
            Ok(modules) => {
                let (classes, damaged) = modules.classes();
                if damaged > 0 {
                    self.problem(
                        path.display(),
                        format!("{damaged} entries of the runtime image are damaged"),
                    );
                }
                let source = self.source(path.display().to_string(), Content::Modules(modules));
                self.index.extend(classes.into_iter().map(|(name, resource)| Located {
                    name: name.replace('/', ".").into(),
                    source,
                    at: Place::Resource(resource),
                }));
            }
            Err(what) => self.problem(path.display(), format!("{what}; classes of the JDK are not known")),
        }
    }
}

/// Reads a class that was found under a name, and checks that it is the one it should be: a JVM refuses a class of
/// another name.
pub(crate) fn parse_class<'a>(name: &str, bytes: &'a [u8]) -> Result<ClassFile<'a>, Problem> {
    let problem =
        |what: String| Problem { place: name.to_owned(), what: format!("{what}; its sites are left out") };
    let class = ClassFile::parse(bytes).map_err(|error| problem(error.to_string()))?;
    let found = display_name(class.name());
    if found != name {
        return Err(problem(format!("the class file is named for {name} and holds {found}")));
    }
    Ok(class)
}

/// The version and the path without it; none for what this release does not see.
fn versioned(path: &str, multi_release: bool, release: u16) -> Option<(u16, &str)> {
    let Some(rest) = path.strip_prefix("META-INF/") else { return Some((0, path)) };
    let (version, path) = rest.strip_prefix("versions/").filter(|_| multi_release)?.split_once('/')?;
    let version = version.parse().ok().filter(|version| (9..=release).contains(version))?;
    (!path.starts_with("META-INF/")).then_some((version, path))
}

/// The class with dots that a path such as `a/b/C.class` can define; none for what no JVM would ask for by name.
pub(crate) fn class_name(path: &str) -> Option<Cow<'_, str>> {
    let stem = path.strip_suffix(".class")?;
    let is_plain = |part: &str| !part.is_empty() && !part.contains(['.', ';', '[', '\\', '\0']);
    if stem == "module-info" || !stem.split('/').all(is_plain) {
        return None;
    }
    Some(if stem.contains('/') { Cow::Owned(stem.replace('/', ".")) } else { Cow::Borrowed(stem) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_a_jvm_asks_for_are_classes() {
        let check =
            |path: &str, expected: Option<&str>| assert_eq!(class_name(path).as_deref(), expected, "{path}");
        check("a/b/C.class", Some("a.b.C"));
        check("C$1.class", Some("C$1"));
        check("a/package-info.class", Some("a.package-info"));
        check("module-info.class", None);
        check("../a/C.class", None);
        check("/a/C.class", None);
        check("a//C.class", None);
        check("a/./C.class", None);
        check("a\\C.class", None);
        check(".class", None);
        check("a/C.txt", None);
    }

    #[test]
    fn versions_count_only_up_to_the_release() {
        let check = |path: &'static str, multi: bool, release: u16, expected: Option<(u16, &str)>| {
            assert_eq!(versioned(path, multi, release), expected, "{path} {multi} {release}");
        };
        check("a/C.class", true, 17, Some((0, "a/C.class")));
        check("META-INF/versions/11/a/C.class", true, 17, Some((11, "a/C.class")));
        check("META-INF/versions/21/a/C.class", true, 17, None);
        check("META-INF/versions/8/a/C.class", true, 17, None);
        check("META-INF/versions/11/a/C.class", false, 17, None);
        check("META-INF/a/C.class", true, 17, None);
    }
}

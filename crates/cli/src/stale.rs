//! Classes that are older than their sources: what is analysed is not what its author reads. And classes that are newer than a trial:
//! what is replayed is not what it ran.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hypocenter_plan::Problem;

use crate::project::{LANGUAGES, each_file, is_source};

/// Note about the directories of a class path, as Maven and Gradle lay out projects: `target/classes` beside `src/main`.
pub fn problems(class_path: &[PathBuf]) -> Vec<Problem> {
    class_path.iter().filter_map(|it| problem(it)).collect()
}

/// A class or jar of a class path that was written after a moment, the newest.
pub fn newer_than(class_path: &[PathBuf], moment: SystemTime) -> Option<PathBuf> {
    let is_class = |it: &Path| it.extension().is_some_and(|it| it == "class");
    let written = |it: &PathBuf| Some((it.clone(), it.metadata().ok()?.modified().ok()?));
    let newest =
        |it: &PathBuf| if it.is_dir() { newest(std::slice::from_ref(it), is_class) } else { written(it) };
    let newest = class_path.iter().filter_map(newest).max_by_key(|it| it.1)?;
    (newest.1 > moment).then_some(newest.0)
}

fn problem(classes: &Path) -> Option<Problem> {
    let (_, compiled) = newest(&[classes.to_owned()], |it| it.extension().is_some_and(|it| it == "class"))?;
    let (source, written) = newest(&sources_of(classes)?, is_source)?;
    (written > compiled).then(|| Problem {
        place: classes.display().to_string(),
        what: format!(
            "{} is newer than its classes; compile it if it has changed, or the old version is analyzed",
            source.display()
        ),
    })
}

/// Sources of a directory of classes.
fn sources_of(classes: &Path) -> Option<Vec<PathBuf>> {
    let layouts = [("target/classes", "main"), ("target/test-classes", "test")];
    let maven = layouts.iter().find(|it| classes.ends_with(it.0)).map(|it| (2, it.1));
    // `build/classes/java/main`
    let gradle = classes.ancestors().nth(2).is_some_and(|it| it.ends_with("build/classes"));
    let gradle = classes.file_name().and_then(|it| it.to_str()).filter(|_| gradle).map(|it| (4, it));
    let (above, set) = maven.or(gradle)?;
    let module = classes.ancestors().nth(above)?.join("src").join(set);
    Some(LANGUAGES.iter().map(|it| module.join(it.0)).collect())
}

/// The file that was written last, of those that are meant.
fn newest(directories: &[PathBuf], is_meant: impl Fn(&Path) -> bool) -> Option<(PathBuf, SystemTime)> {
    let mut newest: Option<(PathBuf, SystemTime)> = None;
    each_file(directories, is_meant, |entry| {
        let written = entry.metadata().and_then(|it| it.modified());
        if let Ok(written) = written
            && newest.as_ref().is_none_or(|it| it.1 < written)
        {
            newest = Some((entry.path(), written));
        }
    });
    newest
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::Duration;

    use super::*;

    #[test]
    fn classes_older_than_a_source_of_theirs_are_told() {
        let place = tempfile::tempdir().expect("a directory");
        let write = |name: &str, age: u64| {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().expect("it is below")).expect("a directory");
            let file = File::create(&path).expect("a file");
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("a time");
        };
        let told = |classes: &str| problems(&[place.path().join(classes)]);
        write("a/target/classes/demo/Main.class", 50);
        write("a/target/classes/log4j.properties", 0);
        write("a/src/main/java/demo/Main.java", 60);
        write("a/src/main/java/notes.txt", 0);
        write("a/src/test/java/demo/MainTest.java", 0);
        assert_eq!(told("a/target/classes"), []);
        // What is not compiled has no age.
        assert_eq!(told("a/target/test-classes"), []);
        write("a/src/main/kotlin/demo/More.kt", 40);
        let [it] = &told("a/target/classes")[..] else { panic!("one is older") };
        assert!(it.what.contains("src/main/kotlin/demo/More.kt is newer than its classes"), "{it:?}");
        write("b/build/classes/java/test/demo/MainTest.class", 50);
        write("b/src/test/java/demo/MainTest.java", 40);
        assert_eq!(told("b/build/classes/java/test").len(), 1);
        // Other layouts say nothing of where sources are.
        write("c/classes/demo/Main.class", 50);
        write("c/src/main/java/demo/Main.java", 40);
        assert_eq!(told("c/classes"), []);
    }
    #[test]
    fn what_was_written_since_is_told() {
        let place = tempfile::tempdir().expect("a directory");
        let now = SystemTime::now();
        let write = |name: &str, age: u64| {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().expect("it is below")).expect("a directory");
            let file = File::create(&path).expect("a file");
            file.set_modified(now - Duration::from_secs(age)).expect("a time");
        };
        write("classes/demo/Main.class", 50);
        write("classes/demo/Other.class", 70);
        write("classes/demo/notes.txt", 0);
        write("lib/a.jar", 60);
        let class_path = ["classes", "lib/a.jar", "none"].map(|it| place.path().join(it));
        let newer = |age: u64| newer_than(&class_path, now - Duration::from_secs(age));
        assert_eq!(newer(40), None);
        assert_eq!(newer(55), Some(place.path().join("classes/demo/Main.class")));
        write("lib/a.jar", 20);
        assert_eq!(newer(40), Some(place.path().join("lib/a.jar")));
    }
}

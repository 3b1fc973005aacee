//! The cache of `hypocenter scan`: the second scan of an unchanged target says what the first said, and a changed target, a
//! damaged file or a place that cannot be written is never a wrong answer.

mod support;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;
use support::{Done, Tool, each, wal_classes};
use tempfile::TempDir;

/// All lists, with all that is in them.
const ALL: &str = "--sites --dropped --logs --states --loops --waits --detectors --tests --cascade";

/// A target of its own, and a cache of its own.
struct Place {
    directory: TempDir,
}

impl Place {
    /// With the classes of `targets/wal` in a directory.
    fn new() -> Place {
        let directory =
            TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo's directory can be written");
        let place = Place { directory };
        copy(&wal_classes().join("wal"), &place.at("classes/wal"));
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn scan(&self, class_path: &str) -> Tool {
        let tool = Tool::new("scan").arg("--classpath").arg(self.at(class_path)).args("--packages wal");
        tool.env("XDG_CACHE_HOME", self.at("cache").to_str().expect("a temporary path is text"))
    }

    fn document(&self, class_path: &str) -> Value {
        self.scan(class_path).args("--json").args(ALL).end().exits(0).outcome()
    }

    /// The scans that are kept.
    fn kept(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.at("cache/hypocenter/scans")).into_iter().flatten().flatten();
        let scans = entries.map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "scan"));
        scans.collect()
    }

    /// A jar of the classes, stored without compression, with these addresses in its manifest.
    fn jar(&self, name: &str, addresses: &str) -> PathBuf {
        let path = self.at(name);
        let mut jar = Jar::default();
        jar.add(
            "META-INF/MANIFEST.MF",
            format!("Manifest-Version: 1.0\r\nClass-Path: {addresses}\r\n\r\n").as_bytes(),
        );
        let mut files: Vec<PathBuf> =
            fs::read_dir(self.at("classes/wal")).unwrap().map(|it| it.unwrap().path()).collect();
        files.sort();
        for file in files {
            let name = format!("wal/{}", file.file_name().unwrap().to_str().unwrap());
            jar.add(&name, &fs::read(file).unwrap());
        }
        fs::write(&path, jar.end()).unwrap();
        path
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Writes a jar whose entries are stored as they are.
#[derive(Default)]
struct Jar {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    entries: u16,
}

impl Jar {
    fn add(&mut self, name: &str, content: &[u8]) {
        let at = self.bytes.len() as u32;
        let mut common = Vec::new();
        // Version, flags, method, time, date.
        [20u16, 0, 0, 0, 0x21].iter().for_each(|it| common.extend(it.to_le_bytes()));
        let length = content.len() as u32;
        [crc(content), length, length].iter().for_each(|it| common.extend(it.to_le_bytes()));
        common.extend((name.len() as u16).to_le_bytes());
        common.extend(0u16.to_le_bytes());
        self.bytes.extend(0x0403_4b50u32.to_le_bytes());
        self.bytes.extend(&common);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(content);
        self.directory.extend(0x0201_4b50u32.to_le_bytes());
        self.directory.extend(20u16.to_le_bytes());
        self.directory.extend(&common);
        self.directory.extend([0; 10]);
        self.directory.extend(at.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.entries += 1;
    }

    fn end(mut self) -> Vec<u8> {
        let at = self.bytes.len() as u32;
        self.bytes.extend(&self.directory);
        self.bytes.extend(0x0605_4b50u32.to_le_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(self.entries.to_le_bytes());
        self.bytes.extend(self.entries.to_le_bytes());
        self.bytes.extend((self.directory.len() as u32).to_le_bytes());
        self.bytes.extend(at.to_le_bytes());
        self.bytes.extend([0; 2]);
        self.bytes
    }
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ (0xedb8_8320 * (sum & 1)))
    };
    !bytes.iter().fold(!0, step)
}

/// The document without what may differ between two scans, and whether it was kept from an earlier one.
fn taken_apart(mut document: Value) -> (Value, bool) {
    let object = document.as_object_mut().expect("a document is an object");
    for key in ["seconds", "seconds_by_phase", "peak_rss_mb"] {
        assert!(object.remove(key).is_some(), "there is no `{key}`");
    }
    let is_kept = object.remove("from_cache").is_some();
    (document, is_kept)
}

/// Output for people, without progress, which depends on the machine.
fn said(done: &Done) -> Vec<&str> {
    done.stderr.lines().filter(|it| !it.trim_start().starts_with("working")).collect()
}

#[test]
fn the_second_scan_says_what_the_first_said() {
    let place = Place::new();
    let first = place.scan("classes").end().exits(0);
    assert!(!first.stdout.contains("from the cache"), "{}", first.stdout);
    // Whatever is asked next: the first scan has kept it all.
    let questions = [
        "--sites",
        ALL,
        "--sites --detectors --class Flusher",
        "--states --logs --class wal.Ack*",
        "--loops --class NoSuchClass",
    ];
    each(
        &questions,
        |it| it.to_string(),
        |question| {
            let fresh = place.scan("classes").args(question).arg("--no-cache").end().exits(0);
            let kept = place.scan("classes").args(question).end().exits(0);
            assert_eq!(kept.stdout, fresh.stdout);
            assert_eq!(said(&kept), said(&fresh));
        },
    );
    let fresh = place.scan("classes").args(ALL).args("--json --no-cache").end().exits(0).outcome();
    let (fresh, is_fresh_kept) = taken_apart(fresh);
    let (kept, is_kept) = taken_apart(place.document("classes"));
    assert_eq!(kept.to_string(), fresh.to_string());
    assert!(is_kept && !is_fresh_kept);
    let second = place.scan("classes").end().exits(0);
    assert!(second.stdout.contains("from the cache; the scan took "), "{}", second.stdout);
    let before_times = |it: &Done| it.stdout.split("\n  time ").next().unwrap().to_owned();
    assert_eq!(before_times(&second), before_times(&first));
    assert_eq!(place.kept().len(), 1);
}

#[test]
fn another_question_is_another_scan() {
    let place = Place::new();
    place.scan("classes").end().exits(0);
    for args in ["", "--helpers", "--task-types wal.Edit"] {
        let document = place.scan("classes").args(args).arg("--json").end().exits(0).outcome();
        assert_eq!(document["from_cache"].is_object(), args.is_empty(), "{args}");
    }
    // The same bytes elsewhere are another target: what is said of it names the place.
    copy(&place.at("classes/wal"), &place.at("moved/wal"));
    let document = place.scan("moved").arg("--json").end().exits(0).outcome();
    assert!(document["from_cache"].is_null());
    assert!(document["target"]["classpath"][0].as_str().unwrap().ends_with("moved"));
}

#[test]
fn a_changed_class_in_a_directory_is_seen() {
    let place = Place::new();
    let first = taken_apart(place.document("classes")).0;
    // Another class of the same name, length and time: nothing but a byte of its content tells.
    let path = place.at("classes/wal/Flusher.class");
    let mut bytes = fs::read(&path).unwrap();
    let text = b"cannot write flush marker";
    let at = bytes.windows(text.len()).position(|it| it == text).expect("it says so");
    bytes[at] = b'C';
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, &bytes).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    let (changed, is_kept) = taken_apart(place.document("classes"));
    assert!(!is_kept);
    assert_ne!(changed, first);
    assert!(changed["lists"]["logs"].to_string().contains("Cannot write flush marker"));
    // A class more and a class less are changes too.
    fs::copy(&path, place.at("classes/wal/Flusher2.class")).unwrap();
    assert!(!taken_apart(place.document("classes")).1);
    fs::remove_file(place.at("classes/wal/Flusher2.class")).unwrap();
    assert!(taken_apart(place.document("classes")).1, "and back again is none");
}

#[test]
fn a_changed_jar_of_the_same_size_and_time_is_seen() {
    let place = Place::new();
    let jar = place.jar("wal.jar", "beside.jar");
    let first = taken_apart(place.document("wal.jar"));
    assert!(first.0["fault_sites"].as_u64().unwrap() > 20);
    assert!(taken_apart(place.document("wal.jar")).1);
    let (old, modified) = (fs::read(&jar).unwrap(), fs::metadata(&jar).unwrap().modified().unwrap());
    let class = place.at("classes/wal/Flusher.class");
    let mut bytes = fs::read(&class).unwrap();
    let text = b"cannot write flush marker";
    let at = bytes.windows(text.len()).position(|it| it == text).expect("it says so");
    bytes[at] = b'C';
    fs::write(&class, &bytes).unwrap();
    place.jar("wal.jar", "beside.jar");
    fs::File::options().write(true).open(&jar).unwrap().set_modified(modified).unwrap();
    assert_eq!(fs::metadata(&jar).unwrap().len(), old.len() as u64);
    let (changed, is_kept) = taken_apart(place.document("wal.jar"));
    assert!(!is_kept && changed != first.0);
    // A jar that only the manifest names, and that was missing, is there now.
    assert!(taken_apart(place.document("wal.jar")).1);
    let mut beside = Jar::default();
    beside.add("wal/Other.txt", b"x");
    fs::write(place.at("beside.jar"), beside.end()).unwrap();
    assert!(!taken_apart(place.document("wal.jar")).1);
    fs::write(&jar, &old).unwrap();
    fs::remove_file(place.at("beside.jar")).unwrap();
    assert_eq!(taken_apart(place.document("wal.jar")), (first.0, true));
}

#[test]
fn a_damaged_file_is_made_again() {
    let place = Place::new();
    let (first, _) = taken_apart(place.document("classes"));
    let path = place.kept().pop().expect("it was kept");
    let whole = fs::read(&path).unwrap();
    let header = whole.iter().position(|it| *it == b'\n').unwrap();
    type Damage = fn(&mut Vec<u8>, usize);
    let damages: [(&str, Damage, &str); 9] = [
        ("empty", |it, _| it.clear(), "it has no first line"),
        ("cut in the first line", |it, header| it.truncate(header / 2), "it has no first line"),
        ("cut", |it, _| it.truncate(it.len() - 1), "it is truncated"),
        ("longer", |it, _| it.push(0), "it is truncated"),
        ("a changed byte", |it, header| it[header + 40] ^= 1, "its content was changed"),
        ("its last byte", |it, _| *it.last_mut().unwrap() ^= 1, "its content was changed"),
        (
            "another version",
            |it, _| *it = replaced(it, "\"version\":1", "\"version\":9"),
            "it is of another scan",
        ),
        ("another key", |it, _| *it = replaced(it, "\"key\":\"", "\"key\":\"0"), "it is of another scan"),
        ("something else", |it, _| *it = b"\x7fELF\n".to_vec(), "its first line is not in our format"),
    ];
    // One after the other: they share the file.
    for (name, damage, what) in damages {
        let mut bytes = whole.clone();
        damage(&mut bytes, header);
        assert_ne!(bytes, whole, "{name}");
        fs::write(&path, bytes).unwrap();
        let done = place.scan("classes").args("--json").args(ALL).end().exits(0).says(what);
        assert_eq!(taken_apart(done.outcome()), (first.clone(), false), "{name}");
    }
    assert_eq!(taken_apart(place.document("classes")), (first.clone(), true), "it was made again");
    // What is remembered of large files may be damaged too.
    for text in ["", "[{\"path\":1}]", &"[".repeat(4096)] {
        fs::write(place.at("cache/hypocenter/scans/large.json"), text).unwrap();
        assert_eq!(taken_apart(place.document("classes")), (first.clone(), true), "{text}");
    }
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|it| it == from.as_bytes()).expect("it is there");
    [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
}

#[test]
fn scans_at_once_do_not_disturb_each_other() {
    let place = Place::new();
    let documents: Vec<Value> = std::thread::scope(|scope| {
        let scans: Vec<_> =
            (0..4).map(|_| scope.spawn(|| taken_apart(place.document("classes")).0)).collect();
        scans.into_iter().map(|it| it.join().expect("it ends")).collect()
    });
    assert!(documents.iter().all(|it| *it == documents[0]));
    assert_eq!(place.kept().len(), 1);
    let left: Vec<_> = fs::read_dir(place.at("cache/hypocenter/scans")).unwrap().flatten().collect();
    assert!(left.iter().all(|it| !it.file_name().to_string_lossy().ends_with(".part")), "{left:?}");
    assert_eq!(taken_apart(place.document("classes")), (documents[0].clone(), true));
}

#[test]
fn a_place_that_cannot_be_written_is_a_note() {
    let place = Place::new();
    let (expected, _) = taken_apart(place.document("classes"));
    // A file where a directory should be, which stops even root; and a directory without the right to write.
    fs::write(place.at("file"), "x").unwrap();
    fs::create_dir(place.at("closed")).unwrap();
    fs::set_permissions(place.at("closed"), fs::Permissions::from_mode(0o500)).unwrap();
    let is_root = fs::write(place.at("closed/probe"), "x").is_ok();
    for (name, is_stopped) in [("file", true), ("closed", !is_root)] {
        let tool = place.scan("classes").env("XDG_CACHE_HOME", place.at(name).to_str().unwrap());
        let done = tool.args("--json").args(ALL).end().exits(0);
        assert_eq!(taken_apart(done.outcome()), (expected.clone(), false), "{name}");
        assert_eq!(
            done.stderr.contains("this scan cannot be cached in"),
            is_stopped,
            "{name}: {}",
            done.stderr
        );
    }
    let tool = place.scan("classes").env("XDG_CACHE_HOME", "").env("HOME", "");
    let done = tool.args("--json").args(ALL).end().exits(0);
    assert_eq!(
        taken_apart(done.outcome()),
        (expected, false),
        "nowhere to keep it is no reason to say anything"
    );
    assert_eq!(said(&done), [""; 0]);
}

#[test]
fn what_cannot_be_read_is_not_kept() {
    let place = Place::new();
    std::os::unix::fs::symlink("nowhere", place.at("classes/wal/Odd.class")).unwrap();
    for _ in 0..2 {
        let document = place.scan("classes").arg("--json").end().exits(0).outcome();
        assert!(document["from_cache"].is_null());
        assert!(document["problems"].to_string().contains("Odd"), "{document:#}");
    }
    assert_eq!(place.kept().len(), 0);
}

#[test]
fn old_scans_are_let_go() {
    let place = Place::new();
    let directory = place.at("cache/hypocenter/scans");
    fs::create_dir_all(&directory).unwrap();
    let old = |days: u64| SystemTime::now() - std::time::Duration::from_secs(days * 86_400);
    let make = |name: &str, bytes: u64, days: u64| {
        let mut file = fs::File::create(directory.join(name)).unwrap();
        file.write_all(b"x").unwrap();
        file.set_len(bytes).unwrap();
        file.set_modified(old(days)).unwrap();
    };
    (0..100).for_each(|it| make(&format!("{it:032x}.scan"), 10, 2 + it));
    make(&format!("{:032x}.scan", 1000), 600 << 20, 1);
    make(".1-1.part", 10, 1);
    make("mine.txt", 10, 1000);
    place.scan("classes").end().exits(0);
    let names: Vec<String> =
        fs::read_dir(&directory).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.contains(&"mine.txt".to_owned()), "what is not ours stays: {names:?}");
    assert!(!names.iter().any(|it| it.ends_with(".part")), "{names:?}");
    let kept: Vec<&String> = names.iter().filter(|it| it.ends_with(".scan")).collect();
    assert_eq!(kept.len(), 1, "the one of 600 MB is too much, and so is all that is older: {kept:?}");
    assert!(place.scan("classes").arg("--json").end().exits(0).outcome()["from_cache"].is_object());
}

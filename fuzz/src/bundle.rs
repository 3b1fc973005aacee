//! A folder of files as one input, from which a jar can be made: what a fuzzer changes then are names and contents, and
//! not a checksum that no longer fits.
//!
//! A file is a byte of [`flag`]s, a byte for the length of its name, the name, two bytes for the length of its content, and
//! the content. What is cut short ends with the input.

/// What is done with a file on its way into a jar.
pub mod flag {
    /// The content is a bundle itself, and becomes a jar.
    pub const NESTED: u8 = 1;
    /// The checksum is wrong.
    pub const WRONG_SUM: u8 = 2;
    /// The size that is claimed is far too large.
    pub const WRONG_SIZE: u8 = 4;
    /// It is said to be compressed, and is not.
    pub const NOT_DEFLATED: u8 = 8;
    /// It is there twice.
    pub const TWICE: u8 = 16;
}

/// How deep jars lie in jars, at most.
const DEPTH_MAX: u32 = 4;
/// How many files a bundle has, at most.
const FILES_MAX: usize = 256;

/// A file of a bundle.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    pub flags: u8,
    pub name: &'a [u8],
    pub content: &'a [u8],
}

/// The files of a bundle.
pub fn files(mut bytes: &[u8]) -> Vec<File<'_>> {
    let mut files = Vec::new();
    while let ([flags, length, rest @ ..], true) = (bytes, files.len() < FILES_MAX) {
        let (name, rest) = rest.split_at(rest.len().min(usize::from(*length)));
        let (length, rest) = rest.split_at(rest.len().min(2));
        let length = length.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let (content, rest) = rest.split_at(rest.len().min(length));
        files.push(File { flags: *flags, name, content });
        bytes = rest;
    }
    files
}

/// A file as it stands in a bundle. What is too long is cut.
pub fn put(bundle: &mut Vec<u8>, file: File<'_>) {
    let name = &file.name[..file.name.len().min(usize::from(u8::MAX))];
    let content = &file.content[..file.content.len().min(usize::from(u16::MAX))];
    bundle.extend([file.flags, name.len() as u8]);
    bundle.extend(name);
    bundle.extend((content.len() as u16).to_le_bytes());
    bundle.extend(content);
}

/// The jar of some files.
pub fn jar(files: &[File<'_>]) -> Vec<u8> {
    let mut jar = Jar::default();
    files.iter().for_each(|it| jar.add(*it, 0));
    jar.finish()
}

/// A jar being written: entries, and the directory that goes behind them.
#[derive(Default)]
struct Jar {
    entries: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

impl Jar {
    fn add(&mut self, file: File<'_>, depth: u32) {
        let inner;
        let content = if file.flags & flag::NESTED != 0 && depth < DEPTH_MAX {
            let mut jar = Jar::default();
            files(file.content).iter().for_each(|it| jar.add(*it, depth + 1));
            inner = jar.finish();
            &inner[..]
        } else {
            file.content
        };
        let times = if file.flags & flag::TWICE != 0 { 2 } else { 1 };
        for _ in 0..times {
            self.put(file.flags, file.name, content);
        }
    }

    fn put(&mut self, flags: u8, name: &[u8], content: &[u8]) {
        let mut sum = flate2::Crc::new();
        sum.update(content);
        let sum = sum.sum() ^ u32::from(flags & flag::WRONG_SUM != 0);
        let method: u16 = if flags & flag::NOT_DEFLATED != 0 { 8 } else { 0 };
        let size = content.len() as u32;
        let claimed = if flags & flag::WRONG_SIZE != 0 { u32::MAX - 1 } else { size };
        let at = self.entries.len() as u32;
        // Version, flags, method, time and date; then sum, sizes and the length of the name, in both headers.
        let mut common = Vec::new();
        common.extend([20, 0, 0, 0]);
        common.extend(method.to_le_bytes());
        common.extend([0; 4]);
        common.extend([sum, size, claimed].iter().flat_map(|it| it.to_le_bytes()));
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        self.entries.extend(b"PK\x03\x04");
        self.entries.extend(&common);
        self.entries.extend(name);
        self.entries.extend(content);
        self.directory.extend(b"PK\x01\x02\x14\0");
        self.directory.extend(&common);
        self.directory.extend([0; 10]);
        self.directory.extend(at.to_le_bytes());
        self.directory.extend(name);
        self.count = self.count.wrapping_add(1);
    }

    fn finish(self) -> Vec<u8> {
        let mut bytes = self.entries;
        let at = bytes.len() as u32;
        bytes.extend(&self.directory);
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        bytes.extend([self.count, self.count].iter().flat_map(|it| it.to_le_bytes()));
        bytes.extend([self.directory.len() as u32, at].iter().flat_map(|it| it.to_le_bytes()));
        bytes.extend([0; 2]);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hypocenter_program::ClassPath;

    #[test]
    fn a_bundle_comes_back_and_its_jar_can_be_opened() {
        let mut inner = Vec::new();
        put(&mut inner, File { flags: 0, name: b"b/D.class", content: b"three" });
        let mut bundle = Vec::new();
        put(&mut bundle, File { flags: 0, name: b"a/C.class", content: b"one" });
        put(&mut bundle, File { flags: flag::NESTED, name: b"BOOT-INF/lib/x.jar", content: &inner });
        put(&mut bundle, File { flags: flag::WRONG_SUM, name: b"a/E.class", content: b"two" });
        let files = files(&bundle);
        assert_eq!(
            files.iter().map(|it| it.name).collect::<Vec<_>>(),
            [&b"a/C.class"[..], b"BOOT-INF/lib/x.jar", b"a/E.class"]
        );
        let path = std::env::temp_dir().join(format!("hypocenter-bundle-{}.jar", std::process::id()));
        std::fs::write(&path, jar(&files)).unwrap();
        let classes = ClassPath::from_paths(vec![path.clone()]).open(17);
        std::fs::remove_file(path).unwrap();
        assert_eq!(classes.problems(), []);
        assert_eq!(classes.names().collect::<Vec<_>>(), ["a.C", "a.E", "b.D"]);
        assert_eq!(classes.read("a.C").unwrap().unwrap(), b"one");
        assert_eq!(classes.read("b.D").unwrap().unwrap(), b"three");
        assert!(classes.read("a.E").unwrap().is_err());
        assert!(super::files(b"\0").is_empty() && super::files(b"\0\x09abc")[0].name == b"abc");
    }
}

//! The instrumentation map: which class, method and instruction gets which hook.
//!
//! The tool writes it once for a target ([`MapBuilder`]), every JVM maps it read-only ([`Map`]) and finds a class
//! by binary search as it loads. It also carries what is needed to name a site for people, so a trace is
//! readable with its map alone.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use hypocenter_plan::{Site, SiteKind};
use rustc_hash::FxHashMap;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The number of a site: dense, from 0, in the order of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteId(pub u32);

/// Where the code of a hook goes, relative to an instruction. The numbers are part of the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Placement {
    /// Whenever control reaches the instruction.
    Before = 1,
    /// When the instruction has ended and control falls through.
    After = 2,
    /// At method entry.
    Entry = 3,
    /// Before the instruction, on the listed ways in only.
    Edges = 4,
    /// Where an exception leaves the method.
    Unwind = 5,
    /// When an exception comes out of the instruction, which is a call.
    Thrown = 6,
}

impl Placement {
    fn from_u8(number: u8) -> Option<Placement> {
        use Placement::*;
        [Before, After, Entry, Edges, Unwind, Thrown].into_iter().find(|&it| it as u8 == number)
    }
}

/// A way into an instruction: the `pc` of a jump, or [`FALL_THROUGH`].
pub const FALL_THROUGH: u32 = u32::MAX;

const MAGIC: [u8; 8] = *b"HYPOMAP\0";
/// The version of this layout: a reader takes this one and no other.
pub(crate) const MAP_VERSION: u32 = 1;

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    class_count: u32,
    method_count: u32,
    hook_count: u32,
    site_count: u32,
    edge_count: u32,
    string_bytes: u32,
    reserved: u32,
    digest: u64,
}

#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Text {
    at: u32,
    len: u32,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct ClassEntry {
    name: Text,
    methods_start: u32,
    methods_len: u32,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct MethodEntry {
    name: Text,
    descriptor: Text,
    digest: u64,
    symbolic: u64,
    hooks_start: u32,
    hooks_len: u32,
    class: u32,
    index: u32,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct HookEntry {
    site: u32,
    edges_start: u32,
    edges_len: u16,
    pc: u16,
    instruction: u16,
    placement: u8,
    reserved: u8,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct SiteEntry {
    method: u32,
    callee: Text,
    line: u32,
    ordinal: u16,
    total: u16,
    kind: u8,
    reserved: [u8; 3],
}

/// What is wrong with a map.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// The file cannot be read or written.
    #[error(
        "instrumentation map {path}: {source}; a trial needs a directory that can be written, with room on its disk"
    )]
    Io {
        /// Which file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The bytes are not a map of this version.
    #[error("instrumentation map: {0}; delete it and let the tool write it again")]
    Malformed(&'static str),
    /// More than the layout can hold.
    #[error("instrumentation map: more than {limit} {what}; name fewer packages or hook kinds")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
}

/// What the builder is told of a site.
#[derive(Debug, Clone, Copy)]
pub struct NewSite<'a> {
    /// Its kind.
    pub kind: SiteKind,
    /// For calls: `owner.name(descriptor)` with dots in the owner; else empty.
    pub callee: &'a str,
    /// The how-manieth of its kind and callee in the method.
    pub ordinal: u16,
    /// How many of that kind and callee the method has.
    pub total: u16,
    /// The source line, 0 if unknown.
    pub line: u32,
}

/// Writes a map. Classes, methods, sites and hooks are given in nesting order.
#[derive(Debug, Default)]
pub struct MapBuilder {
    classes: Vec<ClassEntry>,
    methods: Vec<MethodEntry>,
    hooks: Vec<HookEntry>,
    sites: Vec<SiteEntry>,
    edges: Vec<u32>,
    strings: Vec<u8>,
    interned: FxHashMap<Box<[u8]>, Text>,
}

impl MapBuilder {
    /// An empty map.
    pub fn new() -> MapBuilder {
        MapBuilder::default()
    }

    fn text(&mut self, bytes: &[u8]) -> Text {
        if let Some(&text) = self.interned.get(bytes) {
            return text;
        }
        let text = Text { at: self.strings.len() as u32, len: bytes.len() as u32 };
        self.strings.extend_from_slice(bytes);
        self.interned.insert(bytes.into(), text);
        text
    }

    /// Begins a class, by its internal name (with slashes).
    pub fn class(&mut self, internal_name: &[u8]) {
        let name = self.text(internal_name);
        self.classes.push(ClassEntry { name, methods_start: self.methods.len() as u32, methods_len: 0 });
    }

    /// Begins a method of the class begun last. `index` is its place among the class's methods; the digests are
    /// those of `classfile`, for the raw and for the symbolic code.
    pub fn method(&mut self, index: u32, name: &[u8], descriptor: &[u8], digest: u64, symbolic: u64) {
        let class = self.classes.len().checked_sub(1).expect("a class is begun before its methods");
        let entry = MethodEntry {
            name: self.text(name),
            descriptor: self.text(descriptor),
            digest,
            symbolic,
            hooks_start: self.hooks.len() as u32,
            hooks_len: 0,
            class: class as u32,
            index,
        };
        self.methods.push(entry);
        self.classes[class].methods_len += 1;
    }

    /// Adds a site to the method begun last. Its hooks follow.
    pub fn site(&mut self, site: NewSite<'_>) -> SiteId {
        let method = self.methods.len().checked_sub(1).expect("a method is begun before its sites");
        let id = SiteId(self.sites.len() as u32);
        let callee = self.text(site.callee.as_bytes());
        self.sites.push(SiteEntry {
            method: method as u32,
            callee,
            line: site.line,
            ordinal: site.ordinal,
            total: site.total,
            kind: site.kind as u8,
            reserved: [0; 3],
        });
        id
    }

    /// Adds a hook for the site added last: at the instruction at `pc`, the `instruction`-th of the method.
    /// `edges` are the ways in for [`Placement::Edges`], empty otherwise.
    pub fn hook(&mut self, placement: Placement, pc: u16, instruction: u16, edges: &[u32]) {
        let site = self.sites.len().checked_sub(1).expect("a site is added before its hooks");
        let edges_start = self.edges.len() as u32;
        self.edges.extend_from_slice(edges);
        self.hooks.push(HookEntry {
            site: site as u32,
            edges_start,
            edges_len: edges.len() as u16,
            pc,
            instruction,
            placement: placement as u8,
            reserved: 0,
        });
        self.methods.last_mut().expect("a site has a method").hooks_len += 1;
    }

    /// How many sites were added.
    pub fn site_count(&self) -> usize {
        self.sites.len()
    }

    /// The finished map as bytes. A class that was begun twice is kept once, as it was first.
    pub fn finish(mut self) -> Result<Vec<u8>, MapError> {
        for (what, len, limit) in [
            ("sites", self.sites.len(), i32::MAX as u64),
            ("hooks", self.hooks.len(), u64::from(u32::MAX)),
            ("bytes of names", self.strings.len(), u64::from(u32::MAX)),
        ] {
            if len as u64 > limit {
                return Err(MapError::TooLarge { what, limit });
            }
        }
        // The order of methods stays as it was built: only the class directory is sorted, because sites name
        // methods by index and methods name classes by index.
        let old_names: Vec<Text> = self.classes.iter().map(|class| class.name).collect();
        let strings = &self.strings;
        let bytes_of = |text: Text| &strings[text.at as usize..(text.at + text.len) as usize];
        self.classes.sort_by(|a, b| bytes_of(a.name).cmp(bytes_of(b.name)));
        self.classes.dedup_by(|later, first| bytes_of(later.name) == bytes_of(first.name));
        let place: FxHashMap<(u32, u32), u32> = self
            .classes
            .iter()
            .enumerate()
            .map(|(at, class)| ((class.name.at, class.name.len), at as u32))
            .collect();
        for method in &mut self.methods {
            let name = old_names[method.class as usize];
            method.class = place[&(name.at, name.len)];
        }
        let mut header = Header {
            magic: MAGIC,
            version: MAP_VERSION,
            class_count: self.classes.len() as u32,
            method_count: self.methods.len() as u32,
            hook_count: self.hooks.len() as u32,
            site_count: self.sites.len() as u32,
            edge_count: self.edges.len() as u32,
            string_bytes: self.strings.len() as u32,
            reserved: 0,
            digest: 0,
        };
        let sections: [&[u8]; 6] = [
            self.methods.as_bytes(),
            self.classes.as_bytes(),
            self.hooks.as_bytes(),
            self.sites.as_bytes(),
            self.edges.as_bytes(),
            &self.strings,
        ];
        header.digest = sections.iter().fold(0, |digest, section| crate::hash::bytes(section, digest));
        let mut out =
            Vec::with_capacity(size_of::<Header>() + sections.iter().map(|s| s.len()).sum::<usize>());
        out.extend_from_slice(header.as_bytes());
        for section in sections {
            out.extend_from_slice(section);
        }
        Ok(out)
    }

    /// Writes the finished map to a file and returns its digest.
    pub fn write(self, path: &Path) -> Result<u64, MapError> {
        let (bytes, digest) = self.encode()?;
        let io = |source| MapError::Io { path: path.display().to_string(), source };
        let mut file = File::create(path).map_err(io)?;
        file.write_all(&bytes).map_err(io)?;
        Ok(digest)
    }

    /// The finished map as the bytes of its file, and its digest.
    pub fn encode(self) -> Result<(Vec<u8>, u64), MapError> {
        let bytes = self.finish()?;
        let digest = Map::new(&bytes)?.digest();
        Ok((bytes, digest))
    }
}

/// A map, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Map<'a> {
    header: &'a Header,
    methods: &'a [MethodEntry],
    classes: &'a [ClassEntry],
    hooks: &'a [HookEntry],
    sites: &'a [SiteEntry],
    edges: &'a [u32],
    strings: &'a [u8],
}

impl<'a> Map<'a> {
    /// Reads the layout; the bytes must be aligned to 8 (a mapped file or a `Vec<u64>` is).
    pub fn new(bytes: &'a [u8]) -> Result<Map<'a>, MapError> {
        let (header, mut rest) =
            Header::ref_from_prefix(bytes).map_err(|_| MapError::Malformed("the file is too short"))?;
        if header.magic != MAGIC {
            return Err(MapError::Malformed("the file is something else"));
        }
        if header.version != MAP_VERSION {
            return Err(MapError::Malformed("the file is of another version"));
        }
        fn section<'a, T: FromBytes + KnownLayout + Immutable>(
            rest: &mut &'a [u8],
            count: u32,
        ) -> Result<&'a [T], MapError> {
            let (section, after) = <[T]>::ref_from_prefix_with_elems(rest, count as usize)
                .map_err(|_| MapError::Malformed("the file is cut short"))?;
            *rest = after;
            Ok(section)
        }
        Ok(Map {
            header,
            methods: section(&mut rest, header.method_count)?,
            classes: section(&mut rest, header.class_count)?,
            hooks: section(&mut rest, header.hook_count)?,
            sites: section(&mut rest, header.site_count)?,
            edges: section(&mut rest, header.edge_count)?,
            strings: section(&mut rest, header.string_bytes)?,
        })
    }

    /// The digest that ties a trial to its map.
    pub fn digest(&self) -> u64 {
        self.header.digest
    }

    /// How many sites there are.
    pub fn site_count(&self) -> usize {
        self.sites.len()
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    fn text(&self, text: Text) -> &'a [u8] {
        let start = text.at as usize;
        self.strings.get(start..start.saturating_add(text.len as usize)).unwrap_or(b"?")
    }

    /// The class with this internal name.
    pub fn class(&self, internal_name: &[u8]) -> Option<MapClass<'a>> {
        let at = self.classes.binary_search_by(|entry| self.text(entry.name).cmp(internal_name)).ok()?;
        self.class_at(at)
    }

    /// The class at an index of the map.
    pub fn class_at(&self, index: usize) -> Option<MapClass<'a>> {
        self.classes.get(index).map(|entry| MapClass { map: *self, entry, index })
    }

    /// The site with this id, for people and for plans.
    pub fn site(&self, id: SiteId) -> Option<Site> {
        let entry = self.sites.get(id.0 as usize)?;
        let method = self.methods.get(entry.method as usize)?;
        let class = self.classes.get(method.class as usize)?;
        let lossy = |text: Text| String::from_utf8_lossy(self.text(text)).into_owned();
        Some(Site {
            class: lossy(class.name).replace('/', "."),
            method: lossy(method.name),
            descriptor: lossy(method.descriptor),
            kind: SiteKind::from_u8(entry.kind)?,
            callee: (entry.callee.len > 0).then(|| lossy(entry.callee)),
            ordinal: u32::from(entry.ordinal),
            line: (entry.line > 0).then_some(entry.line),
        })
    }

    /// The id of a site, found by its identity.
    pub fn find(&self, wanted: &Site) -> Option<SiteId> {
        let class = self.class(wanted.class.replace('.', "/").as_bytes())?;
        let is = |bytes: &[u8], text: &str| String::from_utf8_lossy(bytes) == text;
        let methods = class.methods().filter(|method| {
            is(method.name(), &wanted.method) && is(method.descriptor(), &wanted.descriptor)
        });
        methods.flat_map(|method| method.hooks()).map(|hook| hook.site).find(|&id| {
            let alike = self.sites.get(id.0 as usize).is_some_and(|site| {
                site.kind == wanted.kind as u8 && u32::from(site.ordinal) == wanted.ordinal
            });
            alike && self.site(id).is_some_and(|site| site.same_point(wanted))
        })
    }

    /// The kind of a site.
    pub fn kind(&self, id: SiteId) -> Option<SiteKind> {
        SiteKind::from_u8(self.sites.get(id.0 as usize)?.kind)
    }

    /// The index of the class a site is in.
    pub fn class_of(&self, id: SiteId) -> Option<usize> {
        let site = self.sites.get(id.0 as usize)?;
        Some(self.methods.get(site.method as usize)?.class as usize)
    }

    /// The callee of a site as `owner.name(descriptor)`, its ordinal, and how many such the method has.
    pub fn match_key(&self, id: SiteId) -> Option<(&'a [u8], u16, u16)> {
        let site = self.sites.get(id.0 as usize)?;
        Some((self.text(site.callee), site.ordinal, site.total))
    }
}

/// A class of a map.
#[derive(Debug, Clone, Copy)]
pub struct MapClass<'a> {
    map: Map<'a>,
    entry: &'a ClassEntry,
    /// Its index in the map.
    pub index: usize,
}

impl<'a> MapClass<'a> {
    /// The internal name.
    pub fn name(&self) -> &'a [u8] {
        self.map.text(self.entry.name)
    }

    /// The methods that have hooks.
    pub fn methods(&self) -> impl Iterator<Item = MapMethod<'a>> + use<'a> {
        let map = self.map;
        let start = self.entry.methods_start as usize;
        let methods =
            map.methods.get(start..start.saturating_add(self.entry.methods_len as usize)).unwrap_or(&[]);
        methods.iter().map(move |entry| MapMethod { map, entry })
    }
}

/// A method of a map.
#[derive(Debug, Clone, Copy)]
pub struct MapMethod<'a> {
    map: Map<'a>,
    entry: &'a MethodEntry,
}

impl<'a> MapMethod<'a> {
    /// Its name.
    pub fn name(&self) -> &'a [u8] {
        self.map.text(self.entry.name)
    }

    /// Its descriptor.
    pub fn descriptor(&self) -> &'a [u8] {
        self.map.text(self.entry.descriptor)
    }

    /// Its place among the methods of the class that was scanned.
    pub fn index(&self) -> usize {
        self.entry.index as usize
    }

    /// The digest of its raw code.
    pub fn digest(&self) -> u64 {
        self.entry.digest
    }

    /// The digest of its code with the constant pool resolved.
    pub fn symbolic_digest(&self) -> u64 {
        self.entry.symbolic
    }

    /// Its hooks, in the order they were added.
    pub fn hooks(&self) -> impl Iterator<Item = MapHook<'a>> + use<'a> {
        let map = self.map;
        let start = self.entry.hooks_start as usize;
        let hooks = map.hooks.get(start..start.saturating_add(self.entry.hooks_len as usize)).unwrap_or(&[]);
        hooks.iter().filter_map(move |entry| {
            let edges = entry.edges_start as usize;
            Some(MapHook {
                site: SiteId(entry.site),
                pc: entry.pc,
                instruction: entry.instruction,
                placement: Placement::from_u8(entry.placement)?,
                edges: map.edges.get(edges..edges.saturating_add(usize::from(entry.edges_len)))?,
            })
        })
    }
}

/// A hook of a map.
#[derive(Debug, Clone, Copy)]
pub struct MapHook<'a> {
    /// The site it reports.
    pub site: SiteId,
    /// The instruction in the code that was scanned.
    pub pc: u16,
    /// The number of that instruction in the method.
    pub instruction: u16,
    /// Where it goes.
    pub placement: Placement,
    /// For [`Placement::Edges`]: the ways in, as `pc`s of jumps or [`FALL_THROUGH`].
    pub edges: &'a [u32],
}

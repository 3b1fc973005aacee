//! Loading: from the bytes of a class path to the numbered [`World`].

use hypocenter_classfile::{ClassFile, Constant, display_name};
use hypocenter_plan::Problem;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lists::Lists;
use crate::loading::classes::{Classes, parse_class};
use crate::loading::scope::Scope;
use crate::loading::world::{
    Field, FieldId, Method, MethodId, MethodRef, NONE, Origin, RefId, SignatureId, SystemClass, Type, TypeId,
    World,
};

/// Maximum depth of lookups of the supertypes and exceptions of libraries; deeper ones stay phantoms.
const ROUNDS_MAX: usize = 64;

/// Reads the classes of the system, and of the libraries and the JDK as far as the system names them: hierarchy,
/// signatures and declared exceptions. A class that cannot be read is a problem, and a phantom where it is named.
pub fn load(classes: &Classes, scope: &Scope) -> (World, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut files: Vec<File> = Vec::new();
    for (name, bytes) in classes.read_all(|name, is_jdk| scope.takes(name, is_jdk)) {
        match bytes {
            Ok(bytes) => files.push(File { name: name.to_owned(), bytes, origin: Origin::System }),
            Err(problem) => problems.push(problem),
        }
    }
    let unreadable: Vec<Option<Problem>> =
        files.par_iter().map(|file| parse_class(&file.name, &file.bytes).err()).collect();
    let mut keep = unreadable.iter().map(Option::is_none);
    files.retain(|_| keep.next().unwrap_or(false));
    problems.extend(unreadable.into_iter().flatten());

    let library = libraries(classes, &files, scope.known(), &mut problems);
    files.extend(library);
    files.par_sort_by(|a, b| a.name.cmp(&b.name));
    let parsed: Vec<ClassFile<'_>> =
        files.par_iter().map(|file| ClassFile::parse(&file.bytes).expect("was read before")).collect();
    let mut world = Building::default();
    world.types(&files, &parsed);
    world.members(&parsed);
    let pools = world.references(&files, &parsed);
    let mut world = world.world;
    world.find_callbacks();
    drop(parsed);
    let mut pools = pools.into_iter();
    for file in files.into_iter().filter(|it| it.origin == Origin::System) {
        let id = world.find_type(&internal(&file.name)).expect("every file has its type");
        world.types[id.index()].system = world.system.len() as u32;
        let pool = pools.next().expect("a pool a class");
        world.system.push(SystemClass { id, bytes: file.bytes, pool });
    }
    (world, problems)
}

struct File {
    /// With dots.
    name: String,
    bytes: Vec<u8>,
    origin: Origin,
}

fn internal(name: &str) -> Vec<u8> {
    // Names of files are UTF-8, names in class files modified UTF-8; they differ only beyond the BMP and for NUL,
    // and then the class is not found and stays a phantom.
    name.bytes().map(|b| if b == b'.' { b'/' } else { b }).collect()
}

/// The class of an array, or the class itself; none for primitives.
fn element(name: &[u8]) -> Option<&[u8]> {
    if name.first() != Some(&b'[') {
        return Some(name);
    }
    let start = name.iter().position(|&b| b != b'[')?;
    name[start..].strip_prefix(b"L")?.strip_suffix(b";")
}

/// The classes that a class names as constants.
fn named<'a>(class: &ClassFile<'a>) -> impl Iterator<Item = &'a [u8]> {
    let pool = class.pool.clone();
    (1..class.pool.len()).filter_map(move |index| match pool.get(index) {
        Ok(Constant::Class { .. }) => element(pool.class_name(index).ok()?),
        _ => None,
    })
}

/// Required facts of a library class: its superclass, and the exceptions of its methods.
fn above<'a>(class: &ClassFile<'a>) -> Vec<&'a [u8]> {
    let mut names: Vec<&[u8]> = class.super_name().into_iter().chain(class.interfaces()).collect();
    for method in class.methods() {
        names.extend(method.exceptions().unwrap_or_default());
    }
    names
}

/// A class of a library, and the classes that it stands on.
type Library = (File, Vec<String>);

/// The library classes that the system names, these, and what those stand on.
fn libraries(classes: &Classes, system: &[File], also: &[String], problems: &mut Vec<Problem>) -> Vec<File> {
    let mut known: FxHashSet<Box<str>> = system.iter().map(|file| file.name.as_str().into()).collect();
    let lists: Vec<Vec<String>> = system
        .par_iter()
        .map(|file| {
            let class = ClassFile::parse(&file.bytes).expect("was read before");
            let mut names: Vec<&[u8]> = named(&class).collect();
            names.extend(above(&class));
            names.sort_unstable();
            names.dedup();
            names.into_iter().map(display_name).collect()
        })
        .collect();
    let mut wanted: Vec<String> = lists.into_iter().flatten().collect();
    wanted.extend(
        ["java.lang.Object", "java.lang.Throwable", "java.lang.RuntimeException", "java.lang.Error"]
            .map(String::from),
    );
    wanted.extend_from_slice(also);
    let mut found = Vec::new();
    for _ in 0..ROUNDS_MAX {
        wanted.retain(|name| known.insert(name.as_str().into()));
        wanted.sort_unstable();
        if wanted.is_empty() {
            break;
        }
        let round: Vec<Option<Result<Library, Problem>>> = wanted
            .par_iter()
            .map(|name| {
                let bytes = classes.read(name)?;
                let read = || {
                    let bytes = bytes?;
                    let class = parse_class(name, &bytes)?;
                    let next = above(&class).into_iter().map(display_name).collect();
                    let origin = if classes.is_jdk(name) { Origin::Jdk } else { Origin::Library };
                    Ok((File { name: name.clone(), bytes, origin }, next))
                };
                Some(read())
            })
            .collect();
        wanted.clear();
        for it in round.into_iter().flatten() {
            match it {
                Ok((file, next)) => {
                    found.push(file);
                    wanted.extend(next);
                }
                Err(problem) => problems.push(problem),
            }
        }
    }
    found
}

#[derive(Default)]
struct Building {
    world: World,
    refs: FxHashMap<(TypeId, SignatureId), RefId>,
    phantom_fields: FxHashMap<(TypeId, SignatureId), FieldId>,
}

impl Building {
    fn types(&mut self, files: &[File], parsed: &[ClassFile<'_>]) {
        let mut phantoms: FxHashSet<&[u8]> = FxHashSet::default();
        for (class, file) in parsed.iter().zip(files) {
            phantoms.extend(above(class));
            if file.origin == Origin::System {
                phantoms.extend(named(class));
            }
        }
        let mut all: Vec<(&[u8], Option<usize>)> =
            parsed.iter().enumerate().map(|(at, class)| (class.name(), Some(at))).collect();
        for (name, _) in &all {
            phantoms.remove(name);
        }
        all.extend(phantoms.into_iter().map(|name| (name, None)));
        all.par_sort_unstable();
        let world = &mut self.world;
        for &(name, file) in &all {
            let (access, origin) =
                file.map_or((0, Origin::Phantom), |at| (parsed[at].access, files[at].origin));
            let name = world.names.intern(name);
            assert_eq!(name.0 as usize, world.types.len(), "a type has the number of its name");
            world.types.push(Type { name, parent: None, access, origin, system: NONE });
        }
        for (at, (_, file)) in all.iter().enumerate() {
            let Some(class) = file.map(|it| &parsed[it]) else {
                world.interfaces.close();
                continue;
            };
            world.types[at].parent = class.super_name().and_then(|it| world.find_type(it));
            let interfaces: Vec<TypeId> = class.interfaces().filter_map(|it| world.find_type(it)).collect();
            world.interfaces.add(interfaces);
        }
        let ancestors: Vec<Vec<TypeId>> =
            (0..all.len() as u32).into_par_iter().map(|it| ancestors(world, TypeId(it))).collect();
        ancestors.into_iter().for_each(|it| world.ancestors.add(it));
        let pairs = world
            .ancestors
            .iter()
            .enumerate()
            .flat_map(|(below, above)| above.iter().map(move |it| (it.0, TypeId(below as u32))));
        world.descendants = Lists::of(all.len(), pairs);
    }

    fn signature(&mut self, name: &[u8], descriptor: &[u8]) -> SignatureId {
        let World { names, signatures, signature_index, .. } = &mut self.world;
        let pair = (names.intern(name), names.intern(descriptor));
        *signature_index.entry(pair).or_insert_with(|| {
            signatures.push(pair);
            SignatureId(signatures.len() as u32 - 1)
        })
    }

    fn members(&mut self, parsed: &[ClassFile<'_>]) {
        // Files and types are both in the order of names, but phantoms have no file and the orders of text with
        // dots and with slashes differ.
        let mut of_type: Vec<Option<&ClassFile<'_>>> = vec![None; self.world.types.len()];
        for class in parsed {
            let id = self.world.find_type(class.name()).expect("every file has its type");
            of_type[id.index()] = Some(class);
        }
        for (at, class) in of_type.into_iter().enumerate() {
            let owner = TypeId(at as u32);
            self.world.method_starts.push(self.world.methods.len() as u32);
            self.world.field_starts.push(self.world.fields.len() as u32);
            let (mut methods, mut fields) = (Vec::new(), Vec::new());
            for (member, it) in class.iter().flat_map(|it| it.methods()).enumerate() {
                let signature = self.signature(it.name, it.descriptor);
                methods.push((signature, MethodId(self.world.methods.len() as u32)));
                self.world.methods.push(Method {
                    owner,
                    signature,
                    access: it.access,
                    member: member as u16,
                });
                let throws = it.exceptions().unwrap_or_default();
                let throws: Vec<TypeId> =
                    throws.into_iter().filter_map(|it| self.world.find_type(it)).collect();
                self.world.throws.add(throws);
            }
            for it in class.iter().flat_map(|it| it.fields()) {
                let signature = self.signature(it.name, it.descriptor);
                fields.push((signature, FieldId(self.world.fields.len() as u32)));
                self.world.fields.push(Field { owner, signature, access: it.access });
            }
            methods.sort_unstable();
            fields.sort_unstable();
            self.world.method_index.add(methods);
            self.world.field_index.add(fields);
        }
        self.world.method_starts.push(self.world.methods.len() as u32);
        self.world.field_starts.push(self.world.fields.len() as u32);
    }

    /// The tables from the constants of each class of the system to numbers.
    fn references(&mut self, files: &[File], parsed: &[ClassFile<'_>]) -> Vec<Box<[u32]>> {
        let object = self.world.find_type(b"java/lang/Object");
        let mut pools = Vec::new();
        for (class, _) in parsed.iter().zip(files).filter(|(_, file)| file.origin == Origin::System) {
            let pool = &class.pool;
            let mut table = vec![NONE; usize::from(pool.len())];
            for index in 1..pool.len() {
                let slot = match pool.get(index) {
                    Ok(Constant::Class { .. }) => {
                        pool.class_name(index).ok().and_then(|it| self.world.find_type(it)).map(|it| it.0)
                    }
                    Ok(Constant::Methodref { .. } | Constant::InterfaceMethodref { .. }) => {
                        self.member(class, index, object).map(|(owner, it)| self.method_ref(owner, it).0)
                    }
                    Ok(Constant::Fieldref { .. }) => {
                        self.member(class, index, object).map(|(owner, it)| self.field_ref(owner, it).0)
                    }
                    _ => None,
                };
                table[usize::from(index)] = slot.unwrap_or(NONE);
            }
            pools.push(table.into_boxed_slice());
        }
        pools
    }

    fn member(
        &mut self,
        class: &ClassFile<'_>,
        index: u16,
        object: Option<TypeId>,
    ) -> Option<(TypeId, SignatureId)> {
        let it = class.pool.member(index).ok()?;
        // An array has the methods of Object.
        let owner = if it.owner.starts_with(b"[") { object } else { self.world.find_type(it.owner) };
        Some((owner?, self.signature(it.name, it.descriptor)))
    }

    fn method_ref(&mut self, owner: TypeId, signature: SignatureId) -> RefId {
        let world = &mut self.world;
        *self.refs.entry((owner, signature)).or_insert_with(|| {
            let method = world.resolve(owner, signature);
            world.refs.push(MethodRef { owner, signature, method });
            RefId(world.refs.len() as u32 - 1)
        })
    }

    /// The field, or a new one without a class file if it is not found.
    fn field_ref(&mut self, owner: TypeId, signature: SignatureId) -> FieldId {
        if let Some(found) = self.world.resolve_field(owner, signature) {
            return found;
        }
        let fields = &mut self.world.fields;
        *self.phantom_fields.entry((owner, signature)).or_insert_with(|| {
            fields.push(Field { owner, signature, access: 0 });
            FieldId(fields.len() as u32 - 1)
        })
    }
}

fn ancestors(world: &World, id: TypeId) -> Vec<TypeId> {
    let mut found: Vec<TypeId> = Vec::new();
    let direct = |it: TypeId| world.get(it).parent.into_iter().chain(world.interfaces(it).iter().copied());
    let mut pending: Vec<TypeId> = direct(id).collect();
    let mut seen: FxHashSet<TypeId> = FxHashSet::default();
    while let Some(it) = pending.pop() {
        if it != id && seen.insert(it) {
            found.push(it);
            pending.extend(direct(it));
        }
    }
    found.sort_unstable();
    found
}

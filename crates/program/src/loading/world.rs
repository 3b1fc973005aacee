//! The classes of the target and of the libraries it uses, by number: types, methods, fields and the references to
//! them, resolved as a JVM resolves them.

use hypocenter_classfile::{ClassFile, descriptor, display_name};

use rustc_hash::FxHashMap;

use crate::lists::Lists;
use crate::loading::names::{NameId, Names};
use crate::methods::body::Body;
use crate::methods::view::MethodView;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A class or interface, in the order of the names.
    TypeId;
    /// A method of a class, in the order of the classes and within them of the files.
    MethodId;
    /// A field of a class, in the same order.
    FieldId;
    /// A name with a descriptor.
    SignatureId;
    /// A method as the code of the target names it: a class and a signature.
    RefId;
}

/// No number.
pub(crate) const NONE: u32 = u32::MAX;
/// The longest chain of superclasses that is followed; class files may extend each other in a ring.
const DEPTH_MAX: usize = 256;

/// Access flags that matter here.
pub mod access {
    #![allow(missing_docs)]
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const INTERFACE: u16 = 0x0200;
    pub const ABSTRACT: u16 = 0x0400;
    pub const SYNTHETIC: u16 = 0x1000;
    pub const ENUM: u16 = 0x4000;
}

/// To whom a class belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The system under test: its code is analysed.
    System,
    /// A library on the class path.
    Library,
    /// The JDK.
    Jdk,
    /// It is named and not found.
    Phantom,
}

/// A class or interface.
#[derive(Debug, Clone)]
pub struct Type {
    /// The internal name.
    pub name: NameId,
    /// The superclass; none for `java/lang/Object` and phantoms.
    pub parent: Option<TypeId>,
    /// The access flags.
    pub access: u16,
    /// To whom it belongs.
    pub origin: Origin,
    /// Its place in [`World::system_classes`], for classes of the system.
    pub(crate) system: u32,
}

/// A method.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// The class that declares it.
    pub owner: TypeId,
    /// Name and descriptor.
    pub signature: SignatureId,
    /// The access flags.
    pub access: u16,
    /// Its number in the class file.
    pub member: u16,
}

impl Method {
    /// Tests whether it has no body to run: abstract.
    pub fn is_abstract(&self) -> bool {
        self.access & access::ABSTRACT != 0
    }

    /// Tests whether it belongs to the class rather than to an object.
    pub fn is_static(&self) -> bool {
        self.access & access::STATIC != 0
    }
}

/// A field.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The class that declares it.
    pub owner: TypeId,
    /// Name and descriptor.
    pub signature: SignatureId,
    /// The access flags.
    pub access: u16,
}

/// A method as it is named by code.
#[derive(Debug, Clone, Copy)]
pub struct MethodRef {
    /// The class that is named.
    pub owner: TypeId,
    /// Name and descriptor.
    pub signature: SignatureId,
    /// The declaration that is meant; none if it is not found (phantoms).
    pub method: Option<MethodId>,
}

/// A class of the system, with its bytes.
pub struct SystemClass {
    /// Which.
    pub id: TypeId,
    /// The class file, which has been read without an error.
    pub bytes: Vec<u8>,
    /// For each constant the number of what it names: a [`TypeId`], [`RefId`] or [`FieldId`].
    pub(crate) pool: Box<[u32]>,
}

impl std::fmt::Debug for SystemClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SystemClass({:?}, {} bytes)", self.id, self.bytes.len())
    }
}

/// Everything that has a name.
#[derive(Debug, Default)]
pub struct World {
    /// The texts.
    pub names: Names,
    pub(crate) types: Vec<Type>,
    pub(crate) interfaces: Lists<TypeId>,
    /// All superclasses and interfaces of a type, sorted, without itself.
    pub(crate) ancestors: Lists<TypeId>,
    /// All types below a type, sorted, without itself.
    pub(crate) descendants: Lists<TypeId>,
    pub(crate) signatures: Vec<(NameId, NameId)>,
    pub(crate) signature_index: FxHashMap<(NameId, NameId), SignatureId>,
    pub(crate) methods: Vec<Method>,
    /// The first method of each type, and one more.
    pub(crate) method_starts: Vec<u32>,
    /// The methods of each type by signature, sorted.
    pub(crate) method_index: Lists<(SignatureId, MethodId)>,
    /// Exceptions that each method declares.
    pub(crate) throws: Lists<TypeId>,
    pub(crate) fields: Vec<Field>,
    pub(crate) field_starts: Vec<u32>,
    pub(crate) field_index: Lists<(SignatureId, FieldId)>,
    pub(crate) refs: Vec<MethodRef>,
    pub(crate) system: Vec<SystemClass>,
    /// For each method whether a library can call it: it is a method of the system that implements one of a
    /// library's.
    pub(crate) callbacks: Vec<bool>,
    /// For each type whether objects of it have such methods.
    pub(crate) callback_classes: Vec<bool>,
}

impl World {
    /// A type.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// All types, in the order of their names.
    pub fn types(&self) -> impl ExactSizeIterator<Item = (TypeId, &Type)> {
        self.types.iter().enumerate().map(|(at, it)| (TypeId(at as u32), it))
    }

    /// The type of an internal name.
    pub fn find_type(&self, name: &[u8]) -> Option<TypeId> {
        // Types are the first to be named, so both have the same number.
        let id = self.names.find(name)?;
        ((id.0 as usize) < self.types.len()).then_some(TypeId(id.0))
    }

    /// The type of a field descriptor such as `Ljava/lang/String;`; none for primitives, arrays and what is not known.
    pub fn find_descriptor(&self, descriptor: &[u8]) -> Option<TypeId> {
        self.find_type(descriptor.strip_prefix(b"L")?.strip_suffix(b";")?)
    }

    /// The internal name of a type.
    pub fn type_name(&self, id: TypeId) -> &[u8] {
        self.names.bytes(self.get(id).name)
    }

    /// The name of a type with dots.
    pub fn show_type(&self, id: TypeId) -> String {
        display_name(self.type_name(id))
    }

    /// Tests whether the first is the second or below it.
    pub fn is_subtype(&self, below: TypeId, above: TypeId) -> bool {
        below == above || self.ancestors(below).binary_search(&above).is_ok()
    }

    /// The direct interfaces of a type.
    pub fn interfaces(&self, id: TypeId) -> &[TypeId] {
        self.interfaces.get(id.0)
    }

    /// All superclasses and interfaces of a type, sorted by number, without itself.
    pub fn ancestors(&self, id: TypeId) -> &[TypeId] {
        self.ancestors.get(id.0)
    }

    /// All types below a type, sorted by number, without itself.
    pub fn descendants(&self, id: TypeId) -> &[TypeId] {
        self.descendants.get(id.0)
    }

    /// The chain of superclasses, the class itself first.
    pub fn parents(&self, id: TypeId) -> impl Iterator<Item = TypeId> + '_ {
        std::iter::successors(Some(id), |&it| self.get(it).parent).take(DEPTH_MAX)
    }

    /// Tests whether a type belongs to the system.
    pub fn is_system(&self, id: TypeId) -> bool {
        self.get(id).origin == Origin::System
    }

    /// A method.
    pub fn method(&self, id: MethodId) -> &Method {
        &self.methods[id.index()]
    }

    /// Number of methods, including those of libraries.
    pub fn method_count(&self) -> usize {
        self.methods.len()
    }

    /// The methods that a type declares, in the order of its file.
    pub fn methods_of(
        &self,
        id: TypeId,
    ) -> impl DoubleEndedIterator<Item = MethodId> + ExactSizeIterator + use<> {
        (self.method_starts[id.index()]..self.method_starts[id.index() + 1]).map(MethodId)
    }

    /// Exceptions that a method declares.
    pub fn throws(&self, id: MethodId) -> &[TypeId] {
        self.throws.get(id.0)
    }

    /// Name and descriptor.
    pub fn signature(&self, id: SignatureId) -> (&[u8], &[u8]) {
        let (name, descriptor) = self.signatures[id.index()];
        (self.names.bytes(name), self.names.bytes(descriptor))
    }

    /// The signature of a name and a descriptor, if any member has it.
    pub fn find_signature(&self, name: &[u8], descriptor: &[u8]) -> Option<SignatureId> {
        let pair = (self.names.find(name)?, self.names.find(descriptor)?);
        self.signature_index.get(&pair).copied()
    }

    /// The name of a method.
    pub fn method_name(&self, id: MethodId) -> &[u8] {
        self.signature(self.method(id).signature).0
    }

    /// The descriptor of a method.
    pub fn method_descriptor(&self, id: MethodId) -> &[u8] {
        self.signature(self.method(id).signature).1
    }

    /// A method as `a.b.C.name`.
    pub fn show_method(&self, id: MethodId) -> String {
        format!("{}.{}", self.show_type(self.method(id).owner), String::from_utf8_lossy(self.method_name(id)))
    }

    /// Tests whether a method belongs to the system.
    pub fn is_system_method(&self, id: MethodId) -> bool {
        self.is_system(self.method(id).owner)
    }

    /// A field.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    /// Number of fields.
    pub fn field_count(&self) -> usize {
        self.fields.len()
    }

    /// The fields that a type declares.
    pub fn fields_of(&self, id: TypeId) -> impl ExactSizeIterator<Item = FieldId> + use<> {
        (self.field_starts[id.index()]..self.field_starts[id.index() + 1]).map(FieldId)
    }

    /// The name of a field.
    pub fn field_name(&self, id: FieldId) -> &[u8] {
        self.signature(self.field(id).signature).0
    }

    /// A reference to a method.
    pub fn method_ref(&self, id: RefId) -> &MethodRef {
        &self.refs[id.index()]
    }

    /// Number of references.
    pub fn ref_count(&self) -> usize {
        self.refs.len()
    }

    /// The classes of the system, in the order of their names.
    pub fn system_classes(&self) -> &[SystemClass] {
        &self.system
    }

    /// The class file of a class of the system.
    pub fn system_class(&self, id: TypeId) -> Option<&SystemClass> {
        self.system.get(self.get(id).system as usize)
    }

    /// Shows a method of the system with its body; none if it has no code, or code that cannot be followed.
    pub fn look<R>(&self, id: MethodId, see: impl FnOnce(MethodView<'_>) -> R) -> Option<R> {
        let method = self.method(id);
        let system = self.system_class(method.owner)?;
        let class = ClassFile::parse(&system.bytes).ok()?;
        let member = class.methods().get(usize::from(method.member))?;
        let body = Body::of_method(&class, member).ok()??;
        let view = MethodView { world: self, id, class: &class, member, body: &body, pool: &system.pool };
        Some(see(view))
    }

    /// The method of that signature that a type declares itself.
    pub fn declared(&self, id: TypeId, signature: SignatureId) -> Option<MethodId> {
        let methods = self.method_index.get(id.0);
        let at = methods.binary_search_by_key(&signature, |it| it.0).ok()?;
        Some(methods[at].1)
    }

    /// The declaration that a reference to `signature` in `owner` means: in the class, in its superclasses, in its
    /// interfaces, those with a body first.
    pub fn resolve(&self, owner: TypeId, signature: SignatureId) -> Option<MethodId> {
        if let Some(found) = self.parents(owner).find_map(|it| self.declared(it, signature)) {
            return Some(found);
        }
        let in_interfaces = self.ancestors(owner).iter().filter_map(|&it| self.declared(it, signature));
        in_interfaces.min_by_key(|&it| (self.method(it).is_abstract(), it))
    }

    /// Method that runs when a method of that signature is called on an object of exactly this class: never an abstract
    /// method. Private and static methods do not take part, which the caller has made sure of.
    pub fn dispatch(&self, class: TypeId, signature: SignatureId) -> Option<MethodId> {
        let in_classes = self.parents(class).find_map(|it| self.declared(it, signature));
        if let Some(found) = in_classes {
            return (!self.method(found).is_abstract()).then_some(found);
        }
        // Of default methods the most specific runs: one whose interface no other candidate's extends.
        let mut best: Option<MethodId> = None;
        for &interface in self.ancestors(class) {
            let Some(found) =
                self.declared(interface, signature).filter(|&it| !self.method(it).is_abstract())
            else {
                continue;
            };
            if best.is_none_or(|it| self.is_subtype(interface, self.method(it).owner)) {
                best = Some(found);
            }
        }
        best
    }

    /// Tests whether a library can call a method of the system: it implements one of the library's.
    pub fn is_callback(&self, id: MethodId) -> bool {
        self.callbacks[id.index()]
    }

    /// Tests whether objects of a class of the system have methods that libraries can call.
    pub fn is_callback_class(&self, id: TypeId) -> bool {
        self.callback_classes[id.index()]
    }

    /// The methods by which an object of a class can be called by libraries.
    pub fn callbacks_of(&self, id: TypeId) -> Vec<MethodId> {
        let mut found: Vec<MethodId> = Vec::new();
        let classes = self.parents(id).chain(self.ancestors(id).iter().copied());
        for method in classes.flat_map(|it| self.methods_of(it)).filter(|&it| self.is_callback(it)) {
            let signature = self.method(method).signature;
            if found.iter().all(|&it| self.method(it).signature != signature) {
                found.push(method);
            }
        }
        found
    }

    pub(crate) fn find_callbacks(&mut self) {
        let object = self.find_type(b"java/lang/Object");
        let mut callbacks = vec![false; self.methods.len()];
        for (at, method) in self.methods.iter().enumerate() {
            let is_open = method.access & (access::PRIVATE | access::STATIC) == 0 && !method.is_abstract();
            if is_open
                && self.is_system(method.owner)
                && !self.signature(method.signature).0.starts_with(b"<")
            {
                // The class may inherit the method that implements an interface which only a class below names.
                let below = std::iter::once(&method.owner).chain(self.descendants(method.owner));
                callbacks[at] = below.flat_map(|&it| self.ancestors(it)).any(|&it| {
                    Some(it) != object && !self.is_system(it) && self.declared(it, method.signature).is_some()
                });
            }
        }
        self.callbacks = callbacks;
        self.callback_classes = (0..self.types.len() as u32)
            .map(|it| {
                let mut classes =
                    std::iter::once(TypeId(it)).chain(self.ancestors(TypeId(it)).iter().copied());
                classes.any(|it| self.methods_of(it).any(|it| self.is_callback(it)))
            })
            .collect();
    }

    /// The field that a reference means.
    pub(crate) fn resolve_field(&self, owner: TypeId, signature: SignatureId) -> Option<FieldId> {
        let declared = |id: TypeId| {
            let fields = self.field_index.get(id.0);
            let at = fields.binary_search_by_key(&signature, |it| it.0).ok()?;
            Some(fields[at].1)
        };
        self.parents(owner)
            .find_map(declared)
            .or_else(|| self.ancestors(owner).iter().find_map(|&it| declared(it)))
    }

    /// The parameters of a method by number, `this` included where there is one: their descriptors.
    pub fn parameter_types(&self, id: MethodId) -> impl Iterator<Item = &[u8]> {
        descriptor::parameters(self.method_descriptor(id))
    }
}

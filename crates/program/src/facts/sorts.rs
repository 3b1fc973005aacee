//! Types that are exceptions or futures, or hold other objects: queried at every call, so computed once.

use hypocenter_classfile::descriptor;

use crate::facts::known;
use crate::loading::world::{RefId, TypeId, World};

const THROWABLE: u8 = 1;
const FUTURE: u8 = 2;
const HOLDER: u8 = 4;

/// Roles of the types and the named methods of a program in the flow of exceptions.
pub(crate) struct Sorts {
    types: Vec<u8>,
    /// For each reference what its parameters are, and what it returns.
    taken: Vec<u8>,
    returned: Vec<u8>,
}

impl Sorts {
    pub fn of(world: &World) -> Sorts {
        let of_name = |id: TypeId| {
            let name = world.type_name(id);
            let throwable = if name == b"java/lang/Throwable" { THROWABLE } else { 0 };
            let future = if known::is_future(name) { FUTURE } else { 0 };
            throwable | future | if known::is_holder(name) { HOLDER } else { 0 }
        };
        let named: Vec<u8> = world.types().map(|(id, _)| of_name(id)).collect();
        let with_ancestors =
            |(id, _)| world.ancestors(id).iter().fold(named[id.index()], |all, it| all | named[it.index()]);
        let types: Vec<u8> = world.types().map(with_ancestors).collect();
        let mut sorts = Sorts { types, taken: Vec::new(), returned: Vec::new() };
        let mut by_signature: Vec<Option<(u8, u8)>> = vec![None; world.signatures.len()];
        for at in 0..world.ref_count() {
            let signature = world.method_ref(RefId(at as u32)).signature;
            let (taken, returned) = *by_signature[signature.index()].get_or_insert_with(|| {
                let text = world.signature(signature).1;
                let taken = descriptor::parameters(text).fold(0, |all, it| all | sorts.descriptor(world, it));
                (taken, sorts.descriptor(world, descriptor::return_type(text)))
            });
            sorts.taken.push(taken);
            sorts.returned.push(returned);
        }
        sorts
    }

    /// Of a descriptor of one type; an array counts as what it holds, and holds it.
    fn descriptor(&self, world: &World, text: &[u8]) -> u8 {
        let element = text.iter().position(|&it| it != b'[').unwrap_or(text.len());
        let sort = world.find_descriptor(&text[element..]).map_or(0, |it| self.types[it.index()]);
        if element > 0 { (sort & FUTURE) | HOLDER } else { sort }
    }

    pub fn is_throwable(&self, id: TypeId) -> bool {
        self.types[id.index()] & THROWABLE != 0
    }

    pub fn is_future(&self, id: TypeId) -> bool {
        self.types[id.index()] & FUTURE != 0
    }

    pub fn throwable(&self, world: &World, text: &[u8]) -> bool {
        self.descriptor(world, text) & THROWABLE != 0
    }

    /// Tests whether a value of this type may be a future or hold some.
    pub fn holds_future(&self, world: &World, text: &[u8]) -> bool {
        self.descriptor(world, text) & (FUTURE | HOLDER) != 0
    }

    /// Tests whether a value of this type may hold others.
    pub fn is_holder(&self, world: &World, text: &[u8]) -> bool {
        self.descriptor(world, text) & HOLDER != 0
    }

    pub fn takes_throwable(&self, id: RefId) -> bool {
        self.taken[id.index()] & THROWABLE != 0
    }

    pub fn takes_future(&self, id: RefId) -> bool {
        self.taken[id.index()] & (FUTURE | HOLDER) != 0
    }

    pub fn returns_future(&self, id: RefId) -> bool {
        self.returned[id.index()] & FUTURE != 0
    }
}

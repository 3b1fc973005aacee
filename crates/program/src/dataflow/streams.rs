//! Types that carry input and output: streams, readers, writers, channels and buffers, and those built on them.

use hypocenter_classfile::descriptor;
use rayon::prelude::*;

use crate::facts::known;
use crate::loading::world::{MethodId, TypeId, World, access};

/// Input and output role of a type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stream {
    /// Objects of it may read or write by another object that they were given, or are such an object themselves.
    pub is_carrier: bool,
    /// Objects of it live in memory and nowhere else.
    pub is_memory: bool,
    /// It is a buffer: memory as well, and often only what is read or written.
    pub is_buffer: bool,
}

/// Input and output role of each type.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    types: Vec<Stream>,
    /// For each type of the system whether its objects hold a carrier, in a field or in a library's class above it.
    holders: Vec<bool>,
}

impl Streams {
    pub fn of(world: &World) -> Streams {
        let mut types = vec![Stream::default(); world.types().len()];
        let mut below = |names: &[&[u8]], set: fn(&mut Stream)| {
            for id in names.iter().filter_map(|it| world.find_type(it)) {
                std::iter::once(&id).chain(world.descendants(id)).for_each(|it| set(&mut types[it.index()]));
            }
        };
        below(known::STREAMS, |it| it.is_carrier = true);
        below(&[b"java/nio/Buffer"], |it| {
            *it = Stream { is_carrier: true, is_memory: true, is_buffer: true }
        });
        below(known::MEMORY, |it| it.is_memory = true);
        add_wrappers(world, &mut types);
        let mut streams = Streams { types, holders: Vec::new() };
        streams.holders = (0..streams.types.len() as u32)
            .into_par_iter()
            .map(|it| streams.holds(world, TypeId(it)))
            .collect();
        streams
    }

    pub fn get(&self, id: TypeId) -> Stream {
        self.types[id.index()]
    }

    /// Input and output role of the type of a descriptor.
    pub fn of_descriptor(&self, world: &World, descriptor: &[u8]) -> Stream {
        world.find_descriptor(descriptor).map_or(Stream::default(), |it| self.get(it))
    }

    /// Tests whether objects of a class of the system hold a carrier.
    pub fn is_holder(&self, id: TypeId) -> bool {
        self.holders[id.index()]
    }

    /// Tests whether an object of that type, handed to a stream or held by one, cannot be where its bytes go.
    pub fn is_harmless(&self, world: &World, descriptor: &[u8]) -> bool {
        match descriptor {
            [b'L', name @ .., b';'] => {
                let is_enum =
                    || world.find_type(name).is_some_and(|it| world.get(it).access & access::ENUM != 0);
                known::is_plain_data(name) || is_enum()
            }
            [b'[', element @ ..] => matches!(element, [_]),
            _ => true,
        }
    }

    fn holds(&self, world: &World, id: TypeId) -> bool {
        world.is_system(id)
            && world.parents(id).any(|it| {
                if !world.is_system(it) {
                    return takes_stream(world, it, |method| world.method_name(method) == b"<init>");
                }
                let fields = world.fields_of(it).map(|it| world.field(it));
                let mut own = fields.filter(|it| it.access & access::STATIC == 0);
                own.any(|it| self.of_descriptor(world, world.signature(it.signature).1).is_carrier)
            })
    }
}

/// Marks what is built on a stream by a constructor or a static method, and what such an object may be known as.
fn add_wrappers(world: &World, types: &mut [Stream]) {
    let is_maker = |it: MethodId| world.method_name(it) == b"<init>" || world.method(it).is_static();
    let wrappers: Vec<TypeId> = (0..types.len() as u32)
        .into_par_iter()
        .map(TypeId)
        .filter(|&id| takes_stream(world, id, |it| is_maker(it) && makes(world, id, it)))
        .collect();
    for id in wrappers {
        types[id.index()].is_carrier = true;
        for &above in world.ancestors(id) {
            if !known::is_for_all(world.type_name(above)) {
                types[above.index()].is_carrier = true;
            }
        }
    }
}

/// Tests whether a method gives an object of a class: its constructor, or a method that returns one.
fn makes(world: &World, class: TypeId, method: MethodId) -> bool {
    if world.method_name(method) == b"<init>" {
        return true;
    }
    let result = descriptor::return_type(world.method_descriptor(method));
    world.find_descriptor(result).is_some_and(|it| world.is_subtype(class, it) || world.is_subtype(it, class))
}

/// Tests whether one of the methods of a class that fit takes a stream.
fn takes_stream(world: &World, class: TypeId, fits: impl Fn(MethodId) -> bool) -> bool {
    let bases: Vec<TypeId> = known::STREAMS.iter().filter_map(|it| world.find_type(it)).collect();
    let is_stream = |it: &[u8]| {
        let found = world.find_descriptor(it);
        found.is_some_and(|it| bases.iter().any(|&base| world.is_subtype(it, base)))
    };
    world.methods_of(class).any(|it| fits(it) && world.parameter_types(it).any(is_stream))
}

//! BodyCache that are asked for again and again, made once.

use std::sync::{Arc, Mutex, OnceLock};

use hypocenter_classfile::ClassFile;
use rustc_hash::FxHashMap;

use crate::dataflow::exceptions::Way;
use crate::loading::world::{MethodId, TypeId, World};
use crate::methods::body::Body;
use crate::methods::dependence::ControlDependence;
use crate::methods::dominance::{Dominance, Edges};
use crate::methods::view::MethodView;

/// The most instructions whose bodies are kept, some 100 bytes each; a body beyond that is made anew each time.
const INSTRUCTIONS_MAX: usize = 3_000_000;

/// A method with its body, and what was found out about it so far.
#[derive(Debug)]
pub(crate) struct CachedBody<'p> {
    world: &'p World,
    id: MethodId,
    class: Arc<ClassFile<'p>>,
    body: Body<'p>,
    dependence: OnceLock<Option<ControlDependence>>,
    dominance: OnceLock<Option<Dominance>>,
    ways: OnceLock<Vec<Way>>,
}

impl CachedBody<'_> {
    pub fn view(&self) -> MethodView<'_> {
        let method = self.world.method(self.id);
        let system = self.world.system_class(method.owner).expect("its class was found before");
        MethodView {
            world: self.world,
            id: self.id,
            class: &self.class,
            member: &self.class.methods()[usize::from(method.member)],
            body: &self.body,
            pool: &system.pool,
        }
    }

    /// Which branches decide about what.
    pub fn dependence(&self) -> Option<&ControlDependence> {
        self.dependence.get_or_init(|| ControlDependence::of(&self.body.flow, Edges::Normal).ok()).as_ref()
    }

    pub fn dominance(&self) -> Option<&Dominance> {
        self.dominance.get_or_init(|| Dominance::of(&self.body.flow, Edges::All).ok()).as_ref()
    }

    /// The ways of exceptions through the method.
    pub fn ways(&self, find: impl FnOnce() -> Vec<Way>) -> &[Way] {
        self.ways.get_or_init(find)
    }
}

/// The bodies of methods.
#[derive(Debug)]
pub(crate) struct BodyCache<'p> {
    world: &'p World,
    kept: Mutex<Store<'p>>,
}

#[derive(Debug, Default)]
struct Store<'p> {
    classes: FxHashMap<TypeId, Arc<ClassFile<'p>>>,
    methods: FxHashMap<MethodId, Option<Arc<CachedBody<'p>>>>,
    instructions: usize,
}

impl<'p> BodyCache<'p> {
    pub fn of(world: &'p World) -> BodyCache<'p> {
        BodyCache { world, kept: Mutex::default() }
    }

    /// The body of a method of the system, if it has one.
    pub fn get(&self, id: MethodId) -> Option<Arc<CachedBody<'p>>> {
        let owner = self.world.method(id).owner;
        let class = {
            let store = self.kept.lock().expect("nobody panics with it");
            if let Some(found) = store.methods.get(&id) {
                return found.clone();
            }
            store.classes.get(&owner).cloned()
        };
        // Two threads may make the same body; one of them is kept.
        let made = self.make(id, owner, class);
        let mut store = self.kept.lock().expect("nobody panics with it");
        let count = made.as_ref().map_or(0, |it| it.body.flow.instructions.len());
        if store.instructions + count <= INSTRUCTIONS_MAX {
            store.instructions += count;
            if let Some(it) = &made {
                store.classes.insert(owner, it.class.clone());
            }
            store.methods.insert(id, made.clone());
        }
        made
    }

    fn make(
        &self,
        id: MethodId,
        owner: TypeId,
        class: Option<Arc<ClassFile<'p>>>,
    ) -> Option<Arc<CachedBody<'p>>> {
        let system = self.world.system_class(owner)?;
        let class = match class {
            Some(it) => it,
            None => Arc::new(ClassFile::parse(&system.bytes).ok()?),
        };
        let member = class.methods().get(usize::from(self.world.method(id).member))?;
        let body = Body::of_method(&class, member).ok()??;
        Some(Arc::new(CachedBody {
            world: self.world,
            id,
            class: class.clone(),
            body,
            dependence: OnceLock::new(),
            dominance: OnceLock::new(),
            ways: OnceLock::new(),
        }))
    }
}

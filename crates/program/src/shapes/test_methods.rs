//! The tests of the system: methods that JUnit or TestNG would run.

use hypocenter_classfile::{Annotation, ClassFile, annotations};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::loading::world::{MethodId, SignatureId, TypeId, World, access};

/// Runner of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Framework {
    /// By the name of the method, in a `TestCase`.
    JUnit3,
    /// By `org.junit.Test`.
    JUnit4,
    /// By `org.junit.jupiter.api.Test` and its kin.
    JUnit5,
    /// By `org.testng.annotations.Test`.
    TestNg,
}

/// A test: a method, and the class that it is run with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Test {
    /// The class whose objects run it; never abstract.
    pub class: TypeId,
    /// The method, which a superclass may declare.
    pub method: MethodId,
    /// The line of its first instruction, 0 if there is none.
    pub line: u16,
    /// Runner.
    pub framework: Framework,
    /// True if the class names who runs its tests (`@RunWith`, `@ExtendWith`): they may run more than once, with
    /// parameters, or not at all.
    pub has_runner: bool,
    /// True if it is switched off (`@Ignore`, `@Disabled`).
    pub is_disabled: bool,
}

/// The tests of the system.
#[derive(Debug, Default)]
pub struct Tests {
    tests: Vec<Test>,
    /// The classes that are test code: those with tests, those they extend or contain.
    code: FxHashSet<TypeId>,
    runners: FxHashMap<TypeId, Box<[u8]>>,
}

/// Statements of a class about its own tests.
#[derive(Default)]
struct Declared {
    /// The methods that are tests, sorted; each with its first line, and whether it is switched off.
    tests: Vec<(MethodId, Framework, u16, bool)>,
    runner: Option<Box<[u8]>>,
    has_runner: bool,
    is_disabled: bool,
    /// True if an annotation of the class makes all its public methods tests.
    all: bool,
}

impl Tests {
    /// Finds them.
    pub fn of(world: &World) -> Tests {
        let test_case = world.find_type(b"junit/framework/TestCase");
        let classes = world.system_classes();
        let declared: Vec<Declared> =
            classes.par_iter().map(|it| declared(world, it.id, &it.bytes, test_case)).collect();
        let of_class: FxHashMap<TypeId, &Declared> = classes.iter().map(|it| it.id).zip(&declared).collect();
        let mut found = Tests::default();
        for system in classes {
            let own = world.get(system.id);
            if own.access & (access::ABSTRACT | access::INTERFACE) == 0 {
                found.class(world, &of_class, system.id);
            }
        }
        found.spread(world);
        found
    }

    /// All tests, in the order of the classes.
    pub fn all(&self) -> &[Test] {
        &self.tests
    }

    /// Tests whether a class is test code: it has tests, or a class with tests extends it or contains it.
    pub fn is_test_code(&self, id: TypeId) -> bool {
        self.code.contains(&id)
    }

    /// The descriptor of the class that runs the tests of a class, if `@RunWith` or `@ExtendWith` names one.
    pub fn runner(&self, id: TypeId) -> Option<&[u8]> {
        self.runners.get(&id).map(|it| &**it)
    }

    fn class(&mut self, world: &World, declared: &FxHashMap<TypeId, &Declared>, class: TypeId) {
        let system = |it: &TypeId| declared.get(it).copied();
        let chain: Vec<TypeId> = world.parents(class).filter(|it| declared.contains_key(it)).collect();
        // A default method of an interface may be a test of JUnit 5.
        let interfaces = world.ancestors(class).iter().copied();
        let interfaces = interfaces.filter(|it| world.get(*it).access & access::INTERFACE != 0);
        let above: Vec<TypeId> = chain.iter().copied().chain(interfaces).collect();
        let has_runner = chain.iter().filter_map(system).any(|it| it.has_runner);
        let is_off = chain.iter().filter_map(system).any(|it| it.is_disabled);
        let mut hidden: FxHashSet<SignatureId> = FxHashSet::default();
        let before = self.tests.len();
        for owner in &above {
            let Some(it) = system(owner) else { continue };
            for method in world.methods_of(*owner) {
                let is_own = hidden.insert(world.method(method).signature);
                let Ok(at) = it.tests.binary_search_by_key(&method, |it| it.0) else { continue };
                let (_, framework, line, is_disabled) = it.tests[at];
                let is_disabled = is_off || is_disabled;
                if !is_own {
                    continue;
                }
                self.tests.push(Test { class, method, line, framework, has_runner, is_disabled });
            }
        }
        if self.tests.len() > before {
            self.code.insert(class);
            self.code.extend(&chain);
            let runner = chain.iter().filter_map(system).find_map(|it| it.runner.clone());
            self.runners.extend(runner.map(|it| (class, it)));
        }
    }

    /// Classes declared inside a class with tests are test code too.
    fn spread(&mut self, world: &World) {
        for system in world.system_classes() {
            let name = world.type_name(system.id);
            let mut ends = name.iter().enumerate().filter(|(_, b)| **b == b'$').map(|(at, _)| at);
            let is_inside =
                ends.any(|end| world.find_type(&name[..end]).is_some_and(|it| self.code.contains(&it)));
            if is_inside {
                self.code.insert(system.id);
            }
        }
    }
}

const ATTRIBUTE: &[u8] = b"RuntimeVisibleAnnotations";

fn declared(world: &World, id: TypeId, bytes: &[u8], test_case: Option<TypeId>) -> Declared {
    let class = ClassFile::parse(bytes).expect("was read before");
    let mut it = Declared::default();
    for annotation in class.attribute(ATTRIBUTE).map_or(Vec::new(), |it| annotations(it, &class.pool)) {
        it.of_class(&annotation);
    }
    let is_test_case = test_case.is_some_and(|it| world.is_subtype(id, it));
    for (member, method) in class.methods().iter().zip(world.methods_of(id)) {
        let found = member.attribute(ATTRIBUTE).map_or(Vec::new(), |it| annotations(it, &class.pool));
        let is_off = found.iter().any(|it| is_switch(it.descriptor));
        let plain = access::ABSTRACT | access::STATIC | access::SYNTHETIC;
        if member.access & plain != 0 || member.name.starts_with(b"<") {
            continue;
        }
        let is_public = member.access & access::PUBLIC != 0;
        let by_name = || {
            let fits = is_test_case && member.name.starts_with(b"test") && member.descriptor == b"()V";
            (fits && is_public).then_some(Framework::JUnit3)
        };
        let of_all = (it.all && is_public && member.descriptor.ends_with(b")V")).then_some(Framework::TestNg);
        let framework = found.iter().find_map(|it| framework(it.descriptor)).or_else(by_name).or(of_all);
        if let Some(framework) = framework {
            let line = member.code().ok().flatten().and_then(|it| it.line_at(0)).unwrap_or(0);
            it.tests.push((method, framework, line, is_off));
        }
    }
    it
}

impl Declared {
    fn of_class(&mut self, annotation: &Annotation<'_>) {
        match annotation.descriptor {
            b"Lorg/junit/runner/RunWith;" | b"Lorg/junit/jupiter/api/extension/ExtendWith;" => {
                self.has_runner = true;
                self.runner = annotation.class_value.map(Into::into);
            }
            b"Lorg/testng/annotations/Test;" => self.all = true,
            it => self.is_disabled |= is_switch(it),
        }
    }
}

fn is_switch(annotation: &[u8]) -> bool {
    matches!(annotation, b"Lorg/junit/Ignore;" | b"Lorg/junit/jupiter/api/Disabled;")
}

/// The framework that an annotation of a method makes a test for.
fn framework(annotation: &[u8]) -> Option<Framework> {
    match annotation {
        b"Lorg/junit/Test;" => Some(Framework::JUnit4),
        b"Lorg/junit/jupiter/api/Test;"
        | b"Lorg/junit/jupiter/api/RepeatedTest;"
        | b"Lorg/junit/jupiter/api/TestFactory;"
        | b"Lorg/junit/jupiter/api/TestTemplate;"
        | b"Lorg/junit/jupiter/params/ParameterizedTest;" => Some(Framework::JUnit5),
        b"Lorg/testng/annotations/Test;" => Some(Framework::TestNg),
        _ => None,
    }
}

//! Builds an exception at the place where it is to be thrown, as the code there would have: by the loader of the
//! class at the site, with a constructor that the class really has.

use std::ffi::CStr;

use jvmti_bindings::sys::jni::{jclass, jmethodID, jobject, jvalue};

use crate::helper;
use crate::jni::{Jni, object};
use crate::jvmti::Jvmti;

/// How deep arguments of arguments are built before `null` is given.
const DEPTH_MAX: u32 = 3;
/// How many constructors of a class are tried.
const CONSTRUCTORS_MAX: usize = 32;
const ACC_ABSTRACT: i32 = 0x400;
const ACC_INTERFACE: i32 = 0x200;
const ACC_PUBLIC: i32 = 0x1;

pub(crate) struct Built {
    pub throwable: jobject,
    pub class: String,
}

/// Builds the first of `classes` that can be built, seen from the code that is at the top of the stack.
pub(crate) fn build(jvmti: Jvmti, jni: Jni, classes: &[String], message: &str) -> Result<Built, String> {
    let mut troubles = Vec::new();
    for class in classes {
        let mut trouble = String::new();
        let built = jni.frame(|| match build_one(jvmti, jni, class, message) {
            Ok(throwable) => Some(throwable),
            Err(why) => {
                trouble = why;
                None
            }
        });
        match built {
            Some(throwable) => return Ok(Built { throwable, class: class.clone() }),
            None => troubles.push(format!("{class}: {trouble}")),
        }
    }
    Err(troubles.join("; "))
}

fn build_one(jvmti: Jvmti, jni: Jni, class: &str, message: &str) -> Result<jobject, String> {
    let reflection = Reflection::new(jni).ok_or("the JVM's reflection could not be reached")?;
    let loader = site_loader(jvmti);
    let name = class;
    let class = reflection.load(name, loader, false).ok_or(match loader.is_null() {
        true => "not found by the boot loader, which loaded the class at the site",
        false => "not found by the loader of the class at the site",
    })?;
    if !jni.is_assignable(class, reflection.throwable) {
        return Err("not a Throwable".into());
    }
    if reflection.modifiers(class) & ACC_ABSTRACT != 0 {
        return Err("abstract, and no concrete subtype was given".into());
    }
    reflection.load(name, loader, true).ok_or("its static initialiser fails")?;
    let throwable = reflection
        .construct(class, message, 0)
        .ok_or("no constructor could be called with default arguments")?;
    hide_helper(jni, throwable);
    Ok(throwable)
}

/// The loader of the class whose code called the helper; null is the boot loader.
pub(crate) fn site_loader(jvmti: Jvmti) -> jobject {
    const NEAR: usize = 16;
    let mut frames = Vec::new();
    if jvmti.stack(&mut frames, NEAR).is_err() {
        return std::ptr::null_mut();
    }
    frames
        .iter()
        .filter_map(|frame| jvmti.declaring_class(frame.method).ok())
        .find(|&class| {
            jvmti.class_signature(class).is_ok_and(|it| !helper::is_own(it.trim_matches(['L', ';'])))
        })
        .and_then(|class| jvmti.class_loader(class).ok())
        .unwrap_or(std::ptr::null_mut())
}

/// Cuts the helper's frames from a stack trace on JVMs where its annotation did not keep them out.
pub(crate) fn hide_helper(jni: Jni, throwable: jobject) {
    const GET: &CStr = c"()[Ljava/lang/StackTraceElement;";
    const SET: &CStr = c"([Ljava/lang/StackTraceElement;)V";
    let Some(trace) = jni.invoke(throwable, c"getStackTrace", GET, &[]) else { return };
    let frames = jni.elements(trace);
    let ours = |frame: &&jobject| {
        jni.invoke(**frame, c"getClassName", c"()Ljava/lang/String;", &[])
            .is_some_and(|it| helper::is_own(&jni.text(it)))
    };
    let count = frames.iter().take(8).take_while(ours).count();
    if count == 0 {
        return;
    }
    let Some(element) = jni.find_class(c"java/lang/StackTraceElement") else { return };
    if let Some(rest) = jni.object_array(element, &frames[count..]) {
        jni.invoke_void(throwable, c"setStackTrace", SET, &[object(rest)]);
    }
}

struct Reflection {
    jni: Jni,
    class: jclass,
    throwable: jclass,
    for_name: jmethodID,
}

impl Reflection {
    fn new(jni: Jni) -> Option<Reflection> {
        let class = jni.find_class(c"java/lang/Class")?;
        let throwable = jni.find_class(c"java/lang/Throwable")?;
        const FOR_NAME: &CStr = c"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;";
        let for_name = jni.static_method(class, c"forName", FOR_NAME)?;
        Some(Reflection { jni, class, throwable, for_name })
    }

    fn load(&self, name: &str, loader: jobject, initialise: bool) -> Option<jclass> {
        let arguments = [object(self.jni.string(name)?), jvalue { z: initialise.into() }, object(loader)];
        self.jni.call_static(self.class, self.for_name, &arguments)
    }

    fn modifiers(&self, class: jclass) -> i32 {
        self.jni.invoke_int(class, c"getModifiers", c"()I").unwrap_or(0)
    }

    fn name(&self, class: jclass) -> String {
        self.jni
            .invoke(class, c"getName", c"()Ljava/lang/String;", &[])
            .map(|name| self.jni.text(name))
            .unwrap_or_default()
    }

    /// A new object of a class, by the best of its constructors that works.
    fn construct(&self, class: jclass, message: &str, depth: u32) -> Option<jobject> {
        let text = self.jni.string(message)?;
        // The usual shapes of exceptions, found without loading the types of unusual constructors.
        let usual: [(&CStr, &[jvalue]); 4] = [
            (c"(Ljava/lang/String;)V", &[object(text)]),
            (c"()V", &[]),
            (c"(Ljava/lang/String;Ljava/lang/Throwable;)V", &[object(text), object(std::ptr::null_mut())]),
            (c"(Ljava/lang/Throwable;)V", &[object(std::ptr::null_mut())]),
        ];
        for (descriptor, arguments) in usual {
            if let Some(constructor) = self.jni.method(class, c"<init>", descriptor)
                && let Some(made) = self.jni.new_object(class, constructor, arguments)
            {
                return Some(made);
            }
        }
        self.constructors(class).into_iter().find_map(|(constructor, parameters)| {
            let attempt = |depth: u32| {
                let arguments: Vec<jvalue> =
                    parameters.iter().map(|&it| self.default_value(it, message, depth)).collect();
                self.jni.new_object(class, constructor, &arguments)
            };
            // A constructor may look into its arguments, or choke on one that was built.
            attempt(depth).or_else(|| attempt(DEPTH_MAX))
        })
    }

    /// The declared constructors: public ones first, then by the number of parameters.
    fn constructors(&self, class: jclass) -> Vec<(jmethodID, Vec<jclass>)> {
        const ALL: &CStr = c"()[Ljava/lang/reflect/Constructor;";
        const TYPES: &CStr = c"()[Ljava/lang/Class;";
        let Some(all) = self.jni.invoke(class, c"getDeclaredConstructors", ALL, &[]) else {
            return Vec::new();
        };
        let mut found: Vec<_> = self
            .jni
            .elements(all)
            .into_iter()
            .take(CONSTRUCTORS_MAX)
            .filter_map(|constructor| {
                let parameters = self.jni.invoke(constructor, c"getParameterTypes", TYPES, &[])?;
                let hidden = self.modifiers(constructor) & ACC_PUBLIC == 0;
                let method = self.jni.reflected_method(constructor)?;
                Some((hidden, self.jni.elements(parameters), method))
            })
            .collect();
        found.sort_by_key(|(hidden, parameters, _)| (*hidden, parameters.len()));
        found.into_iter().map(|(_, parameters, method)| (method, parameters)).collect()
    }

    /// Zero, false, the message, an empty array, the first constant of an enum, an object built the same way, or null.
    fn default_value(&self, class: jclass, message: &str, depth: u32) -> jvalue {
        let flag = |name: &CStr| self.jni.invoke_int(class, name, c"()Z").unwrap_or(0) != 0;
        // All bits zero is the zero of every primitive type, and null.
        let zero = jvalue { j: 0 };
        if flag(c"isPrimitive") || depth >= DEPTH_MAX {
            return zero;
        }
        if self.name(class) == "java.lang.String" {
            return self.jni.string(message).map_or(zero, object);
        }
        if self.jni.is_assignable(class, self.throwable) {
            return zero;
        }
        if flag(c"isArray") {
            return self.empty_array(class).map_or(zero, object);
        }
        if flag(c"isEnum") {
            let constants = self.jni.invoke(class, c"getEnumConstants", c"()[Ljava/lang/Object;", &[]);
            let first = constants.and_then(|constants| self.jni.elements(constants).first().copied());
            return first.map_or(zero, object);
        }
        if self.modifiers(class) & (ACC_ABSTRACT | ACC_INTERFACE) != 0 {
            return zero;
        }
        self.construct(class, message, depth + 1).map_or(zero, object)
    }

    fn empty_array(&self, class: jclass) -> Option<jobject> {
        const NEW: &CStr = c"(Ljava/lang/Class;I)Ljava/lang/Object;";
        let element = self.jni.invoke(class, c"getComponentType", c"()Ljava/lang/Class;", &[])?;
        let array = self.jni.find_class(c"java/lang/reflect/Array")?;
        let new_instance = self.jni.static_method(array, c"newInstance", NEW)?;
        self.jni.call_static(array, new_instance, &[object(element), jvalue { i: 0 }])
    }
}

//! Writing small class files: what the agent's own classes are made with.
//!
//! Code is put together from instructions and labels; every label that control jumps to has a stack map frame with all its types.

use hypocenter_classfile::op;

pub(crate) const PUBLIC: u16 = 0x0001;
pub(crate) const PRIVATE: u16 = 0x0002;
pub(crate) const STATIC: u16 = 0x0008;
pub(crate) const FINAL: u16 = 0x0010;
pub(crate) const NATIVE: u16 = 0x0100;
const SUPER: u16 = 0x0020;
/// Java 6: old enough for every JVM that is supported.
const MAJOR: u16 = 50;

/// The name and descriptor of a method or field.
pub(crate) type Named<'a> = (&'a str, &'a str);

/// The constants of a class.
#[derive(Default)]
pub(crate) struct Pool {
    bytes: Vec<u8>,
    count: u16,
}

impl Pool {
    fn add(&mut self, tag: u8, parts: &[&[u8]]) -> u16 {
        self.bytes.push(tag);
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.count += 1;
        self.count
    }

    fn utf8(&mut self, text: &str) -> u16 {
        self.add(1, &[&(text.len() as u16).to_be_bytes(), text.as_bytes()])
    }

    fn text_of(&mut self, tag: u8, text: &str) -> u16 {
        let text = self.utf8(text);
        self.add(tag, &[&text.to_be_bytes()])
    }

    fn member(&mut self, tag: u8, class: u16, (name, descriptor): Named<'_>) -> u16 {
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let name_and_type = self.add(12, &[&name.to_be_bytes(), &descriptor.to_be_bytes()]);
        self.add(tag, &[&class.to_be_bytes(), &name_and_type.to_be_bytes()])
    }
}

/// A class being written.
pub(crate) struct Emitter {
    pool: Pool,
    this: u16,
    /// Annotations that every method has, and those that make a method be inlined.
    marks: [Vec<u16>; 2],
    fields: Vec<[u16; 3]>,
    methods: Vec<u8>,
    method_count: u16,
}

/// An instruction with an operand of two bytes.
pub(crate) type Op = [u8; 3];

fn with_operand(opcode: u8, operand: u16) -> Op {
    let [high, low] = operand.to_be_bytes();
    [opcode, high, low]
}

impl Emitter {
    pub(crate) fn new(name: &str) -> Emitter {
        let mut pool = Pool::default();
        let this = pool.text_of(7, name);
        // The JDK's own annotations, honoured for classes of the boot loader. JVMs that do not know them ignore them.
        let hidden = ["Ljdk/internal/vm/annotation/Hidden;", "Ljava/lang/invoke/LambdaForm$Hidden;"];
        let inline = ["Ljdk/internal/vm/annotation/ForceInline;", "Ljava/lang/invoke/ForceInline;"];
        let marks = [hidden, inline].map(|it| it.map(|name| pool.utf8(name)).to_vec());
        Emitter { pool, this, marks, fields: Vec::new(), methods: Vec::new(), method_count: 0 }
    }

    pub(crate) fn class(&mut self, name: &str) -> u16 {
        self.pool.text_of(7, name)
    }

    /// Pushes a constant.
    pub(crate) fn long(&mut self, value: i64) -> Op {
        let index = self.pool.add(5, &[&value.to_be_bytes()]);
        self.pool.count += 1; // a long takes two entries
        with_operand(op::LDC2_W, index)
    }

    /// Pushes a string.
    pub(crate) fn string(&mut self, text: &str) -> Op {
        with_operand(op::LDC_W, self.pool.text_of(8, text))
    }

    /// Pushes a class, which files of this version can hold as a constant.
    pub(crate) fn class_constant(&mut self, name: &str) -> Op {
        with_operand(op::LDC_W, self.class(name))
    }

    pub(crate) fn new_array(&mut self, element: &str) -> Op {
        with_operand(op::ANEWARRAY, self.class(element))
    }

    fn at(&mut self, opcode: u8, tag: u8, owner: &str, member: Named<'_>) -> Op {
        let owner = self.class(owner);
        with_operand(opcode, self.pool.member(tag, owner, member))
    }

    pub(crate) fn call(&mut self, owner: &str, member: Named<'_>) -> Op {
        self.at(op::INVOKESTATIC, 10, owner, member)
    }

    pub(crate) fn call_virtual(&mut self, owner: &str, member: Named<'_>) -> Op {
        self.at(op::INVOKEVIRTUAL, 10, owner, member)
    }

    pub(crate) fn get(&mut self, owner: &str, field: Named<'_>) -> Op {
        self.at(op::GETSTATIC, 9, owner, field)
    }

    /// Adds a static final field; the way to set it.
    pub(crate) fn field(&mut self, owner: &str, field: Named<'_>) -> Op {
        let named = [STATIC | FINAL, self.pool.utf8(field.0), self.pool.utf8(field.1)];
        self.fields.push(named);
        self.at(op::PUTSTATIC, 9, owner, field)
    }

    /// Adds a static native method.
    pub(crate) fn native(&mut self, access: u16, member: Named<'_>) {
        self.begin_method(access | STATIC | NATIVE, member, 1);
        self.annotations(false);
    }

    /// Adds a static method.
    pub(crate) fn method(&mut self, access: u16, member: Named<'_>, code: Code) {
        self.begin_method(access | STATIC, member, 2);
        let inline = code.inline;
        let frames = (!code.frames.is_empty()).then(|| self.pool.utf8("StackMapTable"));
        let body = code.finish(frames);
        let name = self.pool.utf8("Code");
        self.methods.extend(attribute(name, &body));
        self.annotations(inline);
    }

    fn begin_method(&mut self, access: u16, (name, descriptor): Named<'_>, attributes: u16) {
        let head = [access, self.pool.utf8(name), self.pool.utf8(descriptor), attributes];
        self.methods.extend(numbers(&head));
        self.method_count += 1;
    }

    fn annotations(&mut self, inline: bool) {
        let types: Vec<u16> = self.marks.iter().take(1 + usize::from(inline)).flatten().copied().collect();
        let mut body = numbers(&[types.len() as u16]);
        types.iter().for_each(|&it| body.extend(numbers(&[it, 0])));
        let name = self.pool.utf8("RuntimeVisibleAnnotations");
        self.methods.extend(attribute(name, &body));
    }

    /// The class file.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let object = self.class("java/lang/Object");
        let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
        out.extend(numbers(&[0, MAJOR, self.pool.count + 1]));
        out.extend_from_slice(&self.pool.bytes);
        out.extend(numbers(&[PUBLIC | FINAL | SUPER, self.this, object, 0, self.fields.len() as u16]));
        for field in &self.fields {
            out.extend(numbers(&[field[0], field[1], field[2], 0]));
        }
        out.extend(numbers(&[self.method_count]));
        out.extend_from_slice(&self.methods);
        out.extend(numbers(&[0]));
        out
    }
}

fn numbers(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

fn attribute(name: u16, body: &[u8]) -> Vec<u8> {
    [&name.to_be_bytes()[..], &(body.len() as u32).to_be_bytes(), body].concat()
}

/// The type of a local or of a word on the stack, as frames have it.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Int,
    Float,
    Double,
    Long,
    /// By the number of its class.
    Object(u16),
}

impl Kind {
    fn write(self, out: &mut Vec<u8>) {
        match self {
            Kind::Int => out.push(1),
            Kind::Float => out.push(2),
            Kind::Double => out.push(3),
            Kind::Long => out.push(4),
            Kind::Object(class) => {
                out.push(7);
                out.extend_from_slice(&class.to_be_bytes());
            }
        }
    }
}

/// The code of a method.
pub(crate) struct Code {
    max_stack: u16,
    max_locals: u16,
    inline: bool,
    bytes: Vec<u8>,
    /// The address of each label.
    labels: Vec<Option<usize>>,
    /// The jumps, each with its label.
    jumps: Vec<(usize, usize)>,
    /// Address, and the frame without its head.
    frames: Vec<(usize, Vec<u8>)>,
    /// Labels of start, end and handler, and the class caught.
    handlers: Vec<([usize; 3], u16)>,
}

impl Code {
    pub(crate) fn new(max_stack: u16, max_locals: u16) -> Code {
        Code {
            max_stack,
            max_locals,
            inline: false,
            bytes: Vec::new(),
            labels: Vec::new(),
            jumps: Vec::new(),
            frames: Vec::new(),
            handlers: Vec::new(),
        }
    }

    /// Lets the JIT compiler inline it always.
    pub(crate) fn inline(mut self) -> Code {
        self.inline = true;
        self
    }

    pub(crate) fn put(mut self, parts: &[&[u8]]) -> Code {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self
    }

    fn slot(&mut self, label: usize) -> &mut Option<usize> {
        if self.labels.len() <= label {
            self.labels.resize(label + 1, None);
        }
        &mut self.labels[label]
    }

    pub(crate) fn jump(mut self, opcode: u8, label: usize) -> Code {
        self.slot(label);
        self.jumps.push((self.bytes.len(), label));
        self.bytes.extend_from_slice(&[opcode, 0, 0]);
        self
    }

    /// Puts a label here that only delimits.
    pub(crate) fn mark(mut self, label: usize) -> Code {
        let here = self.bytes.len();
        *self.slot(label) = Some(here);
        self
    }

    /// Puts a label here that control jumps to.
    pub(crate) fn bind(self, label: usize, locals: &[Kind], stack: &[Kind]) -> Code {
        let mut code = self.mark(label);
        let mut frame = Vec::new();
        for kinds in [locals, stack] {
            frame.extend_from_slice(&(kinds.len() as u16).to_be_bytes());
            kinds.iter().for_each(|it| it.write(&mut frame));
        }
        code.frames.push((code.bytes.len(), frame));
        code
    }

    pub(crate) fn handler(mut self, [start, end, handler]: [usize; 3], caught: u16) -> Code {
        self.handlers.push(([start, end, handler], caught));
        self
    }

    /// The body of the attribute; `frames` is the name of the attribute for frames.
    fn finish(mut self, frames: Option<u16>) -> Vec<u8> {
        let labels: Vec<usize> =
            self.labels.iter().map(|it| it.expect("every label is put somewhere")).collect();
        for &(at, label) in &self.jumps {
            let distance = (labels[label] as i32 - at as i32) as i16;
            self.bytes[at + 1..at + 3].copy_from_slice(&distance.to_be_bytes());
        }
        let mut out = numbers(&[self.max_stack, self.max_locals]);
        out.extend_from_slice(&(self.bytes.len() as u32).to_be_bytes());
        out.extend_from_slice(&self.bytes);
        out.extend(numbers(&[self.handlers.len() as u16]));
        for (range, caught) in &self.handlers {
            out.extend(numbers(&range.map(|it| labels[it] as u16)));
            out.extend(numbers(&[*caught]));
        }
        let Some(name) = frames else {
            out.extend(numbers(&[0]));
            return out;
        };
        const FULL: u8 = 255;
        let mut table = numbers(&[self.frames.len() as u16]);
        let mut next = 0;
        for (at, frame) in &self.frames {
            table.push(FULL);
            table.extend_from_slice(&((at - next) as u16).to_be_bytes());
            table.extend_from_slice(frame);
            next = at + 1;
        }
        out.extend(numbers(&[1]));
        out.extend(attribute(name, &table));
        out
    }
}

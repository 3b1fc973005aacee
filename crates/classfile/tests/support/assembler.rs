//! Class files byte by byte.

use std::collections::HashMap;

/// Builds a class; constants get their numbers in the order in which they are first asked for.
pub struct Class {
    major: u16,
    pool: Vec<u8>,
    count: u16,
    known: HashMap<Vec<u8>, u16>,
    methods: Vec<Vec<u8>>,
}

/// The code of a method.
#[derive(Default)]
pub struct Body {
    pub stack: u16,
    pub locals: u16,
    pub code: Vec<u8>,
    pub handlers: Vec<[u16; 4]>,
    pub attributes: Vec<(&'static str, Vec<u8>)>,
}

/// Several 16-bit numbers.
pub fn u16s(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

impl Class {
    pub fn new(major: u16) -> Self {
        Class { major, pool: Vec::new(), count: 1, known: HashMap::new(), methods: Vec::new() }
    }

    pub fn constant(&mut self, tag: u8, payload: &[u8]) -> u16 {
        let entry: Vec<u8> = std::iter::once(tag).chain(payload.iter().copied()).collect();
        if let Some(index) = self.known.get(&entry) {
            return *index;
        }
        self.pool.extend_from_slice(&entry);
        self.known.insert(entry, self.count);
        self.count += 1;
        self.count - 1
    }

    pub fn utf8(&mut self, text: &str) -> u16 {
        let mut payload = u16s(&[text.len() as u16]);
        payload.extend_from_slice(text.as_bytes());
        self.constant(1, &payload)
    }

    pub fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.constant(7, &u16s(&[name]))
    }

    pub fn string(&mut self, text: &str) -> u16 {
        let text = self.utf8(text);
        self.constant(8, &u16s(&[text]))
    }

    pub fn method_ref(&mut self, owner: &str, name: &str, descriptor: &str) -> u16 {
        let owner = self.class(owner);
        let pair = [self.utf8(name), self.utf8(descriptor)];
        let pair = self.constant(12, &u16s(&pair));
        self.constant(10, &u16s(&[owner, pair]))
    }

    /// Fills the pool with numbers until it has `count` entries.
    pub fn fill(&mut self, count: u16) {
        for n in 0..u32::from(count - self.count) {
            self.constant(3, &(0x4000_0000 + n).to_be_bytes());
        }
    }

    /// Adds a public static method.
    pub fn method(&mut self, name: &str, descriptor: &str, body: &Body) {
        let mut code = u16s(&[body.stack, body.locals]);
        code.extend_from_slice(&(body.code.len() as u32).to_be_bytes());
        code.extend_from_slice(&body.code);
        code.extend_from_slice(&(body.handlers.len() as u16).to_be_bytes());
        body.handlers.iter().for_each(|handler| code.extend(u16s(handler)));
        code.extend_from_slice(&(body.attributes.len() as u16).to_be_bytes());
        for (name, content) in &body.attributes {
            code.extend(u16s(&[self.utf8(name)]));
            code.extend_from_slice(&(content.len() as u32).to_be_bytes());
            code.extend_from_slice(content);
        }
        let mut method = u16s(&[0x0009, self.utf8(name), self.utf8(descriptor), 1, self.utf8("Code")]);
        method.extend_from_slice(&(code.len() as u32).to_be_bytes());
        method.extend(code);
        self.methods.push(method);
    }

    /// Adds an abstract method.
    pub fn bodiless(&mut self, name: &str, descriptor: &str) {
        let method = u16s(&[0x0401, self.utf8(name), self.utf8(descriptor), 0]);
        self.methods.push(method);
    }

    pub fn finish(mut self, name: &str) -> Vec<u8> {
        let (this, parent) = (self.class(name), self.class("java/lang/Object"));
        let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE];
        // 45.3 is what the first compilers wrote.
        out.extend(u16s(&[if self.major == 45 { 3 } else { 0 }, self.major, self.count]));
        out.extend(&self.pool);
        out.extend(u16s(&[0x0021, this, parent, 0, 0, self.methods.len() as u16]));
        self.methods.iter().for_each(|method| out.extend(method));
        out.extend(u16s(&[0]));
        out
    }
}

/// Code with labels.
#[derive(Default)]
pub struct Text {
    pub bytes: Vec<u8>,
    labels: HashMap<&'static str, usize>,
    /// Where, how wide, from which instruction, to which label.
    fixes: Vec<(usize, usize, usize, &'static str)>,
}

impl Text {
    pub fn op(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub fn label(&mut self, name: &'static str) -> &mut Self {
        self.labels.insert(name, self.bytes.len());
        self
    }

    fn reference(&mut self, width: usize, from: usize, label: &'static str) {
        self.fixes.push((self.bytes.len(), width, from, label));
        self.bytes.resize(self.bytes.len() + width, 0);
    }

    /// A jump with an offset of two or four bytes.
    pub fn jump(&mut self, opcode: u8, width: usize, label: &'static str) -> &mut Self {
        let from = self.bytes.len();
        self.bytes.push(opcode);
        self.reference(width, from, label);
        self
    }

    fn switch(&mut self, opcode: u8, default: &'static str) -> usize {
        let from = self.bytes.len();
        self.bytes.push(opcode);
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        self.reference(4, from, default);
        from
    }

    pub fn table(&mut self, default: &'static str, low: i32, cases: &[&'static str]) -> &mut Self {
        let from = self.switch(0xaa, default);
        self.op(&low.to_be_bytes()).op(&(low + cases.len() as i32 - 1).to_be_bytes());
        cases.iter().for_each(|case| self.reference(4, from, case));
        self
    }

    pub fn lookup(&mut self, default: &'static str, cases: &[(i32, &'static str)]) -> &mut Self {
        let from = self.switch(0xab, default);
        self.op(&(cases.len() as i32).to_be_bytes());
        for (key, case) in cases {
            self.op(&key.to_be_bytes());
            self.reference(4, from, case);
        }
        self
    }

    pub fn finish(mut self) -> Vec<u8> {
        for (at, width, from, label) in self.fixes {
            let distance = (self.labels[label] as i32 - from as i32).to_be_bytes();
            self.bytes[at..at + width].copy_from_slice(&distance[4 - width..]);
        }
        self.bytes
    }
}

//! Small Java methods of every shape of control flow, drawn from a seed.

use std::fmt::Write as _;

/// Maximum depth of nested statements.
const DEPTH_MAX: u32 = 3;
/// How many statements with a branch a method has, apart from a few ways out of its `try` blocks.
const STATEMENTS_MAX: u32 = 10;
/// The arguments that each method is called with.
const ARGUMENTS: [i32; 5] = [0, 1, 3, 6, 14];

/// A class of small methods `m0`, `m1` and so on, each from an int to an int, and a `main` that calls them all.
pub struct Generated {
    pub source: String,
    /// The line of the first statement of each loop's body, which has no other code.
    pub marks: Vec<u32>,
}

/// Writes the class `stepped.Small` with so many methods.
pub fn generate(methods: u32, seed: u64) -> Generated {
    let mut writer = Writer { chance: Chance(seed), ..Writer::default() };
    for line in [
        "package stepped;",
        "public class Small {",
        "static final RuntimeException BOOM = new IllegalStateException();",
        "static final RuntimeException OTHER = new IllegalArgumentException();",
        "static final int[][] ARRAYS = {{}, {4}, {1, 2, 3}};",
        "static int seen;",
        "static int zero;",
    ] {
        writer.line(line);
    }
    (0..methods).for_each(|number| writer.method(number));
    // `main` is not followed, so it may be as plain as it likes.
    for number in 0..methods {
        writer.line(&format!("static int call{number}(int a) {{"));
        writer.line(&format!("try {{ return m{number}(a); }} catch (RuntimeException e) {{ return 1; }} }}"));
    }
    writer.line("public static void main(String[] args) {");
    writer.line("int t = 0;");
    for number in 0..methods {
        for argument in ARGUMENTS {
            writer.line(&format!("t = t * 31 + call{number}({argument});"));
        }
    }
    writer.line("System.out.println(t + \" \" + seen);");
    writer.line("}");
    writer.line("}");
    Generated { source: writer.source, marks: writer.marks }
}

/// A sequence of numbers that follows from its seed (xorshift64*).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as u32 % limit
    }
}

impl Default for Chance {
    fn default() -> Chance {
        Chance(1)
    }
}

#[derive(Default)]
struct Writer {
    source: String,
    lines: u32,
    marks: Vec<u32>,
    chance: Chance,
    /// The method at hand.
    method: u32,
    /// The statements that it may still get.
    left: u32,
    /// Makes names of locals and labels unique in it.
    names: u32,
    /// The labels of the loops around the statement at hand.
    loops: Vec<u32>,
}

impl Writer {
    fn line(&mut self, text: &str) {
        self.lines += 1;
        writeln!(self.source, "{text}").expect("a string takes any text");
    }

    fn name(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    fn method(&mut self, number: u32) {
        self.method = number;
        self.names = 0;
        self.left = STATEMENTS_MAX;
        self.line(&format!("static int m{number}(int a) {{"));
        self.line("int t = a;");
        self.block(0);
        self.line("return t;");
        self.line("}");
    }

    fn block(&mut self, depth: u32) {
        self.line("t++;");
        for _ in 0..=self.chance.below(if depth == 0 { 3 } else { 2 }) {
            if self.left > 0 {
                self.left -= 1;
                self.statement(depth);
            }
        }
    }

    fn test(&mut self) -> String {
        let number = self.chance.below(6);
        match self.chance.below(6) {
            0 => format!("(t & 3) == {}", number % 4),
            1 => format!("a > {number}"),
            2 => format!("t % 3 != {}", number % 3),
            3 => format!("t < {}", number * 4),
            4 => format!("(seen & 1) == {}", number % 2),
            _ => format!("ARRAYS[t & 1] != ARRAYS[{}]", number % 2),
        }
    }

    fn condition(&mut self) -> String {
        let (a, b, c) = (self.test(), self.test(), self.test());
        match self.chance.below(6) {
            0 => format!("{a} && {b}"),
            1 => format!("{a} || {b}"),
            2 => format!("!({a} && {b}) || {c}"),
            3 => format!("({a} || {b}) && {c}"),
            _ => a,
        }
    }

    fn statement(&mut self, depth: u32) {
        let is_nested = depth < DEPTH_MAX;
        match self.chance.below(16) {
            0..=1 if is_nested => self.choice(depth),
            2..=6 if is_nested => self.repetition(depth),
            7..=9 if is_nested => self.attempt(depth),
            10..=11 if is_nested => self.selection(depth),
            12 => {
                let test = self.condition();
                self.line(&format!("t = {test} ? t + 3 : t - 2;"));
            }
            13 if self.method.is_multiple_of(4) && self.method >= 4 => {
                // The called methods call none, or fewer.
                let callee = self.method - 1 - self.chance.below(3);
                self.line(&format!("t += m{callee}(t & 15);"));
            }
            14 if self.method.is_multiple_of(16) && self.method >= 16 => {
                self.line(&format!("t += m{}(t & 7);", self.method - 4));
            }
            _ => self.exit(),
        }
    }

    fn choice(&mut self, depth: u32) {
        let test = self.condition();
        self.line(&format!("if ({test}) {{"));
        self.block(depth + 1);
        if self.chance.below(2) == 0 {
            self.line("} else {");
            self.block(depth + 1);
        }
        self.line("}");
    }

    fn selection(&mut self, depth: u32) {
        let is_table = self.chance.below(2) == 0;
        let (of, keys) =
            if is_table { ("t & 3", ["0", "1", "2"]) } else { ("t % 5 * 1000", ["-3000", "1000", "4000"]) };
        self.line(&format!("switch ({of}) {{"));
        for key in keys {
            self.line(&format!("case {key}:"));
            self.block(depth + 1);
            if self.chance.below(3) > 0 {
                self.line("break;");
            }
        }
        if self.chance.below(2) == 0 {
            self.line("default:");
            self.line("t -= 7;");
        }
        self.line("}");
    }

    fn repetition(&mut self, depth: u32) {
        let (name, times, test) = (self.name(), self.chance.below(5), self.condition());
        let form = self.chance.below(6);
        match form {
            0 => self.line(&format!("L{name}: for (int i{name} = 0; i{name} < {times}; i{name}++) {{")),
            1 => {
                self.line(&format!("int i{name} = 0;"));
                self.line(&format!("L{name}: while (i{name} < {times} && ({test})) {{"));
            }
            2 => {
                self.line(&format!("int i{name} = {times};"));
                self.line(&format!("L{name}: do {{"));
            }
            3 => {
                self.line(&format!("int i{name} = 0;"));
                self.line(&format!("L{name}: for (;;) {{"));
            }
            4 => self.line(&format!("L{name}: for (int x{name} : ARRAYS[(t & 0xff) % 3]) {{")),
            _ => {
                self.line(&format!("int i{name} = 0;"));
                self.line(&format!("L{name}: while (i{name} == 0 || i{name} < {times} && ({test})) {{"));
            }
        }
        self.marks.push(self.lines + 1);
        self.line("seen++;");
        match form {
            1 | 5 => self.line(&format!("i{name}++;")),
            2 => self.line(&format!("i{name}--;")),
            3 => self.line(&format!("if (++i{name} > {times}) {{ break L{name}; }}")),
            4 => self.line(&format!("t += x{name};")),
            _ => {}
        }
        self.loops.push(name);
        self.block(depth + 1);
        self.loops.pop();
        match form {
            2 => self.line(&format!("}} while (i{name} > 0 && ({test}));")),
            _ => self.line("}"),
        }
    }

    fn attempt(&mut self, depth: u32) {
        if self.chance.below(5) == 0 {
            self.line("synchronized (BOOM) {");
            self.block(depth + 1);
            self.line("}");
            return;
        }
        let name = self.name();
        self.line("try {");
        self.block(depth + 1);
        self.exit();
        let (is_caught, is_last) = (self.chance.below(3) > 0, self.chance.below(2) == 0);
        if is_caught || !is_last {
            let class = ["IllegalStateException", "IllegalArgumentException", "RuntimeException"]
                [self.chance.below(3) as usize];
            self.line(&format!("}} catch ({class} e{name}) {{"));
            self.block(depth + 1);
        }
        if is_last {
            self.line("} finally {");
            self.block(DEPTH_MAX - 1);
        }
        self.line("}");
    }

    /// A way out of the block, on a condition.
    fn exit(&mut self) {
        let test = self.condition();
        let depth = self.loops.len() as u32;
        let label = if depth > 0 { self.loops[self.chance.below(depth) as usize] } else { 0 };
        let way = match self.chance.below(7) {
            0 => "return t + 1;".to_owned(),
            1 => "throw BOOM;".to_owned(),
            2 => "throw OTHER;".to_owned(),
            3 => "t += 1 / zero;".to_owned(),
            4 if depth > 0 => format!("break L{label};"),
            5 if depth > 0 => format!("continue L{label};"),
            _ => "t += 5;".to_owned(),
        };
        self.line(&format!("if ({test}) {{ {way} }}"));
    }
}

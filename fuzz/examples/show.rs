//! Shows the methods of the class in an input of the `patch` target: `show <input>`.

use hypocenter_classfile::ClassFile;
use hypocenter_fuzz::hooks::{self, Options};

fn main() {
    let path = std::env::args_os().nth(1).expect("show <input>");
    let bytes = std::fs::read(path).expect("a readable file");
    let (options, class) = Options::split(&bytes).expect("options before the class");
    let class = ClassFile::parse(class).expect("a class");
    println!("{options:?}, version {}", class.major);
    for (n, method) in class.methods().iter().enumerate() {
        println!("method {n} {}", String::from_utf8_lossy(method.name));
        let Ok(Some(code)) = method.code() else { continue };
        let list: Vec<_> = code.instructions().map_while(Result::ok).collect();
        for it in &list {
            println!(
                "  {:5} {:3} {:02x?} -> {:?}",
                it.pc,
                it.opcode,
                it.bytes,
                it.targets().collect::<Vec<_>>()
            );
        }
        code.handlers().for_each(|handler| println!("  {handler:?}"));
        if options.method(n) {
            hooks::choose(&options, &list, &code).iter().for_each(|hook| println!("  {hook:?}"));
        }
    }
}

//! Log statements of small programs, compiled with both ways of concatenating strings.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use hypocenter_program::{CallGraph, ClassPath, Facts, MethodId, Scope, Statement, Statements, World, load};

use crate::tools::{directory, java_home, tool};

/// Stand-ins of libraries: package, and the types in it.
const LIBRARIES: [(&str, &[(&str, &str)]); 12] = [
    (
        "org.slf4j",
        &[
            ("Marker", "interface Marker {}"),
            (
                "Logger",
                "interface Logger {
                    boolean isInfoEnabled();
                    void trace(String m); void debug(String m); void info(String m); void warn(String m); void error(String m);
                    void info(String m, Object a); void info(String m, Object a, Object b); void info(String m, Object... a);
                    void warn(String m, Object a); void warn(String m, Object a, Object b); void warn(String m, Object... a);
                    void error(String m, Throwable t); void warn(String m, Throwable t);
                    void info(Marker k, String m); void info(Marker k, String m, Object a);
                    org.slf4j.spi.LoggingEventBuilder atWarn();
                }",
            ),
            ("LoggerFactory", "class LoggerFactory { public static Logger getLogger(String n) { return null; } }"),
        ],
    ),
    (
        "org.slf4j.spi",
        &[(
            "LoggingEventBuilder",
            "interface LoggingEventBuilder {
                LoggingEventBuilder setCause(Throwable t); LoggingEventBuilder setMessage(String m);
                LoggingEventBuilder addKeyValue(String k, Object v);
                void log(); void log(String m); void log(String m, Object a);
            }",
        )],
    ),
    (
        "org.apache.log4j",
        &[
            ("Priority", "class Priority {}"),
            ("Level", "class Level extends Priority { public static final Level WARN = null; }"),
            (
                "Category",
                "class Category {
                    public void info(Object m) {} public void fatal(Object m) {} public void error(Object m) {}
                    public void error(Object m, Throwable t) {} public void log(Priority p, Object m) {}
                    public void log(String c, Priority p, Object m, Throwable t) {}
                }",
            ),
            ("Logger", "class Logger extends Category { public void trace(Object m) {} }"),
        ],
    ),
    (
        "org.apache.logging.log4j",
        &[
            ("Level", "class Level { public static final Level ERROR = null; }"),
            (
                "Logger",
                "interface Logger {
                    void debug(org.apache.logging.log4j.util.Supplier<?> s); void info(String m, Object a); void info(String m);
                    void info(Object m); void log(Level l, String m, Object a); void printf(Level l, String m, Object... a);
                    void fatal(String m); LogBuilder atError();
                }",
            ),
            (
                "LogBuilder",
                "interface LogBuilder { LogBuilder withThrowable(Throwable t); void log(String m); }",
            ),
        ],
    ),
    ("org.apache.logging.log4j.util", &[("Supplier", "interface Supplier<T> { T get(); }")]),
    (
        "org.apache.logging.log4j.message",
        &[("ParameterizedMessage", "class ParameterizedMessage { public ParameterizedMessage(String m, Object... a) {} }")],
    ),
    (
        "org.apache.commons.logging",
        &[("Log", "interface Log { void info(Object m); void fatal(Object m, Throwable t); }")],
    ),
    (
        "scala",
        &[
            ("Function0", "interface Function0<T> { T apply(); }"),
            ("StringContext", "class StringContext { public StringContext(Object parts) {} public String s(Object arguments) { return null; } }"),
            ("Predef$", "class Predef$ { public static final Predef$ MODULE$ = null; public Object wrap(Object[] all) { return null; } }"),
        ],
    ),
    (
        "scala.collection",
        &[("StringOps$", "class StringOps$ { public static final StringOps$ MODULE$ = null; public String format$extension(String s, Object a) { return null; } }")],
    ),
    ("kotlin.jvm.functions", &[("Function0", "interface Function0<T> { T invoke(); }")]),
    ("mu", &[("KLogger", "interface KLogger { void info(kotlin.jvm.functions.Function0<?> m); }")]),
    (
        "org.jboss.logging",
        &[("Logger", "class Logger { public void infof(String m, Object... a) {} public void warnv(String m, Object... a) {} }")],
    ),
];

const SLF4J: &str = "static final org.slf4j.Logger LOG = org.slf4j.LoggerFactory.getLogger(\"x\");";

/// Subject of a row, the members of its class (with the logger of slf4j), and all statements in it: method, level,
/// template, `!` if there is an exception, and the wrapper that is called.
const ROWS: &[(&str, &str, &[&str])] = &[
    ("a constant", "void f() { LOG.debug(\"ready\"); }", &["f DEBUG ready"]),
    (
        "every kind of part",
        "static final int N = 3; static final char C = ':';
         void f(String s, long l, char c, boolean b) { LOG.info(\"a\" + s + N + C + l + \" \" + c + b + 'z'); }",
        &["f INFO a{}3:{} {}z"],
    ),
    ("only variables", "void f(int a, int b) { LOG.info(\"\" + a + b); }", &["f INFO {}"]),
    (
        "characters that are not ASCII",
        "void f(int n) { LOG.info(\"gr\\u00fc\\u00dfe/\\ud83d\\ude00 \" + n); }",
        &["f INFO gr\u{fc}\u{df}e/\u{1f600} {}"],
    ),
    (
        "the marks of recipes in a text",
        "void f(int n) { LOG.info(\"a\\u0001b\\u0002\" + n); }",
        &["f INFO a\u{1}b\u{2}{}"],
    ),
    (
        "placeholders, with a constant for one of them",
        "void f(int n) { LOG.info(\"{} is {}\", \"size\", n); }",
        &["f INFO size is {}"],
    ),
    ("a placeholder that is kept", "void f(int n) { LOG.info(\"\\\\{} {}\", n); }", &["f INFO {} {}"]),
    ("braces without an argument are text", "void f() { LOG.info(\"set {}\"); }", &["f INFO set {}"]),
    (
        "an exception behind arguments, as a variable and in an array",
        "void f(Exception e, Object o) { LOG.warn(\"x {}\", o, e); LOG.warn(\"y {} {}\", o, o, e); LOG.warn(\"z {}\", o); }",
        &["f WARN x {} !", "f WARN y {} {} !", "f WARN z {}"],
    ),
    (
        "an exception that is caught, and none",
        "void f() { try { LOG.info(\"in\"); } catch (RuntimeException e) { LOG.error(\"out\", e); LOG.error(\"no\", (Throwable) null); } }",
        &["f ERROR no", "f ERROR out !", "f INFO in"],
    ),
    (
        "a marker before the message",
        "void f(org.slf4j.Marker k, int n) { LOG.info(k, \"m {}\", n); }",
        &["f INFO m {}"],
    ),
    (
        "a fluent logger",
        "void f(Exception e, int n) {
            LOG.atWarn().setCause(e).addKeyValue(\"k\", n).log(\"one {}\", n);
            LOG.atWarn().setMessage(\"two\").log();
         }",
        &["f WARN one {} !", "f WARN two"],
    ),
    (
        "a chosen message and a chosen part",
        "void f(boolean b, int n) { LOG.info(b ? \"yes \" + n : \"no\"); LOG.warn(\"is \" + (b ? \"on\" : \"off\") + \".\"); }",
        &["f INFO no", "f INFO yes {}", "f WARN is off.", "f WARN is on."],
    ),
    (
        "a text that grows in a loop",
        "void f(String[] all) { String t = \"all:\"; for (String s : all) { t = t + \" \" + s; } LOG.info(t); }",
        &["f INFO all:", "f INFO {} {}"],
    ),
    (
        "a builder over several lines",
        "void f(String a) { StringBuilder b = new StringBuilder(\"from \"); b.append(a); b.append(\" to \").append('x').append(7); LOG.info(b.toString()); }",
        &["f INFO from {} to x7"],
    ),
    (
        "a builder with appends that may not happen, that are repeated, and that come too late",
        "void f(boolean c, String[] all) {
            StringBuilder b = new StringBuilder();
            b.append(\"[\");
            if (c) { b.append(\"maybe\"); }
            b.append(\"|\");
            for (String s : all) { b.append(s).append(\",\"); }
            LOG.info(b.append(\"]\").toString());
            b.append(\"late\");
         }",
        &["f INFO [{}|{}]"],
    ),
    (
        "a builder in a loop, and one that a method gets",
        "void f(String[] all) {
            for (String s : all) { StringBuilder b = new StringBuilder(16).append(\"s=\"); b.append(s); LOG.info(b.toString()); }
            StringBuffer b = new StringBuffer(\"<\"); g(b); b.append(\">\"); LOG.warn(b.toString());
         }
         void g(StringBuffer b) { b.append(hashCode()); }",
        &["f INFO s={}", "f WARN <{}>"],
    ),
    (
        "a builder that is cleared",
        "void f() { StringBuilder b = new StringBuilder(\"x\"); b.setLength(0); b.append(\"y\"); LOG.info(b.toString()); }",
        &["f INFO {}"],
    ),
    (
        "formats",
        "void f(String s, int n) {
            LOG.info(String.format(\"%s: %05d of %1$s, 100%%\", s, n));
            LOG.info(String.format(java.util.Locale.ROOT, \"%d left\", n));
            LOG.info(java.text.MessageFormat.format(\"{1} it''s {0}\", s, n));
            LOG.info(\"to %s\".formatted(s));
            LOG.info(\"a \".concat(s).concat(\" b\"));
            LOG.info(String.valueOf((Object) \"plain\"));
         }",
        &["f INFO a {} b", "f INFO plain", "f INFO to {}", "f INFO {} it's {}", "f INFO {} left", "f INFO {}: {} of {}, 100%"],
    ),
    (
        "constants in fields",
        "static final String A; static { A = \"first\"; } static final String B = System.getenv(\"B\"); static String c = \"c\";
         final String d = \"d\"; void set() { c = \"other\"; }
         void f() { LOG.info(A + \" \" + B + \" \" + c + \" \" + d); }",
        &["f INFO first {} {} d"],
    ),
    (
        "methods that return the text",
        "String name(int n) { return n > 0 ? \"n\" + n : null; }
         static String with(String s) { return \"<\" + s + \">\"; }
         void f(int n, String s) { LOG.info(\"it is \" + name(n)); LOG.warn(with(s)); LOG.error(with(\"const\")); }",
        &["f ERROR <const>", "f INFO it is null", "f INFO it is n{}", "f WARN <{}>"],
    ),
    (
        "a method that calls itself",
        "String g(int n) { return n == 0 ? \"end\" : \"(\" + g(n - 1) + \")\"; } void f(int n) { LOG.info(g(n)); }",
        &["f INFO ((({})))", "f INFO ((end))", "f INFO (end)", "f INFO end"],
    ),
    (
        "a wrapper",
        "void say(String m) { LOG.warn(m); } void f(int n) { say(\"lost \" + n); } void g(Object o) { say(o.toString()); }",
        &["f WARN lost {} via say", "g WARN {} via say"],
    ),
    (
        "a wrapper that adds, and a caller that says nothing itself",
        "void fail(String m) { LOG.error(\"failed: \" + m); } void f() { fail(\"disk\"); } void g(Object o) { fail(o.toString()); }",
        &["f ERROR failed: disk via fail", "fail ERROR failed: {}"],
    ),
    (
        "a wrapper that nobody calls",
        "void say(String m) { LOG.info(m); } void note(String m) { LOG.info(\"note \" + m); }",
        &["note INFO note {}", "say INFO {}"],
    ),
    (
        "a wrapper of a wrapper of a wrapper, with an exception",
        "void a(String m, Throwable t) { LOG.error(m, t); } void b(String m, Throwable t) { a(\"b \" + m, t); }
         void c(String m) { b(m + \" c\", new Error()); } void f() { c(\"it\"); }",
        &["f ERROR b it c ! via c"],
    ),
    (
        "an exception that only some callers of a wrapper have",
        "void a(String m, Throwable t) { LOG.error(m, t); } void b(String m, Object... o) { LOG.info(m, o); }
         void f(Exception e, int n) { a(\"with\", e); a(\"without\", null); b(\"{} x\", n, e); b(\"{} {} y\", n, n); System.out.printf(\"%s\", e); }",
        &["f ERROR with ! via a", "f ERROR without via a", "f INFO {} x ! via b", "f INFO {} {} y via b", "f PRINT {}"],
    ),
    (
        "a wrapper with a format",
        "void say(String m, Object... a) { LOG.info(String.format(m, a)); } void pass(String m, Object... a) { LOG.warn(m, a); }
         void f(int n) { say(\"%d of %s\", n, n); pass(\"{} of {}\", n, n); }",
        &["f INFO {} of {} via say", "f WARN {} of {} via pass"],
    ),
    (
        "a format without words hands its arguments on, one with words does not",
        "void tag(String m) { LOG.info(\"[{}] {}\", hashCode(), m); } void closed(String p) { LOG.warn(\"closed {}\", p); }
         void f() { tag(\"start\"); closed(\"/a\"); }",
        &["closed WARN closed {}", "f INFO [{}] start via tag"],
    ),
    (
        "a wrapper that writes at several levels",
        "void say(boolean bad, String m) { if (bad) { LOG.error(m); } else { LOG.info(m); } } void f() { say(true, \"x\"); }",
        &["f ERROR x via say", "f INFO x via say"],
    ),
    (
        "a wrapper with the level as parameter",
        "static final java.util.logging.Logger JUL = null;
         void at(java.util.logging.Level l, String m) { JUL.log(l, m); }
         void f() { at(java.util.logging.Level.CONFIG, \"c\"); at(null, \"n\"); }",
        &["f  n via at", "f CONFIG c via at"],
    ),
    (
        "a wrapper behind an interface",
        "interface Out { void line(String m); } static class A implements Out { public void line(String m) { LOG.info(\"A \" + m); } }
         static class B implements Out { public void line(String m) { LOG.warn(m); } }
         void f(boolean b) { Out o = b ? new A() : new B(); o.line(\"text\"); }",
        &["f INFO A text via line", "f WARN text via line"],
    ),
    (
        "a wrapper that calls itself",
        "void say(String m, int n) { if (n > 0) { say(m + \".\", n - 1); } LOG.info(m); } void f() { say(\"x\", 3); }",
        &["f INFO x via say", "say INFO {}"],
    ),
    (
        "a wrapper that is also a callback",
        "static class C implements java.util.function.Consumer<String> { public void accept(String m) { LOG.info(m); } }
         void f(C c) { c.accept(\"direct\"); }",
        &["accept INFO {}", "f INFO direct via accept"],
    ),
    (
        "messages that are asked for",
        "void info(scala.Function0<String> m) { if (LOG.isInfoEnabled()) { LOG.info(ident(m.apply())); } }
         String ident(String m) { return id == null ? m : id + m; } String id;
         void more(scala.Function0<String> m) { info(m); }
         void f(int n) { more(() -> \"by name \" + n); info(() -> \"plain\"); }",
        &["f INFO by name {} via more", "f INFO plain via info", "f INFO {}by name {} via more", "f INFO {}plain via info"],
    ),
    (
        "interpolated and formatted as by Scala",
        "void f(int n) {
            LOG.info(new scala.StringContext(scala.Predef$.MODULE$.wrap(new String[] {\"a \", \" b \", \"\"})).s(scala.Predef$.MODULE$.wrap(new Object[] {n, \"c\"})));
            LOG.warn(scala.collection.StringOps$.MODULE$.format$extension(\"%d of %s\", scala.Predef$.MODULE$.wrap(new Object[] {n, \"x\"})));
         }",
        &["f INFO a {} b c", "f WARN {} of x"],
    ),
    (
        "an object that is asked",
        "static class Text implements kotlin.jvm.functions.Function0<Object> { public Object invoke() { return \"said\"; } }
         void f(mu.KLogger log) { log.info(new Text()); log.info(() -> \"lambda\"); }",
        &["f INFO lambda", "f INFO said"],
    ),
    (
        "an interface of the system that is asked",
        "interface Lazy { String text(); } void say(Lazy m) { LOG.info(\"> \" + m.text()); } void f(int n) { say(() -> \"n=\" + n); }",
        &["f INFO > n={} via say"],
    ),
    (
        "java.util.logging",
        "static final java.util.logging.Logger JUL = null;
         void f(String s, Exception e) {
            JUL.severe(\"s\"); JUL.fine(() -> \"supplied \" + s); JUL.log(java.util.logging.Level.FINER, \"{0} of {1}\", new Object[] {s, 2});
            JUL.log(java.util.logging.Level.INFO, \"one {0}\", s); JUL.log(java.util.logging.Level.WARNING, \"bad\", e);
            JUL.logp(java.util.logging.Level.FINEST, \"C\", \"m\", \"deep\"); JUL.info(\"{0}\");
         }",
        &["f FINE supplied {}", "f FINER {} of {}", "f FINEST deep", "f INFO one {}", "f INFO {0}", "f SEVERE s", "f WARNING bad !"],
    ),
    (
        "log4j 1 and commons-logging",
        "void f(org.apache.log4j.Logger l, org.apache.commons.logging.Log c, Exception e, int n) {
            l.trace(\"t\"); l.fatal(\"f \" + n); l.error(e); l.error(\"e\", e); l.log(org.apache.log4j.Level.WARN, \"w\");
            l.log(\"C\", org.apache.log4j.Level.WARN, \"named\", e); c.info(\"c \" + n); c.fatal(\"end\", e);
            StringBuilder b = new StringBuilder(\"b\"); b.append(n); c.info(b);
         }",
        &["f ERROR e !", "f ERROR {}", "f FATAL end !", "f FATAL f {}", "f INFO b{}", "f INFO c {}", "f TRACE t", "f WARN named !", "f WARN w"],
    ),
    (
        "log4j 2",
        "void f(org.apache.logging.log4j.Logger l, Exception e, int n) {
            l.debug(() -> \"lazy \" + n); l.info(\"{} in\", n); l.info(\"%s out\", n); l.fatal(\"end\");
            l.log(org.apache.logging.log4j.Level.ERROR, \"l {}\", n); l.printf(org.apache.logging.log4j.Level.ERROR, \"%d p\", n);
            l.atError().withThrowable(e).log(\"built\");
            l.debug(() -> new org.apache.logging.log4j.message.ParameterizedMessage(\"object {}\", n));
         }",
        &["f DEBUG lazy {}", "f DEBUG object {}", "f ERROR built !", "f ERROR l {}", "f ERROR {} p", "f FATAL end", "f INFO {} in", "f INFO {} out"],
    ),
    (
        "other frameworks",
        "void f(org.jboss.logging.Logger j, System.Logger s, int n) {
            j.infof(\"%d a\", n); j.warnv(\"{0} b\", n); s.log(System.Logger.Level.DEBUG, \"{0} c\", n);
         }",
        &["f DEBUG {} c", "f INFO {} a", "f WARN {} b"],
    ),
    (
        "a logger of the system behind the interface of the framework",
        "static abstract class Prefixed implements org.slf4j.Logger { org.slf4j.Logger to; String prefix;
            public void warn(String m, Throwable t) { to.warn(prefix + m, t); } }
         static class Real extends Prefixed {
            public boolean isInfoEnabled() { return true; } public void trace(String m) {} public void debug(String m) {}
            public void info(String m) {} public void warn(String m) {} public void error(String m) {}
            public void info(String m, Object a) {} public void info(String m, Object a, Object b) {} public void info(String m, Object... a) {}
            public void warn(String m, Object a) {} public void warn(String m, Object a, Object b) {} public void warn(String m, Object... a) {}
            public void error(String m, Throwable t) {} public void info(org.slf4j.Marker k, String m) {}
            public void info(org.slf4j.Marker k, String m, Object a) {} public org.slf4j.spi.LoggingEventBuilder atWarn() { return null; }
         }
         void g() { new Real(); } void f(Exception e) { LOG.warn(\"text\", e); }",
        &["f WARN text !", "f WARN {}text !", "warn WARN {} !"],
    ),
    (
        "what is printed",
        "void f(java.io.PrintStream other, Exception e, int n) {
            System.out.println(\"n is \" + n); System.err.printf(\"%d%n\", n); System.out.print('c'); System.out.println();
            other.println(\"no\"); e.printStackTrace(); e.printStackTrace(other);
         }",
        &["f PRINT  !", "f PRINT ", "f PRINT c", "f PRINT n is {}", "f PRINT {}\n"],
    ),
    (
        "what is no statement",
        "static class Horn { void warn(String m) {} } void f(Horn h) { h.warn(\"beep\"); if (LOG.isInfoEnabled()) { h.warn(\"x\"); } }",
        &[],
    ),
    (
        "a class of the system that is a logger itself",
        "static class Own extends org.apache.log4j.Logger {
            final org.apache.log4j.Logger to = null; @Override public void info(Object m) { to.info(\"own \" + m); }
         }
         void f(Own own) { own.info(\"text\"); own.fatal(\"inherited\"); }",
        &["f FATAL inherited", "f INFO own text via info", "info INFO own {}"],
    ),
];

/// Compiles classes with these members into a directory of this name: `Row0`, `Row1` and so on.
fn compile(name: &str, mode: &str, members: &[&str]) -> (PathBuf, PathBuf) {
    let root = directory(&format!("statements-{name}"));
    let (libraries, rows) = (root.join("libraries"), root.join("rows"));
    let mut sources = Vec::new();
    for (package, types) in LIBRARIES {
        let folder = root.join("src").join(package.replace('.', "/"));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, code) in types {
            let path = folder.join(format!("{name}.java"));
            std::fs::write(&path, format!("package {package}; public {code}")).unwrap();
            sources.push(path.to_str().unwrap().to_owned());
        }
    }
    let mut arguments = vec!["-nowarn", "-d", libraries.to_str().unwrap()];
    arguments.extend(sources.iter().map(String::as_str));
    tool("javac", &arguments, &root);
    let mut sources = Vec::new();
    for (number, members) in members.iter().enumerate() {
        let path = root.join(format!("Row{number}.java"));
        std::fs::write(&path, format!("package rows; class Row{number} {{ {SLF4J} {members} }}")).unwrap();
        sources.push(path.to_str().unwrap().to_owned());
    }
    let concatenation = format!("-XDstringConcat={mode}");
    let mut arguments = vec!["-nowarn", &concatenation, "-encoding", "UTF-8"];
    arguments.extend(["-cp", libraries.to_str().unwrap(), "-d", rows.to_str().unwrap()]);
    arguments.extend(sources.iter().map(String::as_str));
    tool("javac", &arguments, &root);
    (libraries, rows)
}

fn world(name: &str, mode: &str, members: &[&str]) -> World {
    let (libraries, rows) = compile(name, mode, members);
    let entries = [rows, libraries].map(|it| it.to_str().unwrap().to_owned());
    let classes = ClassPath::from_entries(&entries, Path::new("")).with_jdk(&java_home()).open(17);
    let (world, problems) = load(&classes, &Scope::of(&["rows".to_owned()]));
    assert_eq!(problems, []);
    world
}

fn members() -> Vec<&'static str> {
    ROWS.iter().map(|it| it.1).collect()
}

fn statements(world: &World) -> Statements {
    let facts = Facts::of(world);
    Statements::of(world, &facts, &CallGraph::of(world, &facts))
}

fn show(world: &World, statement: &Statement) -> Vec<String> {
    let name = |method: MethodId| String::from_utf8_lossy(world.method_name(method)).into_owned();
    let mut rest = String::new();
    if statement.has_exception {
        rest.push_str(" !");
    }
    if let Some(via) = statement.via {
        write!(rest, " via {}", name(via)).unwrap();
    }
    let head = format!("{} {}", name(statement.method), statement.said);
    statement.templates.iter().map(|it| format!("{head} {it}{rest}")).collect()
}

fn check(mode: &str) {
    let world = world(mode, mode, &members());
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for it in statements(&world).statements() {
        let class = world.show_type(world.method(it.method).owner);
        let row = class.split('$').next().unwrap().to_owned();
        found.entry(row).or_default().extend(show(&world, it));
    }
    let mut wrong = String::new();
    for (number, (reason, _, expected)) in ROWS.iter().enumerate() {
        let mut found = found.remove(&format!("rows.Row{number}")).unwrap_or_default();
        found.sort();
        let mut expected: Vec<&str> = expected.to_vec();
        expected.sort();
        if found != expected {
            writeln!(wrong, "{number} {reason}:\n  expected {expected:#?}\n  found {found:#?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{mode}:\n{wrong}");
}

#[test]
fn statements_with_concatenation_by_builder() {
    check("inline");
}

#[test]
fn statements_with_concatenation_by_invokedynamic() {
    check("indyWithConstants");
}

#[test]
fn statements_with_concatenation_by_plain_invokedynamic() {
    check("indy");
}

#[test]
fn statements_do_not_depend_on_the_number_of_threads() {
    let world = world("threads", "indyWithConstants", &members());
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| statements(&world).statements().to_vec())
    };
    let one = run(1);
    assert!(one.len() > ROWS.len());
    assert_eq!(one, run(7));
}

#[test]
fn values_within_values_without_end_are_cut() {
    let deep = |inner: &str| format!("({inner}){}", ".concat(s)".repeat(500));
    let code = format!(
        "String a(String s) {{ return {}; }} String b(String s) {{ return {}; }} void f(String s) {{ LOG.info({}); }}",
        deep("s"),
        deep("a(s)"),
        deep("b(s)")
    );
    let world = world("deep", "inline", &[&code]);
    let found = statements(&world);
    let shown: Vec<String> = found.statements().iter().flat_map(|it| show(&world, it)).collect();
    assert_eq!(shown, ["f INFO {}"]);
}

#[test]
fn broken_classes_break_nothing() {
    let (libraries, rows) = compile("broken", "inline", &members());
    let package = rows.join("rows");
    let files: Vec<PathBuf> = std::fs::read_dir(&package).unwrap().map(|it| it.unwrap().path()).collect();
    let whole: Vec<Vec<u8>> = files.iter().map(|it| std::fs::read(it).unwrap()).collect();
    let entries = [rows, libraries].map(|it| it.to_str().unwrap().to_owned());
    let mut state = 1u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut found = 0;
    for _ in 0..40 {
        for (path, bytes) in files.iter().zip(&whole) {
            let mut bytes = bytes.clone();
            for _ in 0..random(4) {
                let at = random(bytes.len());
                bytes[at] = random(256) as u8;
            }
            std::fs::write(path, bytes).unwrap();
        }
        let classes = ClassPath::from_entries(&entries, Path::new("")).open(17);
        let (world, _) = load(&classes, &Scope::of(&["rows".to_owned()]));
        found += statements(&world).statements().len();
    }
    assert!(found > 40, "nearly everything was refused: {found}");
}

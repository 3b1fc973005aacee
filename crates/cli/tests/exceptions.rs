//! Exceptions of every shape are built where they are thrown, and look as if the program had thrown them.

mod support;

use serde_json::{Value, json};
use support::{Jdk, Tool, default_jdk, each, jdks, line_of};

/// A class to throw, and what it says of itself when the program has caught it.
const SHAPES: &[(&str, &str)] = &[
    ("shapes.Shapes$Text", "shapes.Shapes$Text: hello"),
    ("shapes.Shapes$Nothing", "shapes.Shapes$Nothing"),
    ("shapes.Shapes$TextAndCause", "shapes.Shapes$TextAndCause: hello"),
    ("shapes.Shapes$Cause", "shapes.Shapes$Cause: cause null"),
    ("shapes.Shapes$Int", "shapes.Shapes$Int: code 0"),
    ("shapes.Shapes$Primitives", "shapes.Shapes$Primitives: 0 0 false 0 0 0 0.0 0.0"),
    ("shapes.Shapes$Enumerated", "shapes.Shapes$Enumerated: code FIRST"),
    ("shapes.Shapes$Array", "shapes.Shapes$Array: 0 texts, 0 numbers"),
    ("shapes.Shapes$Nested", "shapes.Shapes$Nested: Status(hello, 0)"),
    ("shapes.Shapes$Interface", "shapes.Shapes$Interface: action null"),
    ("shapes.Shapes$Private", "shapes.Shapes$Private: hello"),
    ("shapes.hidden.Hidden", "shapes.hidden.Hidden: hello"),
    ("shapes.Shapes$Picky", "shapes.Shapes$Picky: code 0"),
    ("shapes.Shapes$Inner", "shapes.Shapes$Inner: hello in true"),
    ("shapes.Shapes$Traceless", "shapes.Shapes$Traceless: hello"),
    // Abstract: a concrete subtype is thrown, of the application or of the JDK.
    ("shapes.Shapes$Base", "shapes.Shapes$Derived: hello"),
    ("java.io.ObjectStreamException", "java.io.InvalidClassException: hello"),
    ("java.lang.Throwable", "java.lang.Throwable: hello"),
    ("java.lang.OutOfMemoryError", "java.lang.OutOfMemoryError: hello"),
    ("java.net.SocketTimeoutException", "java.net.SocketTimeoutException: hello"),
    ("java.nio.channels.ClosedChannelException", "java.nio.channels.ClosedChannelException"),
    (
        "java.nio.charset.MalformedInputException",
        "java.nio.charset.MalformedInputException: Input length = 0",
    ),
];

fn site() -> Value {
    json!({
        "class": "shapes.Main",
        "method": "site",
        "descriptor": "()V",
        "kind": "call",
        "callee": "shapes.Main.callee()V",
        "ordinal": 0,
    })
}

/// A plan that throws the n-th class at the n-th hit of the one site.
fn plan(classes: &[&str]) -> Value {
    let candidate = |(at, class): (usize, &&str)| {
        json!({
            "site": site(),
            "fault": {"kind": "exception", "class": class, "message": "hello"},
            "when": {"occurrence": at + 1},
        })
    };
    let candidates: Vec<Value> = classes.iter().enumerate().map(candidate).collect();
    json!({"version": 1, "limit": candidates.len(), "candidates": candidates})
}

/// The lines of each round: what was thrown, and its frames.
fn rounds(program: &str) -> Vec<Vec<&str>> {
    let mut rounds: Vec<Vec<&str>> = Vec::new();
    for line in program.lines() {
        match line.split_once(": ") {
            Some((start, thrown)) if start.starts_with("round ") => rounds.push(vec![thrown]),
            _ => rounds.last_mut().expect("a round comes first").push(line.trim_start()),
        }
    }
    rounds
}

fn check_shapes(jdk: &Jdk) {
    let classes: Vec<&str> = SHAPES.iter().map(|(class, _)| *class).collect();
    let tool = Tool::on(jdk, "run").args("--json").plan(&plan(&classes));
    let done = tool.java(&format!("shapes.Main {}", classes.len())).exits(0);
    let (outcome, program) = (done.outcome(), done.program());
    let rounds = rounds(&program);
    let frame = format!("at shapes.Main.site(Main.java:{})", line_of("shapes/Main.java", "throw"));
    let rows: Vec<_> = SHAPES.iter().enumerate().collect();
    each(
        &rows,
        |(_, (class, _))| class.to_string(),
        |(at, (class, says))| {
            let result = &outcome["candidates"][at]["result"];
            assert_eq!(result["end"], "injected", "{result:#}");
            assert_eq!(rounds[*at][0], *says);
            assert_eq!(result["threw"], says.split(':').next().unwrap());
            let frames = &rounds[*at][1..];
            if class.ends_with("Traceless") {
                assert!(frames.is_empty(), "{frames:?}");
            } else {
                assert_eq!(frames[0], frame);
                assert_eq!(frames.len(), 2, "{frames:?}");
                assert!(frames[1].starts_with("at shapes.Main.main("), "{frames:?}");
            }
        },
    );
}

#[test]
fn an_exception_of_every_shape_is_built_where_it_is_thrown() {
    jdks().iter().for_each(check_shapes);
}

#[test]
fn an_exception_that_cannot_be_built_is_refused_and_the_program_goes_on() {
    let rows = [
        ("shapes.Shapes$Broken", "initialis"),
        ("shapes.Shapes$Unwilling", "no constructor could be called with default arguments"),
    ];
    each(
        &rows,
        |(class, _)| class.to_string(),
        |(class, why)| {
            let tool =
                Tool::new("inject").arg("shapes.Main.site -> callee").args("--json --throw").arg(class);
            let done = tool.java("shapes.Main 2").exits(2);
            assert_eq!(done.program(), "round 1: fine\nround 2: fine\n");
            let result = done.outcome()["candidates"][0]["result"].clone();
            assert_eq!(result["end"], "refused", "{result:#}");
            let said = result["why"].as_str().unwrap();
            assert!(said.contains(class) && said.contains(why), "{result:#}");
            done.says("refused").says(class);
        },
    );
}

#[test]
fn a_refused_candidate_leaves_the_limit_to_the_next() {
    let mut plan = plan(&["shapes.Shapes$Broken", "shapes.Shapes$Text"]);
    plan["limit"] = json!(1);
    let done = Tool::new("run").args("--json").plan(&plan).java("shapes.Main 3").exits(0);
    let outcome = done.outcome();
    assert_eq!(outcome["candidates"][0]["result"]["end"], "refused", "{outcome:#}");
    assert_eq!(outcome["candidates"][1]["result"]["end"], "injected", "{outcome:#}");
    assert!(done.program().starts_with("round 1: fine\nround 2: shapes.Shapes$Text: hello\n"));
}

#[test]
fn what_cannot_be_thrown_is_an_error_before_anything_runs() {
    let rows = [
        ("java.io.IOExcepton", &["`java.io.IOExcepton`", "did you mean java.io.IOException?\n"][..]),
        ("shapes.Shapes$Tex", &["`shapes.Shapes$Tex`", "did you mean shapes.Shapes$Text?\n"]),
        ("java.lang.String", &["java.lang.String", "Throwable"]),
        ("shapes.Shapes$Status", &["shapes.Shapes$Status", "Throwable"]),
        // What is called so and nothing else.
        ("IOException", &["`IOException`", "with its package: java.io.IOException\n"]),
        ("Exception", &["`Exception`", "with its package: java.lang.Exception\n"]),
        ("filenotfound", &["`filenotfound`", "with its package: java.io.FileNotFoundException\n"]),
        ("Zebra", &["`Zebra`", "as in java.io.IOException\n"]),
    ];
    each(
        &rows,
        |(class, _)| class.to_string(),
        |(class, says)| {
            let tool = Tool::new("inject").arg("shapes.Main.site").args("--throw").arg(class);
            let done = tool.java("shapes.Main 1").exits(1);
            assert_eq!(done.stdout, "");
            says.iter().fold(done, |done, text| done.says(text));
        },
    );
}

#[test]
fn an_exception_comes_from_the_loader_of_the_class_at_the_site() {
    each(
        jdks(),
        |jdk| format!("Java {}", jdk.feature),
        |jdk| {
            // A strict loader takes only java.* from its parents, so that is where hooks must find their helper.
            for host in ["plugin.Host", "plugin.Host strict"] {
                let tool = Tool::on(jdk, "inject").arg("Plugin.act -> Plugin.nothing");
                let done = tool.args("--throw plugin.PluginException --json").java(host).exits(0);
                assert_eq!(done.program(), "caught its own: true\n", "{host}: {}", done.stderr);
            }
        },
    );
}

#[test]
fn a_class_that_was_loaded_before_the_agent_is_hooked() {
    let sites = [
        ("java.io.FileOutputStream.write([BII)V", "java.io.FileOutputStream.write"),
        (
            "java.io.FileOutputStream.write([BII)V -> FileOutputStream.writeBytes",
            "java.io.FileOutputStream.write",
        ),
        (
            "java.io.FileOutputStream.<init>(Ljava/io/File;Z)V -> java.io.FileOutputStream.open",
            "java.io.FileOutputStream.<init>",
        ),
    ];
    let rows: Vec<_> = jdks().iter().flat_map(|jdk| sites.map(|site| (jdk, site))).collect();
    each(
        &rows,
        |(jdk, (site, _))| format!("{site} on Java {}", jdk.feature),
        |(jdk, (site, frame))| {
            let tool =
                Tool::on(jdk, "inject").arg(site).args("--throw java.io.IOException --thread writer --at 2");
            let done = tool.args("--message full --json").java("probe.Files").exits(0);
            let expected =
                format!("round 1: fine\nround 2: java.io.IOException: full at {frame}\nround 3: fine\n");
            assert_eq!(done.program(), expected, "{}", done.stderr);
            assert_eq!(done.outcome()["candidates"][0]["hits"], 3);
            assert!(done.stderr.contains("throw java.io.IOException, which says `full`"), "{}", done.stderr);
        },
    );
}

#[test]
fn a_class_that_the_agent_itself_runs_through_is_refused() {
    let tool = Tool::on(default_jdk(), "inject").arg("java.lang.Thread.getName").args("--sleep 1ms --json");
    let done = tool.java("probe.Guards many 1").exits(2);
    let result = done.outcome()["candidates"][0]["result"].clone();
    assert_eq!(result["end"], "refused", "{result:#}");
    assert!(
        result["why"].as_str().unwrap().contains("the agent's own helper runs through this class"),
        "{result:#}"
    );
}

#[test]
fn an_exception_whose_constructor_comes_by_the_site_is_thrown_once() {
    each(
        jdks(),
        |jdk| format!("Java {}", jdk.feature),
        |jdk| {
            let tool = Tool::on(jdk, "inject").arg("shapes.Main.site").args("--message hello --json --throw");
            let done = tool.arg("shapes.Shapes$Entangled").java("shapes.Main 3").exits(0);
            let program = done.program();
            let thrown: Vec<&str> = rounds(&program).iter().map(|round| round[0]).collect();
            assert_eq!(thrown, ["shapes.Shapes$Entangled: hello", "fine", "fine"]);
            assert_eq!(done.outcome()["candidates"][0]["result"]["times"], 1);
        },
    );
}

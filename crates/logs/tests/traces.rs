//! Stack traces in logs.

use hypocenter_logs::{Log, Relation, Trace};

/// One line for each exception: `number relation<parent class: message [frames] +restored`.
fn show(trace: &Trace<'_>) -> Vec<String> {
    let mut shown = Vec::new();
    for (n, it) in trace.exceptions.iter().enumerate() {
        let relation = match it.relation {
            Relation::Logged => "logged".to_owned(),
            Relation::Cause => format!("cause<{}", it.parent.expect("a cause has a parent")),
            Relation::Suppressed => format!("suppressed<{}", it.parent.expect("it has a parent")),
            Relation::Wrapper => format!("wrapper<{}", it.parent.expect("a wrapper has a parent")),
        };
        let frames: Vec<String> = it
            .frames
            .iter()
            .map(|it| {
                let line = it.line.map_or(String::new(), |it| format!(":{it}"));
                let native = if it.is_native { "native" } else { "" };
                format!("{}.{}({}{line}{native})", it.class, it.method, it.file.unwrap_or("?"))
            })
            .collect();
        let circular = if it.is_circular { " circular" } else { "" };
        shown.push(format!(
            "{n} {relation} {}: {} [{}] +{}{circular}",
            it.class,
            it.message.replace('\n', "\\n"),
            frames.join(" "),
            it.restored
        ));
    }
    shown
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(show(&Trace::parse(text)), expected, "{text}");
}

#[test]
fn frames_of_every_kind() {
    check(
        "java.io.IOException: no\n\
         \tat java.net.PlainSocketImpl.socketConnect(Native Method)\n\
         \tat java.base/java.lang.Thread.run(Thread.java:833)\n\
         \tat java.base@17.0.1/java.lang.Thread.run(Thread.java:833)\n\
         \tat app//org.foo.Bar.<init>(Bar.java:1)\n\
         \tat app/my.module@1.0/org.foo.Bar.m(Bar.java)\n\
         \tat a.B$$Lambda$14/0x0000000800066840.run(Unknown Source)\n\
         \tat a.B.lambda$run$0(B.java:2) ~[b.jar:1.0]\n\
         \tat a.B.c(B.java:3) [b.jar!/:?]\n\
         \tat a.B.a test of Kotlin(B.kt:4)\n\
         \tat a.B$Proxy.d(<generated>)\n",
        &["0 logged java.io.IOException: no [\
            java.net.PlainSocketImpl.socketConnect(?native) \
            java.lang.Thread.run(Thread.java:833) \
            java.lang.Thread.run(Thread.java:833) \
            org.foo.Bar.<init>(Bar.java:1) \
            org.foo.Bar.m(Bar.java) \
            a.B$$Lambda$14/0x0000000800066840.run(?) \
            a.B.lambda$run$0(B.java:2) \
            a.B.c(B.java:3) \
            a.B.a test of Kotlin(B.kt:4) \
            a.B$Proxy.d(<generated>)] +0"],
    );
}

#[test]
fn causes_share_the_frames_of_what_they_caused() {
    check(
        "a.OuterException: outer\n\
         \tat a.A.one(A.java:1)\n\
         \tat a.A.two(A.java:2)\n\
         \tat a.A.three(A.java:3)\n\
         Caused by: a.MiddleException\n\
         \tat a.M.m(M.java:1)\n\
         \tat a.A.two(A.java:9)\n\
         \t... 1 more\n\
         Caused by: a.InnerException: in\n\
         \tat a.I.i(I.java:1)\n\
         \t... 2 common frames omitted\n",
        &[
            "0 logged a.OuterException: outer [a.A.one(A.java:1) a.A.two(A.java:2) a.A.three(A.java:3)] +0",
            "1 cause<0 a.MiddleException:  [a.M.m(M.java:1) a.A.two(A.java:9) a.A.three(A.java:3)] +1",
            "2 cause<1 a.InnerException: in [a.I.i(I.java:1) a.A.two(A.java:9) a.A.three(A.java:3)] +2",
        ],
    );
}

#[test]
fn suppressed_exceptions_have_causes_of_their_own() {
    check(
        "a.XException: x\n\
         \tat a.A.one(A.java:1)\n\
         \tSuppressed: a.SException: s\n\
         \t\tat a.S.s(S.java:1)\n\
         \t\t... 1 more\n\
         \tCaused by: a.TException: t\n\
         \t\tat a.T.t(T.java:1)\n\
         \t\t... 2 more\n\
         \tSuppressed: a.UException\n\
         \t\tat a.U.u(U.java:1)\n\
         Caused by: a.CException: c\n\
         \tat a.C.c(C.java:1)\n\
         Caused by: [CIRCULAR REFERENCE: a.XException: x]\n",
        &[
            "0 logged a.XException: x [a.A.one(A.java:1)] +0",
            "1 suppressed<0 a.SException: s [a.S.s(S.java:1) a.A.one(A.java:1)] +1",
            "2 cause<1 a.TException: t [a.T.t(T.java:1) a.S.s(S.java:1) a.A.one(A.java:1)] +2",
            "3 suppressed<0 a.UException:  [a.U.u(U.java:1)] +0",
            "4 cause<0 a.CException: c [a.C.c(C.java:1)] +0",
            "5 cause<4 a.XException: x [] +0 circular",
        ],
    );
    check(
        "a.XException\n\tat a.A.one(A.java:1)\n\t[CIRCULAR REFERENCE:a.XException: x]\n",
        &["0 logged a.XException:  [a.A.one(A.java:1)] +0", "1 cause<0 a.XException: x [] +0 circular"],
    );
}

#[test]
fn odd_heads() {
    // Messages of several lines.
    check(
        "a.XException: first\nsecond: line\n  third\n\tat a.A.one(A.java:1)\nCaused by: a.YException: p\nq\n\tat a.A.two(A.java:2)\n",
        &[
            "0 logged a.XException: first\\nsecond: line\\n  third [a.A.one(A.java:1)] +0",
            "1 cause<0 a.YException: p\\nq [a.A.two(A.java:2)] +0",
        ],
    );
    // A JVM leaves out the frames of exceptions that it throws too often.
    check("java.lang.NullPointerException\n", &["0 logged java.lang.NullPointerException:  [] +0"]);
    check(
        "Exception in thread \"main\" java.lang.Error: x\n\tat a.A.one(A.java:1)\n",
        &["0 logged java.lang.Error: x [a.A.one(A.java:1)] +0"],
    );
    check(
        "org.apache.hadoop.ipc.RemoteException(java.io.IOException): no\n\tat a.A.one(A.java:1)\n",
        &["0 logged org.apache.hadoop.ipc.RemoteException: (java.io.IOException): no [a.A.one(A.java:1)] +0"],
    );
    // Two in one entry, and lines of others in between.
    check(
        "a.XException: x\n\tat a.A.one(A.java:1)\nsomebody printed this\n\tat a.A.two(A.java:2)\na.YException: y\n\tat a.A.three(A.java:3)\n",
        &[
            "0 logged a.XException: x [a.A.one(A.java:1) a.A.two(A.java:2)] +0",
            "1 logged a.YException: y [a.A.three(A.java:3)] +0",
        ],
    );
    check(
        "java.io.IOException: root\n\tat a.A.one(A.java:1)\nWrapped by: a.XException: x\n\tat a.A.two(A.java:2)\n",
        &[
            "0 logged java.io.IOException: root [a.A.one(A.java:1)] +0",
            "1 wrapper<0 a.XException: x [a.A.two(A.java:2)] +0",
        ],
    );
    // White space at the start of lines was lost.
    check(
        "a.XException: x\nat a.A.one(A.java:1)\nCaused by: a.YException\nat a.A.two(A.java:2)\n... 1 more\n",
        &[
            "0 logged a.XException: x [a.A.one(A.java:1)] +0",
            "1 cause<0 a.YException:  [a.A.two(A.java:2) a.A.one(A.java:1)] +1",
        ],
    );
    for prose in [
        "",
        "nothing here\n",
        "at least one (or two) is needed\n",
        "at 5.30 (local time)\n",
        "... 3 dots\n",
        "key.name: value\n",
    ] {
        check(prose, &[]);
    }
}

#[test]
fn an_entry_has_its_message_and_its_exceptions() {
    let entry = "2021-07-28 13:31:16,997 INFO [main] a.B: ";
    for (text, message, expected) in [
        (
            "closing\njava.io.EOFException\n\tat a.B.c(B.java:1)\n",
            "closing",
            vec!["0 logged java.io.EOFException:  [a.B.c(B.java:1)] +0"],
        ),
        (
            "two\nlines\na.Odd: x\n\tat a.B.c(B.java:1)\n",
            "two\nlines",
            vec!["0 logged a.Odd: x [a.B.c(B.java:1)] +0"],
        ),
        (
            "failed with java.io.IOException: Broken pipe\n\tat a.B.c(B.java:1)\n",
            "failed with java.io.IOException: Broken pipe",
            vec!["0 logged java.io.IOException: Broken pipe [a.B.c(B.java:1)] +0"],
        ),
        ("frames of nothing\n\tat a.B.c(B.java:1)\n", "frames of nothing", vec![]),
        ("a table\nkey.Name: 1\nkey.Other: 2\n", "a table\nkey.Name: 1\nkey.Other: 2", vec![]),
    ] {
        let text = format!("{entry}{text}");
        let log = Log::read(text.as_bytes()).expect("a log");
        let read = log.entry(0).expect("an entry");
        assert_eq!(read.message, message, "{text}");
        assert_eq!(show(&read.trace()), expected, "{text}");
    }
}

#[test]
fn roots_are_at_the_end_of_each_chain() {
    let text = "a.XException\nCaused by: a.YException\nCaused by: a.ZException\nb.OtherException\n";
    let trace = Trace::parse(text);
    let roots: Vec<&str> = trace.roots().map(|it| it.class).collect();
    assert_eq!(roots, ["a.ZException", "b.OtherException"]);
}

#[test]
fn more_than_is_kept_is_cut_and_told() {
    let chain = "Caused by: a.XException: x\n\tat a.B.c(B.java:1)\n\t... 999999999 more\n".repeat(10_000);
    let trace = Trace::parse(&chain);
    assert!(trace.is_cut);
    assert!(trace.exceptions.len() <= 64);
    let deep = format!("a.XException\n{}", "\tat a.B.c(B.java:1)\n".repeat(100_000));
    let trace = Trace::parse(&deep);
    assert!(trace.is_cut);
    assert_eq!(trace.exceptions[0].frames.len(), 2048);
}

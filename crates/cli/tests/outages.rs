//! Faults that go on after their site, in real JVMs: a connection that stays silent, a disk that is full.

mod support;

use serde_json::{Value, json};
use support::{Jdk, Tool, each, jdks, on_every_jdk};

#[track_caller]
fn effect(outcome: &Value) -> &Value {
    let candidates = outcome["candidates"].as_array().unwrap();
    let mut injected = candidates.iter().filter(|it| it["result"]["end"] == "injected");
    let (only, others) = (injected.next().expect("a fault was injected"), injected.count());
    assert_eq!(others, 0, "{outcome:#}");
    &only["result"]["effect"]
}

/// A way to send, the first message that does not arrive, what the program says, and the bytes that were swallowed.
struct Row {
    site: &'static str,
    flags: &'static str,
    way: &'static str,
    program: &'static str,
    effect: (u64, u64),
}

const DROPS: [Row; 4] = [
    Row {
        site: "NioSocketImpl.tryWrite",
        flags: "--at 2",
        way: "stream",
        program: "0: answered\n1: silence\n2: silence\n3: silence\nserver: 1 messages, 0 bytes of another\n",
        effect: (3, 24),
    },
    // A buffer, several, the stream of a channel, and a file that is sent by the system.
    Row {
        site: "IOUtil.write",
        flags: "--thread main",
        way: "channel",
        program: "sent 8: silence\nsent 8: silence\nwrote: silence\nsent 8: silence\n\
                  server: 0 messages, 0 bytes of another\n",
        effect: (4, 32),
    },
    // The other direction: messages arrive, answers do not.
    Row {
        site: "IOUtil.write",
        flags: "--thread server --at 2",
        way: "channel",
        program: "sent 8: answered\nsent 8: silence\nwrote: silence\nsent 8: silence\n\
                  server: 4 messages, 0 bytes of another\n",
        effect: (3, 3),
    },
    // The rest of a frame that has begun to arrive never follows.
    Row {
        site: "NioSocketImpl.tryWrite",
        flags: "--at 2",
        way: "halves",
        program: "silence\nserver: 0 messages, 4 bytes of another\n",
        effect: (3, 12),
    },
];

#[test]
fn a_dropped_connection_is_silent_from_one_write_until_it_is_closed() {
    let name = |(jdk, row): &(&Jdk, &Row)| format!("{} {} on Java {}", row.site, row.way, jdk.feature);
    each(&on_every_jdk(&DROPS), name, |(jdk, row)| {
        let tool = Tool::on(jdk, "inject").arg(row.site).args(row.flags).args("--drop --json");
        let done = tool.arg("--resource").arg("* > *").java(&format!("probe.Silent {} {{dir}}", row.way));
        let done = done.exits(0);
        assert_eq!(done.program(), row.program, "{}", done.stderr);
        let outcome = done.outcome();
        let (operations, bytes) = row.effect;
        assert_eq!(effect(&outcome), &json!({"operations": operations, "bytes": bytes}), "{outcome:#}");
        assert_eq!(outcome["problems"], json!([]));
    });
}

const FULL: &str = "stream: IOException: No space left on device\n\
                    random: IOException: No space left on device\n\
                    channel: IOException: No space left on device\n\
                    vector: IOException: No space left on device\n\
                    force: IOException: No space left on device\n\
                    truncate: done\n\
                    open: FileNotFoundException: new (No space left on device)\n\
                    create: IOException: No space left on device\n\
                    files: FileSystemException: files: No space left on device\n\
                    directory: FileSystemException: sub: No space left on device\n\
                    read: done\n\
                    move: done\n\
                    delete: done\n\
                    elsewhere: done\n";

#[test]
fn nothing_is_written_below_a_path_whose_disk_is_full() {
    each(
        jdks(),
        |jdk| format!("Java {}", jdk.feature),
        |jdk| {
            let tool = Tool::on(jdk, "inject").args("Full.fill --disk-full data --json");
            let done = tool.java("probe.Full {dir} once").exits(0);
            assert_eq!(done.program(), FULL, "{}", done.stderr);
            let outcome = done.outcome();
            assert_eq!(effect(&outcome), &json!({"operations": 9, "bytes": 0}), "{outcome:#}");
            assert_eq!(outcome["problems"], json!([]));
        },
    );
}

#[test]
fn a_disk_that_was_full_for_a_time_takes_writes_again() {
    let tool = Tool::new("inject").args("Full.fill --disk-full d* --for 300ms --json");
    let done = tool.java("probe.Full {dir} while").exits(0);
    assert!(done.program().ends_with("write: done\nfailed for a while\n"), "{}", done.program());
}

#[test]
fn a_fault_that_cannot_begin_at_a_site_is_refused() {
    let check = |flags: &str, message: &str| {
        Tool::new("inject").args(flags).java("probe.Full {dir} once").exits(1).says(message);
    };
    check("Full.fill --drop", "--drop begins at a write of the JDK");
    let exit = Tool::new("inject").arg("Full.fill exit").arg("--drop");
    exit.java("probe.Full {dir} once")
        .exits(1)
        .says("drop at a site of kind exit: it begins at a write of the JDK");
    check("Full.fill --disk-full /data", "give a path from the directory of the trial on");
    check("Full.fill --disk-full ../data", "give a path from the directory of the trial on");
    // A file is no connection, so nothing is dropped.
    let done = Tool::new("inject").args("IOUtil.write --drop --json").java("probe.Full {dir} once").exits(2);
    let outcome = done.outcome();
    let ends = outcome["candidates"].as_array().unwrap();
    assert!(ends.iter().all(|it| it["result"]["end"] == "not_reached"), "{outcome:#}");
}

/// Nodes `a` and `c` are servers, `b` is the client of both.
fn parted(jdk: &Jdk, flags: &str, more: &str) -> support::Done {
    let tool = Tool::on(jdk, "inject").arg("Parted.part").args("--partition a,b --json").args(flags);
    let script = format!(
        "start() {{ export HYPOCENTER_NODE=$1; exec \"$JAVA\" -XX:+UseSerialGC -cp \"$CLASSES\" probe.Parted $2 {{dir}} $3; }}
         (start a server a) & A=$!
         (start c server c) & C=$!
         (start b client {more})
         S=$?
         kill $A $C
         wait
         exit $S"
    );
    tool.script("probe", &script)
}

#[test]
fn nothing_gets_through_a_partition() {
    each(
        jdks(),
        |jdk| format!("Java {}", jdk.feature),
        |jdk| {
            let done = parted(jdk, "", "").exits(0);
            let program = "before: answered, answered\n\
                           during: silence, answered\n\
                           connect: silence, answered\n\
                           channel: silence, connected\n";
            assert_eq!(done.program(), program, "{}", done.stderr);
            let outcome = done.outcome();
            // Both ends of the connection that was there, and two connects.
            assert_eq!(effect(&outcome), &json!({"operations": 4, "bytes": 0}), "{outcome:#}");
            assert_eq!(outcome["problems"], json!([]));
        },
    );
}

#[test]
fn a_connection_loses_nothing_when_a_partition_ends() {
    let done = parted(support::default_jdk(), "--for 4s", "heals").exits(0);
    let program = "before: answered, answered\n\
                   during: silence, answered\n\
                   after: answered\n\
                   connect: answered\n";
    assert_eq!(done.program(), program, "{}", done.stderr);
}

#[test]
fn a_partition_of_what_is_not_there_is_refused() {
    let check = |flag: &str, message: &str| {
        Tool::new("inject").arg("Full.fill").args(flag).java("probe.Full {dir} once").exits(1).says(message);
    };
    check("--partition a", "it is between two nodes");
    check("--partition a,a", "give two nodes");
    let tool = Tool::new("inject").arg("Full.fill").args("--partition main,away --json");
    let outcome = tool.java("probe.Full {dir} once").exits(2).outcome();
    let result = &outcome["candidates"][0]["result"];
    assert_eq!(result["end"], "refused", "{outcome:#}");
    assert!(result["why"].as_str().unwrap().contains("no JVM of node `away`"), "{result}");
}

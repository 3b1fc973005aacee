//! Layouts: which one is detected, and what the entries are.

use hypocenter_logs::{Entry, Layout, Log, LogError};

/// An entry on one line, for a table: `line time level thread logger(file:source)method {context} message + rest`.
fn show(entry: &Entry<'_>) -> String {
    let mut shown = format!("{}", entry.line);
    if let Some(time_ms) = entry.time_ms {
        shown += &format!(" {time_ms}");
    }
    if let Some(level) = entry.level {
        shown += &format!(" {level:?}");
    }
    if let Some(thread) = entry.thread {
        shown += &format!(" [{thread}]");
    }
    if let Some(logger) = entry.logger {
        shown += &format!(" {logger}");
    }
    if let Some(method) = entry.method {
        shown += &format!("#{method}");
    }
    if let Some(file) = entry.file {
        shown += &format!(" {file}");
    }
    if let Some(line) = entry.source_line {
        shown += &format!("@{line}");
    }
    if let Some(context) = entry.context {
        shown += &format!(" {{{context}}}");
    }
    shown += &format!(" | {}", entry.message.replace('\n', "\\n"));
    if !entry.rest.is_empty() {
        shown += &format!(" | {}", entry.rest.replace('\n', "\\n").replace('\t', "\\t"));
    }
    shown
}

fn check_log(log: &Log, text: &str, expected: &[&str]) {
    let shown: Vec<String> = log.entries().map(|it| show(&it)).collect();
    assert_eq!(shown, expected, "{text}\nread as {}", log.layout());
    let counted = log.header_lines() + log.entries().map(|it| it.lines).sum::<u32>() + log.footer_lines();
    assert_eq!(counted, log.lines(), "lines of {text}");
}

/// Reads a text whose layout is detected.
fn check(text: &str, expected: &[&str]) {
    let log = Log::read(text.as_bytes()).expect(text);
    check_log(&log, text, expected);
    // A log from Windows reads the same.
    let log = Log::read(text.replace('\n', "\r\n").as_bytes()).expect(text);
    check_log(&log, text, expected);
}

/// Reads a text with a layout that is given.
fn check_with(pattern: &str, text: &str, expected: &[&str]) {
    let layout = Layout::compile(pattern).expect(pattern);
    let log = Log::read_with(text.as_bytes(), &layout).expect(text);
    check_log(&log, text, expected);
}

#[test]
fn zookeeper() {
    check(
        "2021-07-28 13:31:16,997 [myid:] - INFO  [main:QuorumPeerConfig@460] - clientPortAddress is 0.0.0.0:2183\n",
        &["1 1627479076997 Info [main] QuorumPeerConfig@460 | clientPortAddress is 0.0.0.0:2183"],
    );
    check(
        "2021-07-28 13:31:17,000 [myid:3] - WARN  [QuorumPeer[myid=3](plain=/0.0.0.0:2183)(secure=disabled):QuorumPeer@1] - x\n",
        &[
            "1 1627479077000 Warn [QuorumPeer[myid=3](plain=/0.0.0.0:2183)(secure=disabled)] QuorumPeer@1 {3} | x",
        ],
    );
    check(
        "2015-07-29 17:41:44,747 - INFO  [QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181:FastLeaderElection@774] - Notification time out: 3200\n\
         2015-07-29 19:04:12,394 - INFO  [/10.10.34.11:3888:QuorumCnxManager$Listener@493] - Received\n\
         2015-08-10 18:12:34,004 - ERROR [ProcessThread(sid:3 cport:-1)::PrepRequestProcessor@476] - a [b:C@1] - d",
        &[
            "1 1438191704747 Info [QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181] FastLeaderElection@774 | Notification time out: 3200",
            "2 1438196652394 Info [/10.10.34.11:3888] QuorumCnxManager$Listener@493 | Received",
            "3 1439230354004 Error [ProcessThread(sid:3 cport:-1):] PrepRequestProcessor@476 | a [b:C@1] - d",
        ],
    );
    // Without class and line, as appenders are set where those cost too much.
    check(
        "2021-07-28 13:31:16,997 [myid:] - INFO  [main] - clientPortAddress is 0.0.0.0:2183\n\
         2021-07-28 13:31:17,000 [myid:3] - WARN  [QuorumPeer[myid=3](plain=/0.0.0.0:2183)(secure=disabled)] - x [y] - z\n",
        &[
            "1 1627479076997 Info [main] | clientPortAddress is 0.0.0.0:2183",
            "2 1627479077000 Warn [QuorumPeer[myid=3](plain=/0.0.0.0:2183)(secure=disabled)] {3} | x [y] - z",
        ],
    );
    check(
        "2015-07-29 17:41:44,747 - INFO  [QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181] - Notification time out: 3200\n",
        &["1 1438191704747 Info [QuorumPeer[myid=1]/0:0:0:0:0:0:0:0:2181] | Notification time out: 3200"],
    );
}

#[test]
fn hadoop_and_its_relatives() {
    check(
        "2015-10-18 18:01:47,978 INFO [main] org.apache.hadoop.MRAppMaster: Created: a\n\
         2015-10-18 18:01:48,000 WARN [IPC [1] on 8020] org.apache.hadoop.ipc.Server: b\n",
        &[
            "1 1445191307978 Info [main] org.apache.hadoop.MRAppMaster | Created: a",
            "2 1445191308000 Warn [IPC [1] on 8020] org.apache.hadoop.ipc.Server | b",
        ],
    );
    check(
        "2015-10-18 18:01:47,978 INFO org.apache.hadoop.hdfs.server.namenode.NameNode: STARTUP_MSG: \n\
         /************\n\
         STARTUP_MSG: Starting NameNode\n\
         ************/\n\
         2015-10-18 18:01:47,979 INFO org.apache.hadoop.Other: b\n",
        &[
            "1 1445191307978 Info org.apache.hadoop.hdfs.server.namenode.NameNode | STARTUP_MSG: \\n/************\\nSTARTUP_MSG: Starting NameNode\\n************/",
            "5 1445191307979 Info org.apache.hadoop.Other | b",
        ],
    );
    check(
        "2021-07-28 13:31:16,997 [main] INFO  hdfs.MiniDFSCluster (MiniDFSCluster.java:<init>(480)) - starting\n",
        &["1 1627479076997 Info [main] hdfs.MiniDFSCluster#<init> MiniDFSCluster.java@480 | starting"],
    );
    check(
        "2021-07-28 13:31:16,997 DEBUG [Time-limited test] zookeeper.ZKUtil(2093): Retrying\n",
        &["1 1627479076997 Debug [Time-limited test] zookeeper.ZKUtil@2093 | Retrying"],
    );
    check(
        "081109 203615 148 INFO dfs.DataNode$PacketResponder: PacketResponder 1 for block blk_38 terminating\n",
        &[
            "1 1226262975000 Info [148] dfs.DataNode$PacketResponder | PacketResponder 1 for block blk_38 terminating",
        ],
    );
    check(
        "17/06/09 20:10:40 INFO executor.CoarseGrainedExecutorBackend: Registered\n",
        &["1 1497039040000 Info executor.CoarseGrainedExecutorBackend | Registered"],
    );
}

#[test]
fn kafka_whose_logger_comes_last() {
    check(
        "[2021-01-01 10:00:00,123] INFO [ReplicaManager broker=0] Stopping (now) (kafka.server.ReplicaManager)\n\
         [2021-01-01 10:00:00,124] INFO KafkaConfig values: \n\
         \tbroker.id = 0\n\
         \tlog.dir = /tmp (kafka.server.KafkaConfig)\n\
         [2021-01-01 10:00:00,125] ERROR failed (kafka.server.X)\n\
         java.io.IOException: no\n\
         \tat a.B.c(B.java:1)\n\
         [2021-01-01 10:00:00,126] INFO without an end\n",
        &[
            "1 1609495200123 Info kafka.server.ReplicaManager | [ReplicaManager broker=0] Stopping (now)",
            "2 1609495200124 Info kafka.server.KafkaConfig | KafkaConfig values: \\n\tbroker.id = 0\\n\tlog.dir = /tmp",
            "5 1609495200125 Error kafka.server.X | failed | java.io.IOException: no\\n\\tat a.B.c(B.java:1)\\n",
            "8 1609495200126 Info | without an end",
        ],
    );
    check(
        "[2021-01-01 10:00:00,123] INFO started (kafka.server.KafkaServer:66)\n",
        &["1 1609495200123 Info kafka.server.KafkaServer@66 | started"],
    );
    check(
        "2021-01-01 10:00:00,123 | INFO  | a | b | org.apache.activemq.Broker | main\n",
        &["1 1609495200123 Info [main] org.apache.activemq.Broker | a | b"],
    );
}

#[test]
fn cassandra_whose_level_comes_first() {
    check(
        "INFO  [main] 2021-01-01 10:00:00,123 CassandraDaemon.java:123 - Hostname: a\n\
         ERROR [Stage:1] 2021-01-01 10:00:00,124 Foo.java:7 - b\n",
        &[
            "1 1609495200123 Info [main] CassandraDaemon.java@123 | Hostname: a",
            "2 1609495200124 Error [Stage:1] Foo.java@7 | b",
        ],
    );
    check(
        " INFO [main] 2012-01-01 10:00:00,123 Foo.java (line 12) b\n",
        &["1 1325412000123 Info [main] Foo.java@12 | b"],
    );
}

#[test]
fn frameworks_out_of_the_box() {
    // Logback without a configuration, since 1.3.
    check(
        "10:00:00.123 [main] INFO a.b.C -- msg\n10:00:00.124 [main] WARN a.b.C -- two - parts -- of it\n",
        &["1 36000123 Info [main] a.b.C | msg", "2 36000124 Warn [main] a.b.C | two - parts -- of it"],
    );
    check(
        "10:00:00.123 [main] INFO  a.b.C - msg\n10:00:00.124 [main] WARN  a.b.C - two - parts\n",
        &["1 36000123 Info [main] a.b.C | msg", "2 36000124 Warn [main] a.b.C | two - parts"],
    );
    check(
        "Jul 29, 2015 5:41:44 PM a.b.C method\nINFO: msg\nmore\nJul 29, 2015 5:41:45 PM a.b.C <init>\nSEVERE: x\n",
        &["1 1438191704000 Info a.b.C#method | msg\\nmore", "4 1438191705000 Error a.b.C#<init> | x"],
    );
    check(
        "0    [main] INFO  a.b.C  - msg\n12   [main] WARN  a.b.C ndc - x\n",
        &["1 Info [main] a.b.C | msg", "2 Warn [main] a.b.C {ndc} | x"],
    );
    check("[main] INFO a.b.C - msg\n", &["1 Info [main] a.b.C | msg"]);
    check(
        "2021-01-01 10:00:00.123  INFO 42 --- [           main] o.s.b.Foo                : Started\n",
        &["1 1609495200123 Info [main] o.s.b.Foo | Started"],
    );
    check(
        "2021-01-01 10:00:00,123 INFO  org.apache.flink.Runner        [] - msg\n",
        &["1 1609495200123 Info org.apache.flink.Runner {[]} | msg"],
    );
    check(
        "[2021-01-01T10:00:00,123][INFO ][o.e.n.Node               ] [node-1] started\n",
        &["1 1609495200123 Info o.e.n.Node {node-1} | started"],
    );
    check(
        "2021-01-01 10:00:00.123 INFO  (main) [   x:y] o.a.s.Core opened\n",
        &["1 1609495200123 Info [main] o.a.s.Core {x:y} | opened"],
    );
    check(
        "2021-01-01 10:00:00.123 \x1b[32mINFO \x1b[0m [main] a.B - coloured\n",
        &["1 1609495200123 Info [main] a.B | coloured"],
    );
    check("2021-01-01T10:00:00Z INFO something happened\n", &["1 1609495200000 Info | something happened"]);
}

#[test]
fn the_clock_goes_on_past_midnight() {
    check(
        "23:59:59.999 [main] INFO  a.B - a\n00:00:00.001 [main] INFO  a.B - b\n23:00:00.000 [main] INFO  a.B - c\n",
        &[
            "1 86399999 Info [main] a.B | a",
            "2 86400001 Info [main] a.B | b",
            "3 169200000 Info [main] a.B | c",
        ],
    );
}

#[test]
fn noise_of_test_runners() {
    let text = "JUnit version 4.12\n\
        .2021-07-28 13:31:16,997 [myid:] - INFO  [main:A@1] - one\n\
        .E.2021-07-28 13:31:16,998 [myid:] - INFO  [main:A@2] - two\n\
        printed without an end2021-07-28 13:31:16,999 [myid:] - INFO  [main:A@3] - three\n\
        it said 2021-07-28 13:31:16,999 [myid:] - INFO  [main:A@3] - a quotation\n\
        \n\
        Time: 9.385\n\
        There was 1 failure:\n\
        1) testQuorum(a.B)\n\
        java.lang.AssertionError: x\n\
        \tat a.B.c(B.java:1)\n\
        \n\
        FAILURES!!!\n\
        Tests run: 1,  Failures: 1\n\n";
    check(
        text,
        &[
            "2 1627479076997 Info [main] A@1 | one",
            "3 1627479076998 Info [main] A@2 | two\\nprinted without an end",
            "4 1627479076999 Info [main] A@3 | three\\nit said 2021-07-28 13:31:16,999 [myid:] - INFO  [main:A@3] - a quotation",
        ],
    );
    let log = Log::read(text.as_bytes()).unwrap();
    assert_eq!(log.header(), "JUnit version 4.12\n");
    assert!(log.footer().unwrap().starts_with("\nTime: 9.385\nThere was"), "{:?}", log.footer());
    assert_eq!(log.footer_lines(), 10);

    check(
        ".ERROR [main] 2021-01-01 10:00:00,123 A.java:1 - the mark is not a letter of the level\n\
         ...................INFO  [main] 2021-01-01 10:00:00,123 A.java:2 - many\n.\nOK (1 test)\n",
        &[
            "1 1609495200123 Error [main] A.java@1 | the mark is not a letter of the level",
            "2 1609495200123 Info [main] A.java@2 | many",
        ],
    );
    check(
        "2021-07-28 13:31:16,997 INFO [main] a.B: one\n\
         Tests run: 1, Failures: 0, Errors: 0\n\
         Running a.BTest\n\
         2021-07-28 13:31:16,998 INFO [main] a.B: two\n",
        &[
            "1 1627479076997 Info [main] a.B | one | Tests run: 1, Failures: 0, Errors: 0\\nRunning a.BTest\\n",
            "4 1627479076998 Info [main] a.B | two",
        ],
    );
}

#[test]
fn a_report_between_entries_is_no_part_of_them() {
    let text = "2021-07-28 13:31:16,997 INFO [main] a.B: exited\n\
        E\n\
        Time: 1.262\n\
        There was 1 failure:\n\
        1) test(a.B)\n\
        java.lang.AssertionError\n\
        \tat a.B.c(B.java:1)\n\
        2021-07-28 13:31:16,998 INFO [other] a.B: goes on\n";
    let log = Log::read(text.as_bytes()).unwrap();
    let entry = log.entry(0).unwrap();
    assert_eq!(entry.message, "exited");
    assert_eq!(entry.trace().exceptions, []);
    assert!(entry.report().unwrap().starts_with("E\nTime: 1.262"), "{:?}", entry.report());
    assert_eq!(log.entry(1).unwrap().report(), None);
    assert_eq!(log.footer(), None);
}

#[test]
fn patterns_that_are_given() {
    let zookeeper = "%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n";
    check_with(
        zookeeper,
        "2021-07-28 13:31:16,997 [myid:2] - INFO  [a:b:C@460] - x\nrest\n",
        &["1 1627479076997 Info [a:b] C@460 {2} | x\\nrest"],
    );
    check_with(
        "%d{HH:mm:ss} %-5level[%thread] %l %msg%n%ex",
        "10:00:00 INFO [main] a.b.C.run(C.java:12) x\n10:00:00 ERROR[main] a.b.C.run(Unknown Source) y\n",
        &[
            "1 36000000 Info [main] a.b.C#run C.java@12 | x",
            "2 36000000 Error [main] a.b.C#run Unknown Source | y",
        ],
    );
    check_with(
        "%highlight{%-5p}{FATAL=red} %style{%d{ABSOLUTE}}{cyan} [%-10.10t] %c{1.} | %m",
        "INFO  10:00:00,001 [main      ] a.b.C | x | y\n",
        &["1 36000001 Info [main] a.b.C | x | y"],
    );
    check_with(
        "%clr(%d{yyyy-MM-dd HH:mm:ss.SSS}){faint} %clr(%5p) ${PID} --- [%15.15t] %-40.40logger{39} : %m%n%wEx",
        "2021-01-01 10:00:00.123  WARN 42 --- [           main] o.s.b.Foo                : Started\n",
        &["1 1609495200123 Warn [main] o.s.b.Foo | Started"],
    );
    check_with("%p %marker%m%n", "INFO x\nSTARTUP y\n", &["1 Info | x", "2 | y"]);
    check_with("%% %p \\(%t\\) %m", "% INFO (a) x\n", &["1 Info [a] | x"]);
    check_with(
        "%d - %m",
        "2021-01-01 10:00:00 -\n2021-01-01 10:00:00 - \n",
        &["1 1609495200000 | ", "2 1609495200000 | "],
    );
}

#[test]
fn bytes_that_are_no_text() {
    let log = Log::read(b"10:00:00.123 [m\xff] INFO  a.b.C - \xfe\xfe\n\x00\x00\n").unwrap();
    check_log(&log, "bytes", &["1 36000123 Info [m\u{fffd}] a.b.C | \u{fffd}\u{fffd}\\n\0\0"]);
}

#[test]
fn what_is_no_log_is_told() {
    for text in ["", "\n\n", "  \t\n"] {
        assert_eq!(Log::read(text.as_bytes()).unwrap_err(), LogError::Empty, "{text:?}");
    }
    let told = Log::read(b"\nfoo \x07 bar\nbaz\n").unwrap_err().to_string();
    for part in ["no layout fits", "3 lines", "\"foo \\u{7} bar\"", "%d{ISO8601}"] {
        assert!(told.contains(part), "{told}");
    }
    let layout = Layout::compile("%d %m").unwrap();
    let told = Log::read_with(b"foo\n", &layout).unwrap_err().to_string();
    assert!(told.contains("`%d %m` fits no line of the log, tried on 1 line, which is \""), "{told}");
}

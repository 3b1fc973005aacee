//! Logs as people have them: production layouts, layouts that only an expression describes, and what is wrong with a log.

use hypocenter_logs::{Entry, Layout, Level, Log, LogError, LogReader, ReadError, Warning};

/// `level|thread|logger|line|message` of an entry, and its time.
fn split(entry: &Entry<'_>) -> (Option<i64>, String) {
    let or = |it: Option<&str>| it.unwrap_or("-").to_owned();
    let level = entry.level.map_or_else(|| "-".to_owned(), |it| format!("{it:?}"));
    let line = entry.source_line.map_or_else(|| "-".to_owned(), |it| it.to_string());
    (entry.time_ms, [level, or(entry.thread), or(entry.logger), line, entry.message.to_owned()].join("|"))
}

/// Shapes of production logs: of a ZooKeeper, a Hadoop job, an old HDFS and a Spark executor.
#[test]
fn production_logs_are_recognised_and_split() {
    for (line, time_ms, expected) in [
        (
            "2015-07-29 17:41:44,747 - INFO  [QuorumPeer[myid=7]/0:0:0:0:0:0:0:0:2181:FastLeaderElection@774] - Waited for: 42",
            1_438_191_704_747,
            "Info|QuorumPeer[myid=7]/0:0:0:0:0:0:0:0:2181|FastLeaderElection|774|Waited for: 42",
        ),
        (
            "2015-07-29 19:04:29,071 - WARN  [RecvWorker:77:QuorumCnxManager$RecvWorker@762] - Broken, error = ",
            1_438_196_669_071,
            "Warn|RecvWorker:77|QuorumCnxManager$RecvWorker|762|Broken, error = ",
        ),
        (
            "2015-10-18 18:01:47,978 INFO [main] org.apache.hadoop.mapreduce.v2.app.AppMaster: Made it: a_1_0020",
            1_445_191_307_978,
            "Info|main|org.apache.hadoop.mapreduce.v2.app.AppMaster|-|Made it: a_1_0020",
        ),
        (
            "2015-10-18 18:05:00,001 ERROR [RMCommunicator Allocator] a.b.Allocator$1: ERROR [x] y: z",
            1_445_191_500_001,
            "Error|RMCommunicator Allocator|a.b.Allocator$1|-|ERROR [x] y: z",
        ),
        (
            "081109 203615 148 INFO dfs.DataNode$PacketResponder: Responder 1 for block blk_-38 ends",
            1_226_262_975_000,
            "Info|148|dfs.DataNode$PacketResponder|-|Responder 1 for block blk_-38 ends",
        ),
        (
            "17/06/09 20:10:40 INFO executor.Backend: Handlers for [TERM, HUP]",
            1_497_039_040_000,
            "Info|-|executor.Backend|-|Handlers for [TERM, HUP]",
        ),
        ("17/06/09 20:10:41 WARN Remoting: Started", 1_497_039_041_000, "Warn|-|Remoting|-|Started"),
    ] {
        let log = Log::read(line.as_bytes()).expect("a log");
        assert_eq!(split(&log.entry(0).expect("an entry")), (Some(time_ms), expected.to_owned()), "{line}");
    }
}

#[test]
fn an_expression_describes_what_no_pattern_does() {
    let text = "<3> at=10:00:01.500 who=[main] srv.Main:12 >> started >> ok\n\
                <4> at=10:00:02.000 who=[io 1] srv.Io:7 >> closed >> ok\n\
                \tand more\n\
                java.io.IOException: x\n\
                \tat a.B.c(B.java:1)\n";
    let expression = r"<(?<level>\d)> at=(?<time>\S+) who=\[(?<thread>[^\]]*)\] (?<class>[\w.]+):(?<line>\d+) >> (?<message>.*) >> ok$";
    let layout = Layout::compile(expression).expect("an expression");
    let log = Log::read_with(text.as_bytes(), &layout).expect("a log");
    let all: Vec<_> = log.entries().map(|it| split(&it)).collect();
    assert_eq!(
        all,
        [
            (Some(36_001_500), "-|main|srv.Main|12|started".to_owned()),
            (Some(36_002_000), "-|io 1|srv.Io|7|closed".to_owned())
        ]
    );
    assert_eq!(log.entry(1).map(|it| it.trace().exceptions.len()), Some(1));
    assert_eq!(log.warnings(), []);
    let mut reader = LogReader::with_layout(text.as_bytes(), &layout).expect("a log");
    assert_eq!(reader.next().expect("bytes in memory").map(|it| split(&it)), Some(all[0].clone()));
}

#[test]
fn expressions_that_cannot_be_used_say_why() {
    for (expression, why) in [
        ("(?<time>.*", "it is not a regular expression"),
        ("(?<time>.*)", "it has no group `message`"),
        ("(?<when>.*) (?<message>.*)", "the group `when` is not known"),
        ("(?<message>(a{1000}){1000})", "it is not a regular expression"),
    ] {
        let told = Layout::compile(expression).expect_err("an error").to_string();
        assert!(told.contains(why), "{expression}: {told}");
    }
}

#[test]
fn what_is_wrong_with_a_log_is_said() {
    let full = "2021-07-28 13:31:16,997 INFO [main] a.B: x\n";
    let wide = |text: &str| {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        [b"\xff\xfe", &units[..]].concat()
    };
    let broken = [full.as_bytes(), b"2021-07-28 13:31:17,000 INFO [main] a.B: \xc3\x28\n"].concat();
    let no_threads = Warning::NoThreads { is_jul: false };
    for (bytes, expected) in [
        (full.as_bytes().to_vec(), &[][..]),
        (wide(full), &[Warning::Utf16]),
        (broken, &[Warning::BrokenBytes { times: 1, line: 2 }]),
        (b"INFO [main] a.B: x\n".to_vec(), &[Warning::NoTimes]),
        (b"WARN  a.B - x\n".to_vec(), &[Warning::NoTimes, no_threads]),
        (b"13:31:16.997 [main] INFO  a.B - x\n".to_vec(), &[Warning::NoDays]),
        (b"2021-07-28 13:31:16,997 INFO a.B: x\n".to_vec(), &[no_threads]),
        (b"2021-07-28 13:31:16,997 INFO it is so\n".to_vec(), &[no_threads, Warning::NoClasses]),
    ] {
        let log = Log::read(&bytes).expect("a log");
        assert_eq!(log.warnings(), expected, "{:?}", String::from_utf8_lossy(&bytes));
        assert_eq!(log.len() as u32, log.lines());
        let mut reader = LogReader::new(&bytes[..]).expect("a log");
        while reader.next().expect("bytes in memory").is_some() {}
        assert_eq!(reader.warnings(), expected);
    }
    assert_eq!(Log::read(&wide(full)).expect("a log").entry(0).and_then(|it| it.level), Some(Level::Info));
}

#[test]
fn how_to_get_thread_names_depends_on_what_wrote_the_log() {
    let jul = "Jul 28, 2021 1:31:16 PM a.B run\nINFO: x\n";
    let log = Log::read(jul.as_bytes()).expect("a log");
    assert_eq!(log.warnings(), [Warning::NoThreads { is_jul: true }]);
    let told = log.warnings()[0].to_string();
    assert!(told.contains("java.util.logging's SimpleFormatter") && !told.contains("%t"), "{told}");
    // It may have been told to write one line.
    let other = Log::read(b"2021-07-28 13:31:16,997 INFO a.B: x\n").expect("a log");
    let told = other.warnings()[0].to_string();
    assert!(told.contains("%t") && told.contains("java.util.logging"), "{told}");
}

#[test]
fn what_is_no_log_is_refused() {
    for (bytes, expected) in [
        (&b""[..], "the log is empty"),
        (b" \n\t\r\n", "the log is empty"),
        (b"\xff\xfe", "the log is empty"),
        (b"\x7fELF\x02\x01\x01\0\0\0\n", "no layout fits"),
        (b"once upon a time\nthere was a log\n", "no layout fits"),
        (b"[INFO] Scanning for projects...\n[INFO] BUILD SUCCESS\n", "the output of Maven, 2 of 2 lines"),
    ] {
        let told = Log::read(bytes).expect_err("an error").to_string();
        assert!(told.contains(expected), "{told}");
        let Err(ReadError::Log(error)) = LogReader::new(bytes) else { panic!("{bytes:?} was read") };
        assert_eq!(error.to_string(), told);
    }
    let layout = Layout::compile("%d [%t] %m").expect("a pattern");
    let mut reader = LogReader::with_layout(&b"nothing\nof this kind\n"[..], &layout).expect("it may come");
    let Err(ReadError::Log(LogError::OtherLayout { lines: 2, first, .. })) = reader.next() else {
        panic!("an entry")
    };
    assert_eq!(first, "nothing");
}

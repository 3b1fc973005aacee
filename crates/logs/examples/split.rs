//! Prints how a log is split: `cargo run -p hypocenter-logs --example split -- FILE [LAYOUT]`. Each entry is a line of time,
//! level, thread, logger, source line and message, with bars between; at the end stands what was found of each.

use std::io::{self, BufWriter, Write};

use hypocenter_logs::{Layout, LogReader};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let path = arguments.next().ok_or("give a log file, and a layout if it is not to be detected")?;
    let file = std::fs::File::open(&path).map_err(|it| format!("{}: {it}", path.display()))?;
    let mut reader = match arguments.next() {
        Some(layout) => LogReader::with_layout(file, &Layout::compile(&layout.to_string_lossy())?)?,
        None => LogReader::new(file)?,
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let (mut entries, mut lines) = (0_u64, 0_u64);
    let mut said = [0_u64; 5];
    while let Some(it) = reader.next()? {
        let all = [
            it.time_ms.map(|it| it.to_string()),
            it.level.map(|it| format!("{it:?}")),
            it.thread.map(str::to_owned),
            it.logger.or(it.file).map(str::to_owned),
            it.source_line.map(|it| it.to_string()),
        ];
        said.iter_mut().zip(&all).for_each(|(count, it)| *count += u64::from(it.is_some()));
        // Log text is not trusted: what would move the cursor is shown as it is.
        let fields: Vec<String> = all.into_iter().map(|it| it.unwrap_or_else(|| "-".into())).collect();
        writeln!(out, "{} | {}", fields.join(" | ").escape_debug(), it.first_line().escape_debug())?;
        entries += 1;
        lines += u64::from(it.lines);
    }
    let [time, level, thread, logger, line] = said;
    writeln!(
        out,
        "{entries} entries with {lines} lines: {time} times, {level} levels, {thread} threads, {logger} loggers, {line} source lines"
    )?;
    writeln!(out, "layout: {}", reader.layout())?;
    reader.warnings().iter().try_for_each(|it| writeln!(out, "note: {it}"))?;
    Ok(())
}

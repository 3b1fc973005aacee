//! The causal graph as a file for other tools.

use std::io::{BufWriter, Write};
use std::path::Path;

use hypocenter_program::{CausalGraph, Program, Words};
use serde_json::json;

use crate::failure::Failure;

/// In which form a graph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    GraphMl,
    Dot,
    Json,
}

impl Format {
    /// The form that the end of a file's name asks for.
    pub fn of(path: &Path) -> Result<Format, Failure> {
        let extension = path.extension().and_then(|it| it.to_str()).map(str::to_lowercase);
        match extension.as_deref() {
            Some("graphml") => Ok(Format::GraphMl),
            Some("dot" | "gv") => Ok(Format::Dot),
            Some("json") => Ok(Format::Json),
            _ => Err(Failure::usage(format!("--graph {}: unknown format", path.display()))
                .hint("use a name that ends in .graphml (Gephi, yEd), .dot (Graphviz) or .json")),
        }
    }
}

/// Writes a graph, whole or not at all.
pub fn write(program: &Program, graph: &CausalGraph, format: Format, path: &Path) -> Result<(), Failure> {
    let part = path.with_file_name(format!(
        ".{}.{}",
        path.file_name().unwrap_or_default().to_string_lossy(),
        std::process::id()
    ));
    let written = std::fs::File::create(&part).and_then(|file| {
        let mut out = BufWriter::new(file);
        let picture = Picture { words: Words(program), graph };
        match format {
            Format::GraphMl => picture.graphml(&mut out)?,
            Format::Dot => picture.dot(&mut out)?,
            Format::Json => picture.json(&mut out)?,
        }
        out.flush()?;
        std::fs::rename(&part, path)
    });
    written.map_err(|error| {
        let _ = std::fs::remove_file(&part);
        Failure::usage(format!("{}: cannot be written: {error}", path.display()))
            .hint("check that the directory exists and is writable, and that its disk has free space")
    })
}

struct Picture<'p> {
    words: Words<'p>,
    graph: &'p CausalGraph,
}

impl Picture<'_> {
    /// Each node: its number, kind, label, and whether it is one of those started at.
    fn nodes(&self) -> impl Iterator<Item = (usize, &'static str, String, bool)> + '_ {
        self.graph.nodes().iter().enumerate().map(|(number, &node)| {
            let is_start = self.graph.starts().contains(&(number as u32));
            (number, node.kind_name(), self.words.node(node), is_start)
        })
    }

    /// Each edge: what needs what, and why.
    fn edges(&self) -> impl Iterator<Item = (u32, u32, &'static str)> + '_ {
        let nodes = 0..self.graph.nodes().len() as u32;
        nodes.flat_map(|from| self.graph.priors(from).map(move |(to, kind)| (from, to, kind.name())))
    }

    fn graphml(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(out, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
        for (id, on, kind) in [
            ("kind", "node", "string"),
            ("label", "node", "string"),
            ("start", "node", "boolean"),
            ("why", "edge", "string"),
        ] {
            writeln!(out, "  <key id=\"{id}\" for=\"{on}\" attr.name=\"{id}\" attr.type=\"{kind}\"/>")?;
        }
        writeln!(out, "  <graph edgedefault=\"directed\">")?;
        for (number, kind, label, is_start) in self.nodes() {
            writeln!(
                out,
                "    <node id=\"n{number}\"><data key=\"kind\">{kind}</data><data key=\"label\">{}</data><data \
                 key=\"start\">{is_start}</data></node>",
                xml(&label)
            )?;
        }
        for (from, to, why) in self.edges() {
            writeln!(
                out,
                "    <edge source=\"n{from}\" target=\"n{to}\"><data key=\"why\">{why}</data></edge>"
            )?;
        }
        writeln!(out, "  </graph>\n</graphml>")
    }

    fn dot(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "digraph why {{\n  rankdir=LR;\n  node [shape=box, fontsize=10];")?;
        for (number, kind, label, is_start) in self.nodes() {
            let style = match (kind, is_start) {
                (_, true) => ", style=bold",
                ("new" | "external", _) => ", color=red",
                _ => "",
            };
            writeln!(out, "  n{number} [label=\"{}\"{style}];", dot(&label))?;
        }
        for (from, to, why) in self.edges() {
            writeln!(out, "  n{from} -> n{to} [label=\"{why}\"];")?;
        }
        writeln!(out, "}}")
    }

    fn json(&self, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "{{\"nodes\": [")?;
        let count = self.graph.nodes().len();
        for (number, kind, label, start) in self.nodes() {
            let comma = if number + 1 < count { "," } else { "" };
            let node = json!({ "id": number, "kind": kind, "label": label, "start": start });
            writeln!(out, "{node}{comma}")?;
        }
        writeln!(out, "], \"edges\": [")?;
        let count = self.graph.edge_count();
        for (number, (from, to, why)) in self.edges().enumerate() {
            let comma = if number + 1 < count { "," } else { "" };
            writeln!(out, "{}{comma}", json!({ "from": from, "to": to, "why": why }))?;
        }
        writeln!(out, "]}}")
    }
}

/// A text within XML. Some characters may not be there at all.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&apos;",
            '\t' => out.push(it),
            it if it.is_control() || matches!(it, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            it => out.push(it),
        }
    }
    out
}

/// A text within quotes of Graphviz.
fn dot(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '"' | '\\' => out.extend(['\\', it]),
            it if it.is_control() => out.push('\u{fffd}'),
            it => out.push(it),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_leave_their_quotes() {
        assert_eq!(xml("a<b>&\"c'\u{1}\n"), "a&lt;b&gt;&amp;&quot;c&apos;\u{fffd}\u{fffd}");
        assert_eq!(dot("a\"];\\\n"), "a\\\"];\\\\\u{fffd}");
    }

    #[test]
    fn the_form_is_in_the_name() {
        let of = |name: &str| Format::of(Path::new(name)).ok();
        assert_eq!(of("a/why.graphml"), Some(Format::GraphMl));
        assert_eq!(of("why.DOT"), Some(Format::Dot));
        assert_eq!(of("why.json"), Some(Format::Json));
        assert_eq!(of("why.png"), None);
        assert_eq!(of("why"), None);
    }
}

use hypocenter_program::*;
use std::path::{Path, PathBuf};
use std::time::Instant;
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let t = Instant::now();
    let path = ClassPath::from_entries(&a[1..], Path::new(""))
        .with_jdk(&PathBuf::from(std::env::var("JAVA_HOME").unwrap()));
    let classes = path.open(17);
    println!("open {:?} {}", t.elapsed(), classes.len());
    let packages: Vec<String> = a[0].split(',').map(String::from).collect();
    let mut t = Instant::now();
    let program = Program::of(&classes, &Scope::of(&packages), &StateOptions::default(), |p| {
        println!("{:12} {:?}", p.name(), t.elapsed());
        t = Instant::now();
    });
    let Program { world, facts, .. } = &program;
    println!(
        "types {} system {} bodies {} instructions {} calls {}",
        world.types().len(),
        world.system_classes().len(),
        facts.bodies(),
        facts.instructions(),
        facts.calls().len()
    );
    println!(
        "sites {} dropped {} statements {} states {} loops {} detectors {}",
        program.faults.sites().len(),
        program.faults.dropped().len(),
        program.statements.statements().len(),
        program.states.states().len(),
        program.loops.all().len(),
        program.detectors.kept().count()
    );
    for l in std::fs::read_to_string("/proc/self/status").unwrap().lines() {
        if l.starts_with("VmHWM") {
            println!("{l}");
        }
    }
    let Some(start) = std::env::var("START").ok() else { return };
    let mut starts = vec![];
    for want in start.split(',') {
        let Some((class, line)) = want.split_once('@') else { continue };
        let line: u16 = line.parse().unwrap();
        for st in program.statements.statements() {
            let n = world.show_type(world.method(st.method).owner);
            if st.line == line && n.rsplit('.').next() == Some(class) {
                starts.push((st.method, st.instruction));
            }
        }
    }
    println!("starts {}", starts.len());
    let mut kept: std::collections::BTreeSet<(CallId, TypeId)> = Default::default();
    let mut all: std::collections::BTreeSet<CallId> = Default::default();
    for s in program.faults.sites() {
        if matches!(s.kind, FaultKind::External { .. } | FaultKind::New { .. }) {
            all.insert(s.call);
            for &e in s.kind.exceptions() {
                kept.insert((s.call, e));
            }
        }
    }
    let takes = |c: CallId, e: Exception| {
        kept.range((c, TypeId(0))..=(c, TypeId(u32::MAX))).any(|&(_, t)| world.is_subtype(e.class(), t))
    };
    let count = |g: &CausalGraph| {
        let mut sites: Vec<CallId> = g
            .nodes()
            .iter()
            .filter_map(|n| match *n {
                Node::New(c, _) | Node::External(c, _) => Some(c),
                _ => None,
            })
            .collect();
        sites.sort();
        sites.dedup();
        sites.len()
    };
    for distance_max in [20, 1000] {
        let t = Instant::now();
        let g =
            CausalGraph::of(program.causes(), &starts, GraphOptions { distance_max, without: None }, takes);
        println!(
            "graph {:?} nodes {} edges {} sites {} of {}",
            t.elapsed(),
            g.nodes().len(),
            g.edge_count(),
            count(&g),
            all.len()
        );
        let mut per: std::collections::BTreeMap<CallId, u32> = Default::default();
        for (f, n) in g.nodes().iter().enumerate() {
            let (Node::New(c, _) | Node::External(c, _)) = *n else { continue };
            let e = per.entry(c).or_insert(u32::MAX);
            *e = (*e).min(g.distance(f as u32));
        }
        let mut h: std::collections::BTreeMap<u32, u32> = Default::default();
        for d in per.values() {
            *h.entry(*d).or_default() += 1;
        }
        let mut sum = 0;
        print!("distances");
        for (d, n) in h {
            sum += n;
            print!(" {d}:{sum}");
        }
        println!();
        if std::env::var("EDGES").is_ok() {
            for k in EdgeKind::ALL {
                let h = CausalGraph::of(
                    program.causes(),
                    &starts,
                    GraphOptions { distance_max, without: Some(k) },
                    takes,
                );
                println!("  without {k:?}: nodes {} sites {}", h.nodes().len(), count(&h));
            }
        }
    }
}

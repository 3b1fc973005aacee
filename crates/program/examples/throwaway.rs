use hypocenter_classfile::*;
use hypocenter_plan::SiteKind;
use hypocenter_program::*;
use hypocenter_trace::{FALL_THROUGH, Placement};
use std::collections::BTreeMap;
use std::sync::Mutex;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let path = ClassPath::parse(&args[0], std::path::Path::new(""));
    let path = if args[1] == "-" { path } else { path.with_jdk(std::path::Path::new(&args[1])) };
    let classes = path.open(25);
    for p in &args[2..] {
        let t = std::time::Instant::now();
        let f = find_sites(&classes, &p.parse().unwrap_or_else(|e| panic!("{e}")));
        println!("{p}  ({:?}, {} problems)", t.elapsed(), f.problems.len());
        for s in f.sites.iter().take(6) {
            println!("    {s}");
        }
        if f.sites.is_empty() {
            println!("    {}", f.suggestions);
        }
    }
    if args[1] != "-" {
        for e in
            ["java.io.ObjectStreamException", "org.apache.zookeeper.KeeperException", "java.io.IOExeption"]
        {
            let t = std::time::Instant::now();
            println!(
                "{e}: {:?} {:?}",
                concrete_subtypes(&classes, e).map_err(|e| e.to_string()),
                t.elapsed()
            );
        }
        return;
    }
    for (what, kinds) in [
        ("loops", vec![SiteKind::LoopEntry, SiteKind::LoopIteration, SiteKind::LoopExit]),
        ("exit+entry", vec![SiteKind::LoopEntry, SiteKind::LoopExit]),
        ("all", SiteKind::ALL.to_vec()),
    ] {
        let tally: Mutex<BTreeMap<String, usize>> = Mutex::default();
        classes.for_each(
            |_| true,
            |name, bytes| {
                let Ok(class) = ClassFile::parse(bytes) else { return };
                let mut patcher = Patcher::new(&class);
                let hit = patcher.method_ref(b"x/Y", b"hit", b"(I)V").unwrap().to_be_bytes();
                for (i, m) in class.methods().iter().enumerate() {
                    let Ok(sites) = sites_of_method(&class, m, KindSet::of(&kinds)) else { continue };
                    let call = [0x11, 0, 1, 0xb8, hit[0], hit[1]];
                    let hooks: Vec<_> = sites
                        .sites
                        .iter()
                        .flat_map(|s| &s.hooks)
                        .filter(|h| h.placement != Placement::Unwind)
                        .map(|h| {
                            (
                                h,
                                h.edges.contains(&FALL_THROUGH),
                                h.edges.iter().copied().filter(|&w| w != FALL_THROUGH).collect::<Vec<u32>>(),
                            )
                        })
                        .collect();
                    if hooks.is_empty() {
                        continue;
                    }
                    let ins: Vec<_> = hooks
                        .iter()
                        .map(|(h, fall, from)| Insertion {
                            at: h.pc.into(),
                            place: match h.placement {
                                Placement::Edges => Place::Edges { fall: *fall, from },
                                Placement::After => Place::After,
                                Placement::Entry => Place::Entry,
                                _ => Place::Before,
                            },
                            snippet: Snippet { bytes: &call, stack: 1 },
                        })
                        .collect();
                    let r = match patcher.method(i, &MethodPatch { insertions: &ins, catch_all: None }) {
                        Ok(()) => "ok".to_string(),
                        Err(e) => {
                            let d = format!("{e:?}");
                            let d = d.split([' ', '{', '(']).next().unwrap().to_string();
                            if d.starts_with("Edge") {
                                let mut t = tally.lock().unwrap();
                                let c = t.entry("~sample".into()).or_insert(0);
                                *c += 1;
                                if *c <= 4 {
                                    println!("  {e} in {name}.{}", String::from_utf8_lossy(m.name));
                                }
                            }
                            d
                        }
                    };
                    *tally.lock().unwrap().entry(r).or_default() += 1;
                }
            },
        );
        println!("{what}: {:?}", tally.into_inner().unwrap());
    }
}

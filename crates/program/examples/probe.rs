use std::path::{Path,PathBuf};
use std::time::Instant;
use hypocenter_program::*;
fn cpu()->u64{ let t=std::fs::read_to_string("/proc/self/stat").unwrap(); let f:Vec<&str>=t[t.rfind(')').unwrap()+2..].split(' ').collect(); (f[11].parse::<u64>().unwrap()+f[12].parse::<u64>().unwrap())*10 }
fn main(){
    let a:Vec<String>=std::env::args().skip(1).collect();
    let t=Instant::now();
    let path=ClassPath::from_entries(&a[1..], Path::new("")).with_jdk(&PathBuf::from(std::env::var("JAVA_HOME").unwrap()));
    let classes=path.open(17);
    println!("[cpu {} ms] open {:?} {}", cpu(), t.elapsed(), classes.len());
    let t=Instant::now();
    let packages:Vec<String>=a[0].split(',').map(String::from).collect();
    let (world,problems)=load(&classes,&Scope::of(&packages));
    println!("[cpu {} ms] load {:?} types {} system {} methods {} refs {} fields {} names {} problems {}", cpu(), t.elapsed(), world.types().len(), world.system_classes().len(), world.method_count(), world.ref_count(), world.field_count(), world.names.len(), problems.len());
    for p in problems.iter().take(3){println!("{} {}",p.place,p.what);}
    let unresolved=(0..world.ref_count()).filter(|&i| world.method_ref(RefId(i as u32)).method.is_none()).count();
    println!("unresolved {unresolved}, phantoms {}", world.types().filter(|t|t.1.origin==Origin::Phantom).count());

    let t=Instant::now();
    let facts=Facts::of(&world);
    println!("[cpu {} ms] facts {:?} bodies {} instructions {} calls {} lambdas {} handlers {} handovers {} problems {}", cpu(), t.elapsed(), facts.bodies(), facts.instructions(), facts.calls().len(), facts.lambdas().len(), facts.handlers().len(), facts.handovers().len(), facts.problems().len());
    let t=Instant::now();
    let calls=CallGraph::of(&world,&facts);
    println!("[cpu {} ms] calls {:?}", cpu(), t.elapsed());
    let t=Instant::now();
    let ex=Exceptions::of(&world,&facts,&calls);
    println!("[cpu {} ms] exceptions {:?}", cpu(), t.elapsed());
    let total:usize=(0..world.method_count()).map(|i| ex.escapes(MethodId(i as u32)).len()).sum();
    let ext=facts.calls().iter().filter(|c| c.callee.is_some_and(|r| world.method_ref(r).method.is_some_and(|m| !world.is_system_method(m)) && !ex.of_ref(r).is_empty())).count();
    println!("escapes {total} external call sites {ext}");
    if let Some(name)=std::env::var_os("METHOD"){ let name=name.into_string().unwrap(); for i in 0..world.method_count(){ let m=MethodId(i as u32); if world.show_method(m)==name { println!("{name} escapes {:?}", ex.escapes(m).iter().map(|e| world.show_type(e.class())).collect::<Vec<_>>());}}}

    let t=Instant::now();
    let tasks=Tasks::of(&world,&facts);
    println!("[cpu {} ms] tasks {:?}", cpu(), t.elapsed());
    { let t=Instant::now(); let o=Origins::of(&world,&facts,&calls,&tasks,&ex); let asked:Vec<CallId>=(0..facts.calls().len() as u32).map(CallId).filter(|&c| o.futures().is_asked(c)).collect(); println!("[cpu {} ms] futures {:?} asked {}", cpu(), t.elapsed(), asked.len()); let t=Instant::now(); let known=asked.iter().filter(|&&c| !o.futures().behind(c).is_empty()).count(); println!("[cpu {} ms] behind {:?} known {known}", cpu(), t.elapsed()); let t=Instant::now(); let mut n=0; let mut most=0; for h in (0..facts.handlers().len() as u32).step_by(500).map(HandlerId) { for &e in ex.reaches(h).iter().take(3) { let k=o.of_caught(h,e).len(); n+=1; most=most.max(k); } } println!("[cpu {} ms] origins {:?} of {n} questions, most {most}", cpu(), t.elapsed()); }
    let causes=Causes{world:&world,facts:&facts,calls:&calls,tasks:&tasks,exceptions:&ex};
    let mut starts=vec![];
    for want in std::env::var("START").unwrap_or_default().split(','){
        let Some((class,line))=want.split_once('@') else{continue}; let line:u16=line.parse().unwrap();
        for c in facts.calls(){ if c.line==line && c.callee.is_some_and(|r|{let r=world.method_ref(r); let n=world.show_type(r.owner); n.ends_with("Logger")||n.ends_with("Log")}) { let n=world.show_type(world.method(c.method).owner); if n.rsplit('.').next()==Some(class) { starts.push((c.method,c.instruction)); } } }
    }
    println!("starts {starts:?}");
    let t=Instant::now();
    let g=CausalGraph::of(causes,&starts,|_,_|true,None);
    let faults:Vec<u32>=(0..g.nodes().len() as u32).filter(|&n| g.nodes()[n as usize].is_fault()).collect();
    let mut sites:Vec<CallId>=faults.iter().filter_map(|&n| match g.nodes()[n as usize]{Node::New(c,_)|Node::External(c,_)=>Some(c),_=>None}).collect(); sites.sort(); sites.dedup();
    println!("graph {:?} nodes {} edges {} faults {} sites {}", t.elapsed(), g.nodes().len(), g.edge_count(), faults.len(), sites.len());
    let mut all=0; for c in 0..facts.calls().len(){ let c=CallId(c as u32); let call=facts.call(c); let Some(r)=call.callee else{continue}; let lib=world.method_ref(r).method.is_some_and(|m| !world.is_system_method(m)) && ex.of_ref(r).iter().any(|e| ex.is_declared(r,*e)); let new=calls.targets(call).iter().any(|&t| ex.escapes(t).iter().any(|&e| ex.creates(t,e))); if lib||new {all+=1;} }
    println!("all sites {all}");
    { let mut best=vec![u32::MAX; g.nodes().len()]; for i in 0..starts.len(){ for (n,d) in g.distances(i).into_iter().enumerate(){ best[n]=best[n].min(d);} } let mut per:std::collections::BTreeMap<CallId,u32>=Default::default(); for &f in &faults { let (Node::New(c,_)|Node::External(c,_))=g.nodes()[f as usize] else{continue}; let e=per.entry(c).or_insert(u32::MAX); *e=(*e).min(best[f as usize]); } let mut h:std::collections::BTreeMap<u32,u32>=Default::default(); for d in per.values(){*h.entry(*d).or_default()+=1;} let mut sum=0; print!("distances"); for (d,n) in h { sum+=n; print!(" {d}:{sum}"); } println!(); }
    if std::env::var("QUICK").is_ok() { return }
    if std::env::var("LIST").is_ok() { let mut by:std::collections::BTreeMap<String,(usize,usize)>=Default::default(); for c in 0..facts.calls().len(){ let c=CallId(c as u32); let call=facts.call(c); let Some(r)=call.callee else{continue}; let lib=world.method_ref(r).method.is_some_and(|m| !world.is_system_method(m)) && ex.of_ref(r).iter().any(|e| ex.is_declared(r,*e)); let new=calls.targets(call).iter().any(|&t| ex.escapes(t).iter().any(|&e| ex.creates(t,e))); if lib||new { let e=by.entry(world.show_type(world.method(call.method).owner)).or_default(); e.0+=1; if sites.binary_search(&c).is_ok(){e.1+=1;} } } let mut v:Vec<_>=by.into_iter().collect(); v.sort_by_key(|x| std::cmp::Reverse(x.1.1)); for (n,(a,b)) in v.iter().take(45){ println!("   {b} of {a} {n}"); } return; }
    for k in EdgeKind::ALL { let h=CausalGraph::of(causes,&starts,|_,_|true,Some(k)); let mut sites:Vec<CallId>=h.nodes().iter().filter_map(|n| match *n{Node::New(c,_)|Node::External(c,_)=>Some(c),_=>None}).collect(); sites.sort(); sites.dedup(); println!("  without {k:?}: nodes {} sites {}", h.nodes().len(), sites.len()); }
    if let Ok(target)=std::env::var("TARGET"){ for &f in &faults { let (Node::New(c,e)|Node::External(c,e))=g.nodes()[f as usize] else{continue}; let call=facts.call(c); let text=format!("{} -> {}", world.show_method(call.method), String::from_utf8_lossy(world.signature(world.method_ref(call.callee.unwrap()).signature).0)); if text.contains(&target) { for s in 0..starts.len(){ let d=g.distances(s); if d[f as usize]==u32::MAX {continue} println!("{text}:{} {} distance {} from {}", call.line, world.show_type(e.class()), d[f as usize], s); if std::env::var("WHY").is_ok(){ for (n,k) in g.path(s,f){ println!("     {k:?} {}", show(&world,&facts,g.nodes()[n as usize])); } } } } } }
}
fn show(w:&World,f:&Facts,n:Node)->String{ let line=|m:MethodId,i:u16| w.look(m,|v| v.body.line(i.into())).flatten().unwrap_or(0); match n { Node::Location(m,i)=>format!("location {}:{}",w.show_method(m),line(m,i)), Node::Condition(m,i,s)=>format!("condition {}:{} edge {s}",w.show_method(m),line(m,i)), Node::Invocation(m)=>format!("invocation {}",w.show_method(m)), Node::Handler(h)=>format!("handler {}:{}",w.show_method(f.handler(h).method),f.handler(h).line), Node::Internal(m,e)=>format!("internal {} {}",w.show_method(m),w.show_type(e.class())), Node::New(c,e)=>format!("new {}:{} {}",w.show_method(f.call(c).method),f.call(c).line,w.show_type(e.class())), Node::External(c,e)=>format!("external {}:{} {}",w.show_method(f.call(c).method),f.call(c).line,w.show_type(e.class())), Node::Field(x,n)=>format!("field {} {n:?}",String::from_utf8_lossy(w.field_name(x))), Node::Return(m,n)=>format!("return {} {n:?}",w.show_method(m)), Node::Parameter(m,k,n)=>format!("parameter {} {k} {n:?}",w.show_method(m)), Node::Operand(m,i,k,n)=>format!("operand {}:{} {k} {n:?}",w.show_method(m),line(m,i)) } }

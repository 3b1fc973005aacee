use std::path::{Path,PathBuf};
use std::time::Instant;
use hypocenter_program::*;
fn main(){
    let a:Vec<String>=std::env::args().skip(1).collect();
    let t=Instant::now();
    let path=ClassPath::from_entries(&a[1..], Path::new("")).with_jdk(&PathBuf::from(std::env::var("JAVA_HOME").unwrap()));
    let classes=path.open(17);
    println!("open {:?} {}", t.elapsed(), classes.len());
    let t=Instant::now();
    let packages:Vec<String>=a[0].split(',').map(String::from).collect();
    let (world,problems)=load(&classes,&Scope::of(&packages));
    println!("load {:?} types {} system {} methods {} refs {} fields {} names {} problems {}", t.elapsed(), world.types().len(), world.system_classes().len(), world.method_count(), world.ref_count(), world.field_count(), world.names.len(), problems.len());
    for p in problems.iter().take(3){println!("{} {}",p.place,p.what);}
    let unresolved=(0..world.ref_count()).filter(|&i| world.method_ref(RefId(i as u32)).method.is_none()).count();
    println!("unresolved {unresolved}, phantoms {}", world.types().filter(|t|t.1.origin==Origin::Phantom).count());

    let t=Instant::now();
    let facts=Facts::of(&world);
    println!("facts {:?} bodies {} instructions {} calls {} lambdas {} handlers {} handovers {} problems {}", t.elapsed(), facts.bodies(), facts.instructions(), facts.calls().len(), facts.lambdas().len(), facts.handlers().len(), facts.handovers().len(), facts.problems().len());
    let t=Instant::now();
    let calls=CallGraph::of(&world,&facts);
    println!("calls {:?}", t.elapsed());
    let t=Instant::now();
    let ex=Exceptions::of(&world,&facts,&calls);
    println!("exceptions {:?}", t.elapsed());
    let total:usize=(0..world.method_count()).map(|i| ex.escapes(MethodId(i as u32)).len()).sum();
    let ext=facts.calls().iter().filter(|c| c.callee.is_some_and(|r| world.method_ref(r).method.is_some_and(|m| !world.is_system_method(m)) && !ex.of_ref(r).is_empty())).count();
    println!("escapes {total} external call sites {ext}");
    if let Some(name)=std::env::var_os("METHOD"){ let name=name.into_string().unwrap(); for i in 0..world.method_count(){ let m=MethodId(i as u32); if world.show_method(m)==name { println!("{name} escapes {:?}", ex.escapes(m).iter().map(|e| world.show_type(e.class())).collect::<Vec<_>>());}}}
}

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
}

//! A system of `eval/` that can be scanned.

use std::fs;
use std::path::{Path, PathBuf};

use hypocenter_plan::glob_matches;
use hypocenter_program::{ClassPath, Classes};

/// The Java version for jars that hold classes for several.
const RELEASE: u16 = 17;

/// Settings of a `hypocenter.toml` about its target.
pub struct System {
    /// The folder's.
    pub name: String,
    pub packages: Vec<String>,
    pub class_path: ClassPath,
}

/// Every system with a configuration, sorted by name.
pub fn all() -> Vec<System> {
    let entries = fs::read_dir(place()).expect("eval is in the checkout").flatten();
    let names = entries.filter(|it| it.path().join("hypocenter.toml").is_file()).map(|it| it.file_name());
    let mut names: Vec<String> = names.filter_map(|it| it.into_string().ok()).collect();
    names.sort();
    names.iter().map(|it| System::read(it)).collect()
}

fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval")
}

/// The JDK of JAVA_HOME, or that on the PATH.
fn jdk() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let java = std::env::split_paths(&path).find_map(|it| it.join("java").canonicalize().ok());
    let home = std::env::var_os("JAVA_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    let home = home.or_else(|| Some(java?.parent()?.parent()?.to_owned()));
    home.expect("a JDK is needed: set JAVA_HOME, or have java on the PATH")
}

impl System {
    /// Reads the configuration of a folder.
    pub fn read(name: &str) -> System {
        let base = place().join(name);
        let file = base.join("hypocenter.toml");
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let config: toml::Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let list = |key: &str| -> Vec<String> {
            let values = config.get("target").and_then(|it| it.get(key)?.as_array()).into_iter().flatten();
            values.filter_map(|it| Some(it.as_str()?.to_owned())).collect()
        };
        System {
            name: name.to_owned(),
            packages: list("packages"),
            class_path: ClassPath::from_entries(&list("classpath"), &base),
        }
    }

    /// Tests whether there is anything on its class path.
    pub fn is_fetched(&self) -> bool {
        self.class_path.entries().iter().any(|it| it.exists())
    }

    /// Opens its class path, without a JDK.
    pub fn open(&self) -> Classes {
        self.class_path.open(RELEASE)
    }

    /// Opens its class path with the classes of the JDK behind it, as a scan does.
    pub fn open_with_jdk(&self) -> Classes {
        self.class_path.clone().with_jdk(&jdk()).open(RELEASE)
    }
}

/// Tests whether a class is in one of the packages, as `[target] packages` means it.
pub fn is_own(packages: &[String], class: &str) -> bool {
    packages.iter().any(|package| match class.strip_prefix(package.as_str()) {
        _ if package.contains('*') => glob_matches(package, class),
        Some(rest) => rest.is_empty() || rest.starts_with(['.', '$']),
        None => false,
    })
}

//! Manifest of a jar in `META-INF/MANIFEST.MF`.

/// The attributes of a manifest's main section that matter to a class path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The class that `java -jar` starts.
    pub main_class: Option<String>,
    /// The `Class-Path`: addresses relative to the jar, in order.
    pub class_path: Vec<String>,
    /// True if `META-INF/versions` counts.
    pub multi_release: bool,
}

impl Manifest {
    /// Reads a manifest. It cannot fail: what is not understood is not there, as for the JVM.
    pub fn parse(bytes: &[u8]) -> Manifest {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
        let mut manifest = Manifest::default();
        let mut lines = text.split('\n').peekable();
        while let Some(line) = lines.next() {
            if line.is_empty() {
                // Only the main section; the sections after it are about single entries.
                break;
            }
            let mut line = line.to_owned();
            // A line is at most 72 bytes; a longer value goes on in lines that begin with a space.
            while let Some(more) = lines.next_if(|next| next.starts_with(' ')) {
                line.push_str(&more[1..]);
            }
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match key.to_ascii_lowercase().as_str() {
                "main-class" => manifest.main_class = Some(value.replace('/', ".")),
                "class-path" => manifest.class_path = value.split_whitespace().map(str::to_owned).collect(),
                "multi-release" => manifest.multi_release = value.eq_ignore_ascii_case("true"),
                _ => {}
            }
        }
        manifest
    }

    /// The file that an address of a `Class-Path` names, seen from the directory of its jar; none if it is not a
    /// file (`http:` and the like are not followed).
    pub(crate) fn resolve(address: &str, jar_directory: &std::path::Path) -> Option<std::path::PathBuf> {
        let path = match address.split_once(':') {
            Some(("file", path)) => path.strip_prefix("//").unwrap_or(path),
            Some((scheme, _)) if scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => {
                return None;
            }
            _ => address,
        };
        Some(jar_directory.join(percent_decoded(path)?))
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    let decoded = String::from_utf8(out).ok()?;
    (!decoded.contains('\0')).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    #[test]
    fn the_main_section_is_read_with_its_long_lines() {
        let text = "Manifest-Version: 1.0\r\nMain-Class: a.Main\r\nClass-Path: one.jar lib/t\r\n wo.jar  three/\r\n\
                    MULTI-RELEASE: True\r\n\r\nName: x\r\nMain-Class: not.Me\r\n";
        assert_eq!(
            Manifest::parse(text.as_bytes()),
            Manifest {
                main_class: Some("a.Main".into()),
                class_path: vec!["one.jar".into(), "lib/two.jar".into(), "three/".into()],
                multi_release: true,
            }
        );
        assert_eq!(Manifest::parse(b"\xff\xfe:::\n \n"), Manifest::default());
    }

    #[test]
    fn addresses_become_files_beside_the_jar() {
        let check = |address: &str, expected: Option<&str>| {
            assert_eq!(
                Manifest::resolve(address, Path::new("/app")),
                expected.map(PathBuf::from),
                "{address}"
            );
        };
        check("a.jar", Some("/app/a.jar"));
        check("lib/a%20b.jar", Some("/app/lib/a b.jar"));
        check("file:/opt/x.jar", Some("/opt/x.jar"));
        check("file:///opt/x.jar", Some("/opt/x.jar"));
        check("http://host/x.jar", None);
        check("bad%zz.jar", None);
        check("nul%00.jar", None);
    }
}

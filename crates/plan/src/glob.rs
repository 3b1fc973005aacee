//! The one pattern language of plans: `*` stands for any text, everything else for itself.

/// Tests whether `text` fits `pattern`, in time linear in both for each `*`, without recursion: patterns come from
/// users and run inside the target's threads.
pub fn glob_matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(&byte) if byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((after_star, from)) => {
                    p = after_star;
                    t = from + 1;
                    retry = Some((after_star, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::glob_matches;

    #[test]
    fn star_stands_for_any_text() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(glob_matches(pattern, text), expected, "{pattern} on {text}");
        };
        check("", "", true);
        check("", "a", false);
        check("*", "", true);
        check("*", "anything", true);
        check("SyncThread:*", "SyncThread:3", true);
        check("SyncThread:*", "SyncThread", false);
        check("*Thread*", "main-Thread-1", true);
        check("a*b*c", "aXbXbYc", true);
        check("a*b*c", "aXbXbY", false);
        check("org.apache.*", "org.apache.zookeeper.Main", true);
        check("org.apache.*", "org.apachezookeeper", false);
        check("*.*", "ab", false);
        check("**a", "bba", true);
    }

    #[test]
    fn many_stars_stay_fast() {
        let pattern = "*a".repeat(200);
        assert!(!glob_matches(&pattern, &"a".repeat(199)));
    }
}

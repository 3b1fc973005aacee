//! The `/etc/hosts` of a sandbox with a network of its own.
//!
//! Java throws if the machine's own name cannot be resolved, and the name server cannot be reached from inside. Names
//! that the machine gives to its loopback addresses are kept, since clusters on one machine are often set up that way.

use std::net::IpAddr;

/// The text of the private file, from that of the machine.
pub(super) fn private(host: &str, machine: &str) -> String {
    let mut text = String::from("127.0.0.1 localhost");
    if !host.is_empty() && host != "localhost" {
        text.push(' ');
        text.push_str(host);
    }
    text.push_str("\n::1 localhost\n");
    for line in machine.lines() {
        let mut words = line.split('#').next().unwrap_or("").split_whitespace();
        let Some(address) = words.next().filter(|it| it.parse().is_ok_and(|it: IpAddr| it.is_loopback()))
        else {
            continue;
        };
        // These two are answered above; a second address for them would be tried in turn.
        let names: Vec<&str> = words.filter(|name| *name != "localhost" && *name != host).collect();
        if !names.is_empty() {
            text.push_str(&format!("{address} {}\n", names.join(" ")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::private;

    #[test]
    fn loopback_names_are_kept_and_others_are_not() {
        let check = |host, machine, expect| assert_eq!(private(host, machine), expect, "{host} {machine:?}");
        check("box", "", "127.0.0.1 localhost box\n::1 localhost\n");
        check("localhost", "", "127.0.0.1 localhost\n::1 localhost\n");
        check("", "# nothing\n", "127.0.0.1 localhost\n::1 localhost\n");
        check(
            "box",
            "127.0.0.1\tlocalhost zk1 # a cluster\n127.0.1.1 box\n10.0.0.7 box db\n::1 zk2 localhost\nbad line",
            "127.0.0.1 localhost box\n::1 localhost\n127.0.0.1 zk1\n::1 zk2\n",
        );
    }
}

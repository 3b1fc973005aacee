//! A real browser, led through its pipe by the DevTools protocol.

#![allow(dead_code)] // each test binary uses its part

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use hypocenter_testing::skip;
use serde_json::{Value, json};

/// Far longer than anything takes; a test that needs it has failed.
const PATIENCE: Duration = Duration::from_secs(60);
/// Possible names of the browser.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The browser's program, if this machine has one.
pub fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let all = std::env::split_paths(&path).flat_map(|it| NAMES.map(|name| it.join(name)));
    all.into_iter().find(|it| it.is_file())
}

/// A browser with one page.
pub struct Browser {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Option<String>,
    next: u64,
    /// Its unrequested messages.
    pub events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts it with a fresh profile, the network off. None where there is no browser: the test is skipped.
    #[track_caller]
    pub fn start() -> Option<Browser> {
        let Some(program) = program() else {
            skip(format!("none of {} is on the PATH", NAMES.join(", ")));
            return None;
        };
        let profile = tempfile::tempdir().expect("a temporary directory");
        // The protocol is spoken on descriptors 3 and 4.
        let mut process = Command::new("sh")
            .arg("-c")
            .arg("exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>&2")
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-pipe",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-dev-shm-usage",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser can be started");
        let to = process.stdin.take().expect("a pipe");
        let out = process.stdout.take().expect("a pipe");
        let (send, from) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(out).split(0) {
                let Ok(message) = message else { break };
                let value = serde_json::from_slice(&message).expect("the browser speaks JSON");
                if send.send(value).is_err() {
                    break;
                }
            }
        });
        let mut browser =
            Browser { process, to, from, session: None, next: 1, events: Vec::new(), _profile: profile };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.ask("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        let granted = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
        browser.ask("Browser.grantPermissions", granted);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        let offline =
            json!({ "offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        browser.ask("Network.emulateNetworkConditions", offline);
        browser.ask("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        Some(browser)
    }

    /// Asks for something and waits for the answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        let since = Instant::now();
        loop {
            let answer = self.hear(since);
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {answer:#}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn hear(&self, since: Instant) -> Value {
        let left = PATIENCE.checked_sub(since.elapsed()).unwrap_or_default();
        match self.from.recv_timeout(left) {
            Ok(value) => value,
            Err(RecvTimeoutError::Timeout) => panic!("the browser says nothing"),
            Err(RecvTimeoutError::Disconnected) => panic!("the browser has ended"),
        }
    }

    /// Opens a file, and waits until it is loaded.
    pub fn open(&mut self, path: &Path) {
        let begun = self.events.len();
        self.ask("Page.navigate", json!({ "url": format!("file://{}", path.display()) }));
        let since = Instant::now();
        while !self.events[begun..].iter().any(|it| it["method"] == "Page.loadEventFired") {
            let event = self.hear(since);
            self.events.push(event);
        }
    }

    /// Value of an expression in the page; a promise is awaited.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true,
        });
        let answer = self.ask("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer:#}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression holds.
    pub fn until(&mut self, expression: &str) {
        let since = Instant::now();
        while self.value(expression) != true {
            assert!(since.elapsed() < PATIENCE, "it never came: {expression}");
        }
    }

    /// Clicks with the mouse into the middle of an element.
    pub fn click(&mut self, selector: &str) {
        let rect = self.value(&format!(
            "(() => {{ const it = document.querySelector({selector:?}); it.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const r = it.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let params =
                json!({ "type": kind, "x": rect[0], "y": rect[1], "button": "left", "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", params);
        }
    }

    /// Types into what has the focus.
    pub fn type_text(&mut self, text: &str) {
        self.ask("Input.insertText", json!({ "text": text }));
    }

    /// Complaints of the page, and its network requests.
    pub fn complaints(&self) -> Vec<String> {
        let of = |it: &Value| -> Option<String> {
            let params = &it["params"];
            match it["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(params.to_string()),
                "Log.entryAdded" if params["entry"]["level"] != "info" => Some(params.to_string()),
                "Runtime.consoleAPICalled" => Some(params.to_string()),
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str()?;
                    (!url.starts_with("file:") && url != "about:blank").then(|| url.to_owned())
                }
                _ => None,
            }
        };
        self.events.iter().filter_map(of).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.session = None;
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(5) {
            match self.from.recv_timeout(Duration::from_millis(200)) {
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

//! A language server on pipes, with as much of the protocol as an editor needs to show diagnostics and take a fix.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// A server that says nothing for so long does not work. One that is built without optimisation reads the standard library for minutes.
const PATIENCE: Duration = Duration::from_secs(600);

/// A running server. It ends with the test.
pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    requests: u64,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Server {
    /// Starts rust-analyzer on a workspace, with these settings under `rust-analyzer.check`.
    pub(crate) fn start(workspace: &Path, check: Value) -> Self {
        let program = env::var_os("RIDEOUT_RUST_ANALYZER").unwrap_or_else(|| "rust-analyzer".into());
        let tools = Path::new(env!("CARGO_BIN_EXE_cargo-rideout")).parent().unwrap().to_owned();
        let paths = env::split_paths(&env::var_os("PATH").unwrap()).collect::<Vec<_>>();
        let mut child = Command::new(&program)
            .current_dir(workspace)
            .env("PATH", env::join_paths(std::iter::once(tools).chain(paths)).unwrap())
            .env_remove("CARGO_TARGET_DIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}; `.ci/editor` installs it", program.display()));
        let (sender, messages) = channel();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take().unwrap();
        let mut server = Self { child, input, messages, requests: 0 };
        let options = json!({
            "check": check,
            "cachePriming": { "enable": false },
            "cargo": { "buildScripts": { "enable": false } },
            "procMacro": { "enable": false },
        });
        let capabilities = json!({
            "textDocument": {
                "publishDiagnostics": { "relatedInformation": true },
                "codeAction": {
                    "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix"] } },
                    "isPreferredSupport": true,
                },
            },
        });
        let root = uri(workspace);
        server.request(
            "initialize",
            json!({
                "processId": null,
                "rootUri": root,
                "workspaceFolders": [{ "uri": root, "name": "service" }],
                "capabilities": capabilities,
                "initializationOptions": options,
            }),
        );
        server.notify("initialized", json!({}));
        server
    }

    fn write(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The result of a request. What the server asks meanwhile is answered with nothing.
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let until = Instant::now() + PATIENCE;
        loop {
            let message = self.next(until).unwrap_or_else(|| panic!("no answer to {method}"));
            if message["id"] == id && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{method}: {message:#}");
                return message["result"].clone();
            }
        }
    }

    fn next(&mut self, until: Instant) -> Option<Value> {
        let message = match self.messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => panic!("the server has ended"),
        };
        if let (Some(id), Some(method)) = (message.get("id"), message.get("method")) {
            let result = if method == "workspace/configuration" { json!([null]) } else { Value::Null };
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            self.write(&answer);
        }
        Some(message)
    }

    /// Opens a document and gives its address.
    pub(crate) fn open(&mut self, path: &Path, text: &str) -> String {
        let uri = uri(path);
        let document = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        uri
    }

    /// Replaces all of a document and saves it.
    pub(crate) fn save(&mut self, uri: &str, text: &str) {
        let change =
            json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "text": text }] });
        self.notify("textDocument/didChange", change);
        self.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    }

    /// Waits until the diagnostics of a document are as wanted.
    pub(crate) fn diagnostics(&mut self, uri: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let until = Instant::now() + PATIENCE;
        let mut last = Value::Null;
        while let Some(message) = self.next(until) {
            if message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri {
                last = message["params"]["diagnostics"].clone();
                if wanted(last.as_array().unwrap()) {
                    return last.as_array().unwrap().clone();
                }
            }
        }
        panic!("the diagnostics of {uri} stay {last:#}");
    }

    /// The quick fixes that are offered from the start of a range to the end of a line.
    pub(crate) fn quick_fixes(&mut self, uri: &str, range: &Value, line: usize) -> Vec<Value> {
        let range = json!({ "start": range["start"], "end": { "line": line, "character": 120 } });
        let context = json!({ "diagnostics": [], "only": ["quickfix"] });
        let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": context });
        let actions = self.request("textDocument/codeAction", params);
        actions.as_array().unwrap_or_else(|| panic!("no code actions: {actions}")).clone()
    }
}

/// One message, or nothing at the end.
fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut text = vec![0; length];
    output.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

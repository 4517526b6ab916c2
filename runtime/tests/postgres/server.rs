//! A PostgreSQL server of the test's own: in a folder of its own, on a free port, gone when the test is.

use std::{
    env, fs,
    net::TcpListener,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

pub(super) struct Server {
    postmaster: Child,
    port: u16,
    _folder: TempDir,
}

impl Server {
    /// Makes a cluster and starts its server.
    pub(super) fn start() -> Self {
        let bin = bin();
        let folder = tempfile::Builder::new().prefix("rideout-postgres-").tempdir().unwrap();
        let owner = unprivileged();
        if let Some((uid, gid)) = owner {
            std::os::unix::fs::chown(folder.path(), Some(uid), Some(gid)).unwrap();
        }
        let run = |program: &str| {
            let mut command = Command::new(bin.join(program));
            command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
            if let Some((uid, gid)) = owner {
                command.uid(uid).gid(gid);
            }
            command
        };
        let data = folder.path().join("data");
        let made = run("initdb")
            .args(["-A", "trust", "-U", "rideout", "--no-sync", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));

        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let postmaster = run("postgres")
            .args(["-F", "-h", "127.0.0.1", "-p", &port.to_string(), "-k"])
            .arg(folder.path())
            .arg("-D")
            .arg(&data)
            .stderr(log)
            .spawn()
            .unwrap();
        let server = Self { postmaster, port, _folder: folder };
        server.wait_until_it_answers(&bin);
        server
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    fn wait_until_it_answers(&self, bin: &Path) {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let ready = Command::new(bin.join("pg_isready"))
                .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
                .status();
            if ready.is_ok_and(|status| status.success()) {
                return;
            }
            assert!(Instant::now() < until, "the server did not answer within a minute");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGQUIT: the server stops at once and takes its processes with it. Its folder goes anyway.
        let _ = Command::new("kill").args(["-QUIT", &self.postmaster.id().to_string()]).status();
        let _ = self.postmaster.wait();
    }
}

/// Where the programs of the newest PostgreSQL of this machine are.
fn bin() -> PathBuf {
    let on_path =
        env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let mut versions: Vec<PathBuf> = debian.map(|version| version.path().join("bin")).collect();
    versions.sort_by_key(|bin| {
        let version = bin.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        version.and_then(|version| version.parse::<u32>().ok())
    });
    let has_all =
        |bin: &PathBuf| ["initdb", "postgres", "pg_isready"].iter().all(|name| bin.join(name).exists());
    versions.into_iter().rev().chain(on_path).find(has_all).unwrap_or_else(|| {
        panic!("this test starts a PostgreSQL server of its own:\napt-get install postgresql")
    })
}

/// Whom to be instead of root, as whom the server does not run. `None` if this is not root.
fn unprivileged() -> Option<(u32, u32)> {
    let me = fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own)).ok()?;
    if me != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let find = |name: &str| {
        let fields: Vec<&str> = users.lines().find(|line| line.starts_with(name))?.split(':').collect();
        Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
    };
    Some(find("postgres:").or_else(|| find("nobody:")).unwrap())
}

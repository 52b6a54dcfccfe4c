//! An emulated machine that starts a kernel, runs the suite, and tells the results by a second line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::cpio::Archive;
use super::fetch::Kernel;
use crate::failure::Failure;

/// How long a machine may run. Emulated, everything takes thirty times as long.
const PATIENCE: Duration = Duration::from_secs(1800);

/// Commands that the scripts, the runner and the tests call.
const APPLETS: [&str; 17] = [
    "sh", "env", "ip", "mount", "mkdir", "cat", "uname", "id", "echo", "chmod", "insmod",
    "poweroff", "ls", "sleep", "su", "chown", "stty",
];

/// The first program: what the kernel unpacked is no file system that walls can be made of, so a
/// real one is filled and entered.
const FIRST: &str = r"#!/bin/busybox sh
b=/bin/busybox
$b mkdir -p /new
$b mount -t tmpfs -o mode=755,size=60% root /new
for d in bin etc lib; do $b cp -a /$d /new/; done
for d in proc sys dev tmp run var/lib var/tmp root home usr; do $b mkdir -p /new/$d; done
$b ln -s ../bin /new/usr/bin
exec $b switch_root /new /bin/second
";

/// The second: a small system with a tree of control groups, and the suite.
const SECOND: &str = r#"#!/bin/busybox sh
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t tmpfs run /run
chmod 1777 /var/tmp
mount -t cgroup2 groups /sys/fs/cgroup
mount -t securityfs security /sys/kernel/security
ip link set lo up
insmod /lib/overlay.ko
stty -F /dev/ttyS1 raw -echo
exec >/dev/ttyS1
echo kernel $(uname -r)
echo lsm $(cat /sys/kernel/security/lsm)
mkdir -p /home/dev/app
chown -R nobody /home/dev
said='cd /home/dev/app; HOME=/home/dev palisade run --json -- /bin/conformance-probe nothing'
echo said ordinary user
su -s /bin/sh nobody -c "$said"
echo said root
chown -R root /home/dev
sh -c "$said"
echo said end
conformance groups --json --palisade /bin/palisade --probe /bin/conformance-probe
echo code $?
conformance --json --engine palisade --palisade /bin/palisade --probe /bin/conformance-probe
echo code $?
echo end
sleep 1
poweroff -f
"#;

/// Returns the path of an archive with everything that the machine needs.
pub(super) fn image(kernel: &Kernel, programs: &[(&str, PathBuf)]) -> Result<PathBuf, Failure> {
    let read = |path: &Path| {
        fs::read(path)
            .map_err(|error| Failure::io(format!("cannot read {}", path.display()), &error))
    };
    let mut archive = Archive::default();
    for folder in ["bin", "etc", "lib"] {
        archive.folder(folder);
    }
    archive.file("init", FIRST.as_bytes());
    archive.file("bin/second", SECOND.as_bytes());
    archive.file("bin/busybox", &read(Path::new("/bin/busybox"))?);
    for applet in APPLETS {
        archive.link(&format!("bin/{applet}"), "busybox");
    }
    for (name, path) in programs {
        archive.file(&format!("bin/{name}"), &read(path)?);
    }
    archive.file("lib/overlay.ko", &kernel.overlay);
    let users = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n";
    archive.file("etc/passwd", users.as_bytes());
    archive.file("etc/group", b"root:x:0:\nnogroup:x:65534:\n");
    let path = kernel.image.with_file_name("first.cpio");
    fs::write(&path, archive.finish())
        .map_err(|error| Failure::io(format!("cannot write {}", path.display()), &error))?;
    Ok(path)
}

/// Runs the machine to its end, and returns what it told.
pub(super) fn run(kernel: &Kernel, image: &Path, place: &Path) -> Result<String, Failure> {
    let [console, results] = ["console.txt", "results.txt"].map(|name| place.join(name));
    let mut machine = Command::new("qemu-system-x86_64");
    machine.args(["-machine", "q35", "-accel", "tcg", "-cpu", "max", "-m", "3072", "-smp", "2"]);
    machine.args(["-display", "none", "-nic", "none", "-no-reboot", "-monitor", "none"]);
    for line in [&console, &results] {
        machine.arg("-serial").arg(format!("file:{}", line.display()));
    }
    machine.arg("-kernel").arg(&kernel.image).arg("-initrd").arg(image);
    machine.args(["-append", "console=ttyS0 quiet panic=-1"]).stdin(Stdio::null());
    let mut child =
        machine.spawn().map_err(|error| Failure::io("cannot start qemu-system-x86_64", &error))?;
    let until = Instant::now() + PATIENCE;
    let waiting = |error| Failure::io("cannot wait for the machine", &error);
    while child.try_wait().map_err(waiting)?.is_none() {
        if Instant::now() > until {
            child.kill().map_err(waiting)?;
        }
        thread::sleep(Duration::from_millis(200));
    }
    let read = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\r', "")
    };
    let told = read(&results);
    if told.lines().any(|line| line == "end") {
        return Ok(told);
    }
    let last: Vec<_> = read(&console).lines().rev().take(20).map(str::to_owned).collect();
    let last: Vec<_> = last.into_iter().rev().collect();
    Err(Failure::new(format!("{} did not come to an end:\n{}", kernel.name, last.join("\n"))))
}

//! Paths of Windows, outside a root of Unix and below a root of Windows.

use super::*;
use crate::jail::{Side, WindowsRoot};
use Answer::{Allow, Ask, Deny};

/// What judges calls of a project on Windows.
fn on_windows(root: &str) -> World {
    let root = WindowsRoot::read(root).unwrap();
    let mut world = World::at(root.folder(), "");
    world.interception = world.interception.on_windows(root);
    world
}

#[test]
fn a192_paths_of_windows_are_outside_a_root_of_unix() {
    #[rustfmt::skip]
    let paths = [
        r"C:\Windows\x", r"c:\windows\x", "C:/Windows/x", "c:/x", r"C:\", "C:", r"C:..\x",
        r"\\srv\share", r"\\srv\share\x", "//srv/share/x", r"\\?\C:\x", r"\\.\C:\x", r"\??\C:\x",
        r"\\?\UNC\srv\share\x", r"..\..\x", r"src\..\..\x", r"src/..\..\x", "file:///C:/Windows/x",
        "file:///c%3A/Windows/x", "file:///c|/x/../../../x", "file://srv/share/x", r"\Windows\x",
        r"%SystemRoot%\x", r"%USERPROFILE%\x", r"$env:USERPROFILE\x", r"$env:TEMP\x",
    ];
    for path in paths {
        for tool in ["write_file", "delete_file", "edit_file"] {
            let verdict = hook(tool, json!({ "path": path }));
            assert_eq!(verdict.answer, Deny, "{tool} {path}");
        }
        let arguments = json!({ "source": "a", "destination": path });
        assert_eq!(hook("move_file", arguments).answer, Deny, "a move to {path}");
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
        let is_file = path.contains(['%', '$', '|']) || path.starts_with("file:");
        if !is_file {
            assert_eq!(hook("apply_patch", json!({ "patch": patch })).answer, Deny, "{patch}");
        }
    }
    for path in [r"src\main.rs", r"src\..\a", "a:b.txt", "src/C/x"] {
        assert_eq!(hook("write_file", json!({ "path": path })).answer, Allow, "{path}");
    }
}

#[test]
fn a192_paths_are_compared_without_case_below_a_root_of_windows() {
    let world = on_windows(r"C:\Code\App");
    #[rustfmt::skip]
    let cases = [
        // path                                 answer  because
        (r"C:\Code\App\src\a.rs",               Allow,  "absolute"),
        (r"c:\code\APP\SRC\a.rs",               Allow,  "in another case"),
        ("C:/Code/App/src/a.rs",                Allow,  "with the other separator"),
        (r"\Code\App\a.rs",                     Allow,  "on the drive at hand"),
        (r"C:src\a.rs",                         Allow,  "relative to the drive's folder"),
        (r"src\a.rs",                           Allow,  "relative"),
        (r".\src\..\a.rs",                      Allow,  "back and forth"),
        (r"..\APP\a.rs",                        Allow,  "out and in again"),
        (r"\\?\C:\Code\App\a.rs",               Allow,  "by its long name"),
        (r"\??\c:\code\app\a.rs",               Allow,  "by the kernel's name"),
        ("file:///C:/Code/App/a.rs",            Allow,  "an address"),
        ("file:///c%3A/code/app/a%20b.rs",      Allow,  "an address, encoded"),
        (r"src\a.rs::$DATA",                    Allow,  "a stream of a file is a part of it"),
        (r"C:\Code\App2\a.rs",                  Deny,   "a sibling"),
        (r"C:\Code\App.old\a.rs",               Deny,   "a sibling"),
        (r"C:\Code",                            Deny,   "a folder above"),
        (r"C:\Windows\x",                       Deny,   "elsewhere"),
        (r"D:\Code\App\a.rs",                   Deny,   "another drive"),
        (r"D:a.rs",                             Deny,   "another drive, wherever it stands"),
        (r"\\srv\share\a.rs",                   Deny,   "another machine"),
        (r"\\localhost\C$\Code\App\a.rs",       Deny,   "a share"),
        (r"\\?\UNC\srv\share\a.rs",             Deny,   "another machine, by its long name"),
        (r"\\.\PhysicalDrive0",                 Deny,   "a device"),
        (r"\\?\GLOBALROOT\Device\x",            Deny,   "another namespace"),
        (r"\??\D:\x",                           Deny,   "another drive, by the kernel's name"),
        (r"..\..\x",                            Deny,   "climbing"),
        (r"..\..\..\..\proc\self\cwd\a",        Deny,   "climbing past the drive"),
        (r"src\..\..\x",                        Deny,   "climbing later"),
        ("file:///C:/Windows/x",                Deny,   "an address"),
        ("file:///D%3A/x",                      Deny,   "an address, encoded"),
        ("/etc/passwd",                         Deny,   "a path of Unix is one of this drive"),
        (r"~\x",                                Deny,   "the home folder"),
        (r"%USERPROFILE%\x",                    Deny,   "the home folder"),
        (r"%TEMP%\x",                           Deny,   "a variable"),
        (r".GIT\Hooks\pre-commit",              Deny,   "protected in any case"),
        (r".git.\config",                       Deny,   "protected, whatever it ends with"),
        (r".git\config::$DATA",                 Deny,   "protected, as a stream"),
        (r"GIT~1\config",                       Deny,   "a short name"),
        (r"src\aux.rs",                         Deny,   "a device"),
        (r"COM1",                               Deny,   "a device"),
        (r"...\x",                              Deny,   "no name"),
        ("C:\\wor\u{212A}\\app\\a.rs",          Deny,   "a letter that is no `k`"),
    ];
    for (path, answer, because) in cases {
        let verdict = world.hook("write_file", json!({ "path": path }));
        assert_eq!(verdict.answer, answer, "{path}: {because}");
        assert_eq!(verdict.root, r"C:\Code\App");
    }
    let patch = |path: &str| format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
    for (path, answer) in
        [(r"src\a.rs", Allow), (r"C:\Windows\x", Deny), (r"..\..\x", Deny), (r".Git\Config", Deny)]
    {
        let verdict = world.hook("apply_patch", json!({ "patch": patch(path) }));
        assert_eq!(verdict.answer, answer, "a patch of {path}");
    }
    // Nobody knows whether it is read by `cmd.exe`, PowerShell or a shell of Unix.
    assert_eq!(world.hook("Bash", json!({ "command": "dir" })).answer, Ask);
}

#[test]
fn a192_a_share_is_a_root_as_well() {
    let world = on_windows(r"\\Srv\Share\App");
    for (path, answer) in [
        (r"\\srv\SHARE\app\a.rs", Allow),
        (r"\\?\UNC\srv\share\app\a.rs", Allow),
        (r"\App\a.rs", Allow),
        (r"a.rs", Allow),
        (r"\\srv\other\app\a.rs", Deny),
        (r"\\srv2\share\app\a.rs", Deny),
        (r"C:\App\a.rs", Deny),
        (r"..\x", Deny),
    ] {
        assert_eq!(world.hook("write_file", json!({ "path": path })).answer, answer, "{path}");
    }
}

#[test]
fn a_root_of_windows_is_absolute() {
    for text in ["", "C:", r"C:\", r"C:\Code", "c:/code/", r"\\srv\share", r"\\?\C:\Code"] {
        let is_root = WindowsRoot::read(text).is_some();
        assert_eq!(is_root, !text.is_empty(), "{text}");
    }
    for text in
        ["/srv/app", "app", r"\Code", "C:app", r"\\srv", r"\\.\pipe\x", r"C:\NUL", r"C:\A~1"]
    {
        assert_eq!(WindowsRoot::read(text), None, "{text}");
    }
    let root = WindowsRoot::read(r"C:\").unwrap();
    assert_eq!(root.judge(r"C:\x"), Side::Inside);
    assert_eq!(root.judge(r"..\x"), Side::Outside, "a tree of drives has no top to stop at");
    assert_eq!(root.judge(r"D:\x"), Side::Outside);
}

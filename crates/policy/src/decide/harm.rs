//! What cannot be undone: the system and homes, disks, and the odd ways to get at them.

use std::rc::Rc;

use super::notes::Harm;
use super::perform::covering;
use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Holed as _, tool};
use crate::jail::{Last, Place, Region, Standing};

/// Most words of a launcher that may be where its command begins.
const MOST_STARTS: usize = 16;

impl Walk<'_> {
    /// Notes what a command does in a way that its acts do not tell.
    pub(super) fn note_unusual(
        &mut self,
        name: &str,
        args: &[Arg<'_>],
        acts: &[Act<'_>],
        input: &Input,
    ) {
        match name {
            "ssh" | "slogin" | "autossh" => self.note_elsewhere(name, args, input),
            "sudo" | "doas" | "su" | "sudo-rs" | "runuser" => self.note_shell_of(args, input),
            _ if LAUNCHERS.contains(&name) => self.note_launched(args),
            "git" if is_forced_clean(args) => self.note_loss(args.iter()),
            "rsync" if args.iter().any(|arg| arg.text.starts_with("--del")) => {
                self.note_loss(tool::operands(name, args).last().copied().into_iter());
            }
            "mv" | "gmv" => self.note_moved(acts),
            _ => {}
        }
    }

    /// Notes what is lost if one of these is the system or a home.
    fn note_loss<'a, 't: 'a>(&mut self, paths: impl Iterator<Item = &'a Arg<'t>>) {
        for path in paths.filter(|path| !path.text.starts_with('-')) {
            if self.is_precious(path) {
                self.note_harm(Harm::Delete, path.span);
            }
        }
    }

    /// A single file that is moved is not lost; a whole home or folder of the system is.
    fn note_moved(&mut self, acts: &[Act<'_>]) {
        for act in acts {
            let Act::Delete(path, _) = act else { continue };
            let home = self.judge.home();
            let whole = self.any_place(path, Last::Keep, |place| {
                let top = place.path.trim_end_matches('/').matches('/').count() <= 1;
                top && matches!(place.standing, Standing::Outside(_))
                    || home.is_some_and(|home| home == place.path)
            });
            if whole && self.is_precious(path) {
                self.note_harm(Harm::Delete, path.span);
            }
        }
    }

    /// Launchers whose options nobody listed: the command may begin at any word.
    fn note_launched(&mut self, args: &[Arg<'_>]) {
        let starts = (0..args.len()).take(MOST_STARTS);
        for argv in starts.filter_map(|at| args.get(at..)) {
            let begins = argv.first().is_some_and(|word| !word.text.starts_with('-'));
            let span = covering(argv);
            if begins {
                self.quietly(|walk| {
                    walk.deeper(span, |walk| {
                        walk.call(argv, span, &Input::Inherited);
                    });
                });
            }
        }
    }

    /// Whether a path names a disk, or a part of one.
    pub(super) fn is_on_disk(&self, path: &Arg<'_>) -> bool {
        self.any_place(path, Last::Follow, |place| is_disk(&place.path))
    }

    pub(super) fn note_written_path(&mut self, path: &Arg<'_>) {
        let home = self.judge.home().unwrap_or("~");
        let is_sensitive = self.any_place(path, Last::Follow, |place| {
            let name = place.path.strip_prefix(home).and_then(|rest| rest.strip_prefix('/'));
            name.is_some_and(|name| SENSITIVE.contains(&name))
        });
        if self.is_on_disk(path) {
            self.note_harm(Harm::Disk, path.span);
        }
        if self.any_place(path, Last::Follow, |place| place.path == "/proc/sysrq-trigger") {
            self.note_harm(Harm::Power, path.span);
        }
        let span = self.place(path.span);
        if let Some(notes) = self.notes.as_mut().filter(|_| is_sensitive) {
            notes.sensitive.insert(span);
        }
    }

    /// Whether a path is the system's, somebody's home, or all of either.
    pub(super) fn is_precious(&self, path: &Arg<'_>) -> bool {
        let spelled = self.spelling_of(path);
        let of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let plain = |rest: &str| rest.starts_with('}') || rest.starts_with(of_word);
        // A part of the home folder's name, or the name itself where nothing expands it: nobody
        // can mean that.
        let cut = spelled.split("${HOME").skip(1).any(|rest| !plain(rest));
        if cut || path.text.starts_with("$HOME") || path.text.starts_with("${HOME}") {
            return true;
        }
        let from_home =
            spelled.strip_prefix("$HOME").is_some_and(|rest| !rest.starts_with(of_word))
                || spelled.starts_with("${HOME}")
                || spelled.starts_with('~');
        if from_home {
            return !self.any_place(path, Last::Keep, is_ours);
        }
        self.any_place(path, Last::Keep, |place| {
            let top = place.path.split('/').nth(1).unwrap_or_default();
            match place.standing {
                Standing::Outside(Region::System | Region::Home) => true,
                // `/[a-z]*`: whatever lies at the top.
                Standing::Outside(Region::Elsewhere) => top.contains(['*', '?', '[']),
                Standing::Outside(Region::Device)
                | Standing::Root
                | Standing::Inside
                | Standing::Granted
                | Standing::Temp
                | Standing::Device
                | Standing::Unknowable(_) => false,
            }
        })
    }

    /// Returns how an argument is spelled, where it stands in the text as it is.
    fn spelling_of(&self, path: &Arg<'_>) -> String {
        let span = self.place(path.span);
        let spelled = self.asked.get(span.start()..span.end()).unwrap_or_default();
        spelled.trim_matches(['"', '\'']).to_owned()
    }

    /// What `ssh` runs elsewhere: there too nobody wants to lose the machine.
    fn note_elsewhere(&mut self, name: &str, args: &[Arg<'_>], input: &Input) {
        let operands = tool::operands(name, args);
        let words: Vec<&str> = operands.iter().skip(1).map(|arg| &*arg.text).collect();
        if words.is_empty() {
            self.note_input(input);
        } else {
            self.aside_of(&Arg::known(words.join(" "), covering(args)));
        }
    }

    /// What a shell of another user is given on its input.
    fn note_shell_of(&mut self, args: &[Arg<'_>], input: &Input) {
        if args.iter().all(|arg| arg.text.starts_with('-')) {
            self.note_input(input);
        }
    }

    /// Follows the input of a shell that is not this machine's, or not this user's.
    fn note_input(&mut self, input: &Input) {
        let Input::Text(value, at) = input else { return };
        if !value.text.has_hole() {
            let text = Arg::known(value.text.clone(), at.span);
            self.where_written(*at, |walk| walk.aside_of(&text));
        }
    }

    /// Follows a text for what is noted alone: what it is asked or refused for is another matter.
    pub(super) fn aside_of(&mut self, text: &Arg<'_>) {
        self.quietly(|walk| walk.nested(text, &Input::Inherited));
    }

    fn quietly(&mut self, look: impl FnOnce(&mut Self)) {
        let known = self.reasons.len();
        let scope = Rc::clone(&self.scope);
        look(self);
        self.scope = scope;
        self.reasons.truncate(known);
    }
}

/// Files in the home folder that every login reads, or that hold passwords.
const SENSITIVE: [&str; 9] = [
    ".bash_profile",
    ".bashrc",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".profile",
    ".pypirc",
    ".zprofile",
    ".zshrc",
];

/// Launchers whose command may begin at any word.
const LAUNCHERS: [&str; 10] = [
    "arch-chroot",
    "bwrap",
    "chroot",
    "chrt",
    "firejail",
    "nsenter",
    "proot",
    "systemd-nspawn",
    "taskset",
    "unshare",
];

/// Whether a tool for disks is told to show them, and nothing else.
pub(super) fn only_lists(name: &str, args: &[Arg<'_>]) -> bool {
    const TOOLS: [&str; 6] = ["fdisk", "gdisk", "parted", "sfdisk", "sgdisk", "wipefs"];
    const SHOWS: [&str; 6] = ["--list", "--no-act", "--print", "-l", "-n", "-p"];
    let mut flags = args.iter().filter(|arg| arg.text.starts_with('-')).peekable();
    // `sgdisk -n` makes a partition; only `wipefs` means "do nothing" by it.
    let shows = |flag: &str| SHOWS.contains(&flag) && (flag != "-n" || name == "wipefs");
    TOOLS.contains(&name) && flags.peek().is_some() && flags.all(|flag| shows(&flag.text))
}

fn is_forced_clean(args: &[Arg<'_>]) -> bool {
    let short = |arg: &Arg<'_>| {
        arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains('f')
    };
    args.iter().any(|arg| arg.text == "clean")
        && args.iter().any(|arg| short(arg) || arg.text == "--force")
}

fn is_ours(place: &Place<'_>) -> bool {
    match place.standing {
        Standing::Inside | Standing::Granted | Standing::Temp => true,
        Standing::Root | Standing::Device | Standing::Outside(_) | Standing::Unknowable(_) => false,
    }
}

/// Whether a path names a disk, or a part of one.
fn is_disk(path: &str) -> bool {
    const DISKS: [&str; 22] = [
        "sd", "nvme", "hd", "mmcblk", "vd", "xvd", "disk", "rdisk", "dm-", "mapper/", "md", "loop",
        "nbd", "ram", "zram", "sr", "bcache", "mtd", "pmem", "dasd", "block/", "vg",
    ];
    path.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

//! Which program a command names.

use super::Style;
use super::verdict::{Answer, Axis, Reason};
use super::walk::Walk;
use crate::command::{Arg, Certainty, HOLE, Holed as _};
use crate::jail::{Entry, Standing, is_on_windows};
use crate::key::Sourced;
use crate::name::CommandName;
use crate::text::{Span, byte};

/// Folders whose programs the machine's owner installed.
const SYSTEM_FOLDERS: [&str; 10] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/",
    "/usr/lib/",
    "/usr/libexec/",
    "/opt/",
    "/nix/store/",
    "/snap/bin/",
];

/// Most names that one program goes by: `perl` and `perl5.38`, and no more than a few.
const MOST_TWINS: usize = 4;

impl Walk<'_> {
    /// Judges the name a command is called by, and returns the names it goes by: the one written,
    /// and the one of the program that a link leads to. `None` when it cannot be told: that has
    /// been reported, and nothing else can be said.
    pub(super) fn program<'p>(
        &mut self,
        program: &'p Arg<'_>,
    ) -> Option<(&'p str, Option<String>)> {
        let text = &*program.text;
        let name = trimmed(byte::behind_last(text, b'/'));
        let foreign = is_on_windows(text);
        let name = if foreign { byte::behind_last(name, b'\\') } else { name };
        let by_path = byte::has(text, b'/');
        let nothing = by_path || program.certainty == Certainty::Known;
        // What starts programs without a shell may still hand these words to one.
        let odd = self.judge.style == Style::Runner
            && (text.trim() != text || text.starts_with('-') || text.contains('='))
            && program.certainty == Certainty::Known;
        if name.is_empty() && nothing || odd {
            self.report(Reason {
                answer: Answer::Deny,
                code: "no-program",
                axis: Axis::Name,
                message: format!("`{text}` is no program's name"),
                span: program.span,
                origin: None,
                hint: None,
            });
            return None;
        }
        // `/?in/rm` is some `rm`, whichever it is.
        let wild = program.certainty == Certainty::Pattern && name.contains(['*', '?', '[']);
        let has_hole = text.has_hole();
        if name.is_empty() || has_hole && name.has_hole() || wild {
            self.report(dynamic(program, self.asking()));
            return None;
        }
        self.deny_listed(name, program.span);
        let mut real = None;
        if has_hole || program.certainty == Certainty::Pattern {
            self.report(dynamic(program, self.asking()));
        } else if foreign {
            self.report(foreign_program(program, self.asking()));
        } else if by_path {
            real = self.located(program, name);
        }
        Some((name, real))
    }

    /// A program named by its path: where does it lie, and what is it really?
    fn located(&mut self, program: &Arg<'_>, name: &str) -> Option<String> {
        let ground = self.judge.ground();
        let mut real = None;
        let mut doubtful = false;
        let mut twins = Vec::new();
        for cwd in self.scope.cwds() {
            let path = ground.place(&program.text, cwd, &self.sight());
            doubtful |= match path.standing {
                Standing::Root | Standing::Inside | Standing::Granted => {
                    twins.extend(self.twins(&path.path));
                    false
                }
                // Anybody may have put it there.
                Standing::Temp | Standing::Device | Standing::Unknowable(_) => true,
                Standing::Outside(_) => {
                    // What a person installed for themselves is no part of the machine.
                    let home = self.judge.home().filter(|_| self.judge.style == Style::Confined);
                    !is_installed(&path.path, home)
                }
            };
            real = Some(path.path);
        }
        self.rerun(None, program);
        self.run_taken(program);
        // A link with a harmless name to a program is that program, but for those that go by many.
        let real = real.as_deref().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
        let many = ["busybox", "toybox", "coreutils"];
        let real = real.filter(|real| real != name && !real.is_empty() && !many.contains(&&**real));
        let real = real.or_else(|| twins.first().cloned());
        for real in real.iter().chain(twins.get(1..).unwrap_or_default()) {
            self.deny_listed(real, program.span);
        }
        // One file that goes by many names does what it is called, and nobody knows what that is.
        doubtful |= twins.len() > MOST_TWINS;
        if doubtful && self.judge.style == Style::Runner {
            let message = format!("`{}` is outside project root", program.text.replace(HOLE, "…"));
            self.refuse("outside-root", Axis::Path, message, program.span);
        }
        if doubtful && self.judge.style == Style::Confined {
            self.report(foreign_program(program, Answer::Ask));
        }
        real
    }

    /// Returns the names that a file of the project has among the machine's programs.
    fn twins(&self, path: &str) -> Vec<String> {
        if self.lookup.look(path) != Entry::SharedFile {
            return Vec::new();
        }
        let programs = self.lookup.programs_at(path);
        programs.iter().filter_map(|path| path.rsplit('/').next()).map(str::to_owned).collect()
    }

    /// `commands.deny`, by name; a version or a file type behind the name hides nothing.
    #[inline(always)]
    fn deny_listed(&mut self, name: &str, span: Span) {
        let Some(entry) = self.judge.denied(name) else { return };
        self.report_denied(name, entry, span);
    }

    #[cold]
    fn report_denied(&mut self, name: &str, entry: &Sourced<CommandName>, span: Span) {
        let message = format!("`{name}` is on the denylist");
        let origin = Some(entry.origin.clone());
        self.report(Reason {
            answer: Answer::Deny,
            code: "denylist",
            axis: Axis::Name,
            message,
            span,
            origin,
            hint: None,
        });
    }
}

/// Returns a name without the blanks around it, of which nearly none has any.
fn trimmed(name: &str) -> &str {
    match name.as_bytes() {
        [b'!'..=b'~'] | [b'!'..=b'~', .., b'!'..=b'~'] => name,
        _ => name.trim(),
    }
}

fn dynamic(program: &Arg<'_>, answer: Answer) -> Reason {
    Reason {
        answer,
        code: "dynamic-command",
        axis: Axis::Structure,
        message: "which program runs is only known at run time".into(),
        span: program.span,
        origin: None,
        hint: Some("write the program's name out".into()),
    }
}

fn foreign_program(program: &Arg<'_>, answer: Answer) -> Reason {
    let text = program.text.replace(HOLE, "…");
    Reason {
        answer,
        code: "foreign-program",
        axis: Axis::Name,
        message: format!(
            "`{text}` is a program outside the project and outside the system's folders"
        ),
        span: program.span,
        origin: None,
        hint: Some("use an installed program, or one of the project".into()),
    }
}

pub(super) fn is_installed(path: &str, home: Option<&str>) -> bool {
    SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder))
        || home.is_some_and(|home| {
            // Tools that a person installed for themselves lie below a dot folder or in `bin`.
            path.strip_prefix(home).and_then(|rest| rest.strip_prefix('/')).is_some_and(|rest| {
                rest.starts_with('.') || rest.starts_with("bin/") || rest.starts_with("go/")
            })
        })
}

//! `palisade doctor`: what this host can hold, tried live.

mod json;

use palisade::doctor::{Machine, Probe, Profiled, Report, Subsystem, Tried, Unusable};
use palisade::plan::network::Rung;
use palisade::plan::{Enforced, Level, Strength, Trial};
use palisade::policy::policy::Require;
use palisade::policy::text::visible;

use crate::args::{Output, Subject};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Find out what can be held here, by trying it
///
/// Tries everything that walls are made of, one by one, in processes that end with it, and then each
/// level and a network that is filtered by name, by running a command that does nothing behind it.
/// What is refused is told with what blocks it
/// and how to lift that. With `--profile` it runs a command under that profile, too. Lists policy
/// files of other systems that lie about and are not in force.
///
/// Exit codes: 0 what the policy requires (`full` if it does not say) can be had, 125 it cannot, or a
/// service that builds and tests (`CI`) runs this and walls are switched off.
///
/// Example: palisade doctor
#[derive(Debug, Default, clap::Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    subject: Subject,

    #[command(flatten)]
    output: Output,
}

impl DoctorArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let request = self.subject.request()?;
        let report = Report::new(&request);
        match self.format() {
            Format::Json => ui.json(&json::told(&report))?,
            Format::Human => ui.data(&screen(&report))?,
        }
        Ok(if report.is_met() { Exit::Success } else { Exit::Failed })
    }
}

fn screen(report: &Report) -> String {
    let mut text = machine(&report.machine);
    text.push_str("\ntried:\n");
    for probe in &report.probes {
        let (mark, why) = match &probe.trial {
            Trial::Works => ("yes", String::new()),
            Trial::Refused { .. } if is_spare(report, probe.name) => {
                ("-", ": not there, and not needed here".into())
            }
            Trial::Refused { what, errno } if what == probe.about => {
                ("no", format!(": {}", std::io::Error::from_raw_os_error(*errno)))
            }
            Trial::Refused { what, errno } => ("no", format!(": {}", refused(what, *errno))),
            Trial::Short { what, errno } => ("no", format!(": {}", short(what, *errno))),
        };
        let detail = probe.detail.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        line(&mut text, mark, &format!("{}{detail}{why}", probe.about));
        remedies(&mut text, probe.remedies.iter().copied());
    }
    text.push_str("\nlevels:\n");
    for tried in &report.levels {
        level(&mut text, tried);
    }
    text.push_str("\nnetwork by name:\n");
    let works = matches!(report.network.rung, Ok(Rung::Queue | Rung::Redirect));
    line(&mut text, if works { "yes" } else { "no" }, &visible(&report.network.about()));
    remedies(&mut text, report.network.remedy().as_deref().into_iter());
    if let Some(profile) = &report.profile {
        text.push_str("\nprofile:\n");
        profiled(&mut text, profile);
    }
    if !report.files.is_empty() {
        text.push_str("\npolicy files of other systems, not in force:\n");
        for file in &report.files {
            let (path, usage) = (file.path.to_string_lossy(), &file.usage);
            text.push_str(&format!("  {} ({})\n", visible(&path), file.dialect));
            text.push_str(&format!("       use it: {usage}\n"));
        }
    }
    text.push('\n');
    for warning in &report.warnings {
        text.push_str(&format!("warning: {}\n", visible(warning)));
    }
    text.push_str(&verdict(report));
    text
}

/// Whether a probe is about another way to the walls that namespaces give here.
fn is_spare(report: &Report, name: &str) -> bool {
    let works = |probe: &Probe| probe.name == "sandbox" && probe.trial == Trial::Works;
    ["sandbox-without-users", "sandbox-around"].contains(&name) && report.probes.iter().any(works)
}

fn machine(machine: &Machine) -> String {
    let Machine { system, kernel, processor, user, container, subsystem, ci } = machine;
    let mut text = format!("{system} {} on {processor}, user {user}", visible(kernel));
    for (what, name) in
        [("in", *container), ("in", subsystem.map(Subsystem::word)), ("run by", *ci)]
    {
        if let Some(name) = name {
            text.push_str(&format!(", {what} {name}"));
        }
    }
    text.push('\n');
    text
}

fn level(text: &mut String, tried: &Tried) {
    let word = tried.level.word();
    match (&tried.held, tried.level) {
        (Ok(held), Level::Full | Level::Landlock) => {
            line(text, "yes", word);
            for (layer, lacks) in held.iter().filter_map(lacking) {
                text.push_str(&format!("       {layer}: {}\n", visible(&lacks)));
            }
        }
        (Ok(_), Level::External) => line(text, "-", "external: nothing of ours holds anything"),
        (Ok(_), Level::None) => line(text, "-", "none: nothing holds anything"),
        (Err(_), _) => {
            let why = tried.why().unwrap_or_default();
            line(text, "no", &format!("{word}: {}", visible(&why)));
            remedies(text, tried.remedy().as_deref().into_iter());
        }
    }
}

fn profiled(text: &mut String, profile: &Profiled) {
    let name = visible(&profile.name);
    match &profile.outcome {
        Ok(outcome) if outcome.ok() => {
            let level = outcome.level().map_or("", Level::word);
            line(text, "yes", &format!("{name} (level {level})"));
            for (layer, lacks) in profile.enforced().iter().filter_map(lacking) {
                text.push_str(&format!("       {layer}: {}\n", visible(&lacks)));
            }
        }
        Ok(outcome) => {
            let why = outcome.reason().unwrap_or_else(|| "the command failed under it".into());
            line(text, "no", &format!("{name}: {}", visible(&why)));
        }
        Err(error) => {
            line(text, "no", &format!("{name}: {}", visible(&said(error))));
            if let Some(hint) = error.hint() {
                text.push_str(&format!("       hint: {}\n", visible(&hint)));
            }
        }
    }
}

/// Says what is wrong with a profile; of a text, each problem with its place.
fn said(error: &Unusable) -> String {
    match error {
        Unusable::Open(open) if !open.diagnostics().is_empty() => {
            let problems = open.diagnostics().iter().map(|problem| {
                let place = problem.place().map_or_else(String::new, |place| format!(":{place}"));
                format!("{}{place}: {}", problem.file(), problem.message())
            });
            problems.collect::<Vec<_>>().join("; ")
        }
        Unusable::Open(_) | Unusable::Run(_) => error.to_string(),
    }
}

fn verdict(report: &Report) -> String {
    let strongest = report.strongest().map_or("none", |tried| tried.level.word());
    match &report.require {
        Err(error) => {
            let screen = Failure::from(error).screen();
            format!(
                "{screen}\n\nwhat is required is not known; the strongest here is {strongest}\n"
            )
        }
        Ok(require) => {
            let got = match (require, report.has_level()) {
                // It takes nothing, whatever there is.
                (Require::External, _) if ["full", "landlock"].contains(&strongest) => {
                    format!("runs get no wall of ours, though {strongest} can be had here")
                }
                (Require::External, _) => "runs get no wall of ours".into(),
                (_, true) => format!("met; the strongest here is {strongest}"),
                (_, false) => format!("NOT met; the strongest here is {strongest}"),
            };
            let broken = report.profile.as_ref().filter(|profile| !profile.works());
            let broken = broken.map_or_else(String::new, |profile| {
                format!("; the profile `{}` does NOT work", visible(&profile.name))
            });
            let bare = report.bare_service().map_or_else(String::new, |service| {
                format!(
                    "run by {service}, and confinement is OFF: nothing may run here\n  remedy: \
                     switch it on in the file that is named above, or say `require: external` in \
                     a policy of yours if a container stands around this\n"
                )
            });
            format!("the policy requires {require}: {got}{broken}\n{bare}")
        }
    }
}

/// Says what does not hold of a layer.
fn lacking(enforced: &Enforced) -> Option<(&'static str, String)> {
    let Enforced { layer, strength } = enforced;
    match strength {
        Strength::Kernel | Strength::Window(_) => None,
        Strength::Partial(lacks) => Some((layer.word(), lacks.join("; "))),
        Strength::Absent(why) => Some((layer.word(), format!("absent, {why}"))),
    }
}

fn line(text: &mut String, mark: &str, what: &str) {
    text.push_str(&format!("  {mark:<4} {what}\n"));
}

fn remedies<'r>(text: &mut String, remedies: impl Iterator<Item = &'r str>) {
    for remedy in remedies {
        text.push_str(&format!("       to lift it: {}\n", visible(remedy)));
    }
}

/// Says the same of what may work again in a moment.
fn short(what: &str, errno: i32) -> String {
    format!("not at the moment: {}", refused(what, errno))
}

/// Says what was tried and what the system answered.
fn refused(what: &str, errno: i32) -> String {
    match errno {
        0 => what.to_owned(),
        errno => format!("{what}: {}", std::io::Error::from_raw_os_error(errno)),
    }
}

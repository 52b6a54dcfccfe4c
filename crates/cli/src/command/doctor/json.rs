//! A report of the doctor for programs (`schema/doctor.json`).

use palisade::doctor::{Report, Subsystem, Tried, Unusable};
use palisade::plan::{Level, Trial, enforced_json};
use serde_json::{Value as Json, json};

use crate::failure::Failure;

pub(super) fn told(report: &Report) -> Json {
    let machine = &report.machine;
    let probes: Json = report
        .probes
        .iter()
        .map(|probe| {
            json!({
                "name": probe.name,
                "about": probe.about,
                "works": probe.trial == Trial::Works,
                "why": why(&probe.trial),
                "detail": probe.detail,
                "remedies": probe.remedies,
            })
        })
        .collect();
    let files: Json = report
        .files
        .iter()
        .map(|file| {
            json!({
                "path": file.path.to_string_lossy(),
                "dialect": file.dialect,
                "use": file.usage,
            })
        })
        .collect();
    let profile = report.profile.as_ref().map(|profile| {
        let told = match &profile.outcome {
            Ok(outcome) => (outcome.reason(), outcome.level().map(Level::word)),
            Err(error) => (Some(super::said(error)), None),
        };
        json!({
            "name": profile.name,
            "works": profile.works(),
            "why": told.0,
            "hint": profile.outcome.as_ref().err().and_then(Unusable::hint),
            "level": told.1,
            "enforced": enforced_json(profile.enforced()),
        })
    });
    let problems = report.require.as_ref().err().map(|error| Failure::from(error).problems());
    let problems = problems.unwrap_or_default();
    json!({
        "version": 1,
        "met": report.is_met(),
        "off_in_ci": report.bare_service().is_some(),
        "require": report.require.as_ref().ok().map(ToString::to_string),
        "error": report.require.as_ref().err().map(ToString::to_string),
        "problems": problems,
        "strongest": report.strongest().map(|tried| tried.level.word()),
        "host": {
            "system": machine.system,
            "kernel": machine.kernel,
            "processor": machine.processor,
            "user": machine.user,
            "container": machine.container,
            "subsystem": machine.subsystem.map(Subsystem::word),
            "ci": machine.ci,
        },
        "probes": probes,
        "blocks": report.blocks,
        "network": {
            "rung": report.network.rung.as_ref().ok().map(|rung| rung.word()),
            "about": report.network.about(),
            "remedy": report.network.remedy(),
        },
        "levels": report.levels.iter().map(level).collect::<Json>(),
        "profile": profile,
        "files": files,
        "warnings": report.warnings,
    })
}

fn level(tried: &Tried) -> Json {
    let (works, enforced) = match &tried.held {
        Ok(held) => (true, enforced_json(held)),
        Err(_) => (false, json!({})),
    };
    json!({
        "level": tried.level.word(),
        "works": works,
        "enforced": enforced,
        "why": tried.why(),
        "remedy": tried.remedy(),
    })
}

fn why(trial: &Trial) -> Option<String> {
    match trial {
        Trial::Works => None,
        Trial::Refused { what, errno } => Some(super::refused(what, *errno)),
        Trial::Short { what, errno } => Some(super::short(what, *errno)),
    }
}

//! The example does what it says: with real walls, on its fixture and on the bundled tasks.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop at once")]

use std::path::Path;

use palisade::Request;
use palisade::audit::span::{Attribute, Span, Status};
use palisade::eval::{self, Evaluation, Stopping};
use palisade_example_agent::{Done, Halt, STEPS, Scripted, State};
use palisade_testkit::{Home, Project};

const GOAL: &str = "`sum.sh N` leaves out the last number";

fn fixture() -> Project {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixture");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    Project::new().file("sum.sh", text("sum.sh")).file("test.sh", text("test.sh"))
}

fn request(home: &Home, folder: &Path) -> Request {
    let mut env: std::collections::BTreeMap<_, _> = home.env().clone();
    env.insert("PATH".into(), "/usr/bin:/bin".into());
    let mut request = Request::new(folder, env);
    request.root = Some(folder.into());
    request
}

fn solve(project: &Project, goal: &str) -> (Done, Vec<Span>) {
    let home = Home::new();
    let request = request(&home, project.root());
    Scripted::new(request.clone()).solve(goal, request).unwrap()
}

fn attribute<'s>(span: &'s Span, name: &str) -> Option<&'s str> {
    let found = span.attributes.iter().find(|(known, _)| *known == name)?;
    match &found.1 {
        Attribute::Text(text) => Some(text),
        Attribute::Number(_) | Attribute::Flag(_) => None,
    }
}

#[test]
fn a041_the_agent_mends_its_fixture_in_few_steps_with_a_span_for_each() {
    let project = fixture();
    let (done, spans) = solve(&project, GOAL);
    assert_eq!(done.halt, Halt::Solved, "{done:?}");
    let states: Vec<State> = done.steps.iter().map(|step| step.state).collect();
    let all = [State::Survey, State::RunTests, State::Inspect, State::Fix, State::Verify];
    assert_eq!(states, all);
    assert!(done.steps.len() < STEPS);
    assert!(std::fs::read_to_string(project.path("sum.sh")).unwrap().contains("-le"));
    // One span for each step, children of the agent's own, none of them a refusal.
    let (chat, calls) = spans.split_last().unwrap();
    assert_eq!((chat.name.as_str(), chat.parent), ("gen_ai.chat", None));
    assert_eq!(calls.len(), done.steps.len());
    for (number, (span, step)) in calls.iter().zip(&done.steps).enumerate() {
        assert_eq!(
            (span.name.as_str(), &span.parent),
            ("gen_ai.tool.execution", &Some(chat.context.span))
        );
        assert_eq!(span.context.trace, chat.context.trace);
        assert_eq!(attribute(span, "gen_ai.tool.name"), Some(step.tool));
        let id = format!("call_{number:03}");
        assert_eq!(attribute(span, "gen_ai.tool.call.id"), Some(id.as_str()));
        // Tests that fail are an answer, and no error of whoever runs them.
        assert_eq!(
            (attribute(span, "agent.harness.gate.decision"), &span.status),
            (Some("allow"), &Status::Ok)
        );
    }
}

#[test]
fn a041_a_refused_call_ends_it_with_an_error_and_the_file_stays() {
    // A goal that leads to a key: the policy says no.
    let project = fixture();
    let (done, spans) = solve(&project, "mend `~/.ssh/id.pem`");
    assert!(matches!(&done.halt, Halt::Refused(_)), "{done:?}");
    assert_eq!(done.steps.last().unwrap().state, State::Inspect);
    let refused: Vec<&Span> = spans
        .iter()
        .filter(|span| attribute(span, "agent.harness.gate.decision") == Some("deny"))
        .collect();
    assert_eq!(refused.len(), 1, "{spans:?}");
    assert!(matches!(&refused[0].status, Status::Error(why) if !why.is_empty()));
    // Nobody knows what is wrong with it: it ends, and does not try for ever.
    let project = fixture().file("other.sh", "true\n");
    let (done, _) = solve(&project, "mend `other.sh`");
    assert!(matches!(&done.halt, Halt::Stuck(_)), "{done:?}");
}

#[test]
fn the_agent_solves_every_bundled_task() {
    let (home, place) = (Home::new(), Project::new());
    let folder = place.path("tasks");
    eval::bundled::write(&folder).unwrap();
    let tasks = eval::load(&folder).unwrap();
    let request = request(&home, place.root());
    let agent = Scripted::new(request.clone());
    let hidden = vec![folder];
    let evaluation = Evaluation {
        tasks: &tasks,
        samples: 2,
        jobs: 2,
        request: &request,
        hidden,
        keep: None,
        stopping: Stopping::default(),
    };
    let report = evaluation.run(&agent, &|_, _| ()).unwrap();
    let failed: Vec<_> = report.samples().filter(|sample| !sample.passed).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(report.samples().count(), 10);
    assert!(report.total_cost().unwrap() > 0.0);
}

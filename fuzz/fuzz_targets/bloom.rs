//! Any text as Bloom's config.yaml, and what follows a line of `%%%` as its tasks.yaml: it is read
//! or refused, a refusal cannot repaint the terminal, what is written back is read again, and a
//! project that nobody trusted sets nobody free.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use palisade_policy::dialect::{self, Input, Surroundings};
use palisade_policy::name::Anchors;
use palisade_policy::text::{Diagnostic, Source};
use palisade_policy::{Choice, Layer, Stack, Trust, resolve};

fuzz_target!(|text: &str| {
    let (config, tasks) = text.split_once("\n%%%\n").unwrap_or((text, "tasks: []"));
    let bloom = dialect::named("bloom").expect("it is in the table");
    let write = bloom.write.expect("it can write");
    let anchors = Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) };
    let around = Surroundings {
        anchors: &anchors,
        cwd: Path::new("/proj/app"),
        var: &|_| None,
        kind: &|_| None,
        list: &|_| Vec::new(),
        read: &|_| Err("nothing".into()),
    };
    let sources = [Source::new("config.yaml", config), Source::new("tasks.yaml", tasks)];
    for source in &sources {
        let _told = dialect::tell(source);
    }
    let inputs = sources.each_ref().map(|source| Input { source, layer: Layer::Project });
    let readings = match (bloom.read)(&inputs, &around) {
        Ok(readings) => readings,
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a word");
            return problems.iter().for_each(check);
        }
    };
    let mut stack = Stack::new(&anchors).expect("its own files are whole");
    for reading in &readings {
        reading.notes.iter().for_each(check);
        stack.push(reading.layer, reading.document.clone());
    }
    let agents = readings.iter().flat_map(|reading| reading.document.agents.keys());
    for agent in agents.cloned().map(Some).chain([None]).take(8) {
        let choice = Choice { agent, task: None };
        let resolved = resolve(&stack, &choice, Trust::NotTrusted).expect("no task is asked for");
        assert!(resolved.unconfined.is_none(), "an untrusted project set somebody free");
        let written = write(&resolved.policy, &around);
        let again = Source::new("config.yaml", &written.text);
        let input = Input { source: &again, layer: Layer::User };
        let back = (bloom.read)(&[input], &around);
        assert!(back.is_ok(), "{} is not read back: {back:?}", written.text);
    }
});

fn check(problem: &Diagnostic) {
    let shown = problem.to_string();
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
}

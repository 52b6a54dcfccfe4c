//! Load, merge and resolve five layers; budget: 2 ms.

use palisade_policy::name::Anchors;
use palisade_policy::text::Source;
use palisade_policy::{Choice, Document, Layer, Stack, Trust, resolve};

fn main() {
    divan::main();
}

const LAYERS: [(Layer, &str); 5] = [
    (
        Layer::System,
        "version: 1\nrequire: landlock\nfiles: { hide: [/srv/keys] }\nlimits: { processes: 512 }\n",
    ),
    (Layer::User, include_str!("user.yaml")),
    (Layer::Project, include_str!("project.yaml")),
    (Layer::Environment, "version: 1\nlimits: { timeout: 5m }\n"),
    (Layer::CommandLine, "version: 1\nprofile: workspace-write-no-network\n"),
];

fn anchors() -> Anchors {
    Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) }
}

fn start() -> Stack {
    Stack::new(&anchors()).unwrap_or_else(|_| unreachable!("the built-in policy is whole"))
}

fn load() -> Stack {
    let mut stack = start();
    for (layer, text) in LAYERS {
        let source = Source::new("policy.yaml", text);
        if let Ok(document) = Document::parse(&source, layer, &anchors()) {
            stack.push(layer, document);
        }
    }
    stack
}

#[divan::bench]
fn load_merge_and_resolve_five_layers(bencher: divan::Bencher<'_, '_>) {
    assert_eq!(load().tasks(), ["fetch-deps"], "every layer loads");
    bencher.bench(|| {
        let choice = Choice { agent: Some("codex".into()), task: None };
        resolve(&load(), &choice, Trust::NotTrusted)
    });
}

#[divan::bench]
fn only_the_built_in_layer(bencher: divan::Bencher<'_, '_>) {
    bencher.bench(|| resolve(&start(), &Choice::default(), Trust::NotTrusted));
}

//! Finding and reading the texts of every layer.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use palisade_policy::dialect::{self, Dialect, Input, Lists, Reading};
use palisade_policy::key::{Field, Ignored, Setting, Sourced};
use palisade_policy::layer::{Choice, Layer, Origin, Stack};
use palisade_policy::name::{Anchors, Folder, Invalid};
use palisade_policy::policy::{Document, Include, NetworkMode, Policy, Profile};
use palisade_policy::text::Source;

use super::error::{OpenError, Warning};
use super::group::{Group, Text};
use super::locate::{find_root, named_root};
use super::request::Request;
use super::switched;
use super::world::with_surroundings;
use super::{broken, said_by};
use crate::places::Places;
use crate::read::{Place, read_policy_file};
use crate::root::ProjectRoot;
use crate::trust::ContentHash;

/// A file that had a say.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LoadedFile {
    /// Its layer.
    pub layer: Layer,
    /// Its path.
    pub path: PathBuf,
    /// The dialect it is written in.
    pub dialect: &'static str,
}

/// Everything that was found.
pub(super) struct Loaded {
    pub(super) root: ProjectRoot,
    pub(super) root_origin: Origin,
    pub(super) stack: Stack,
    pub(super) files: Vec<LoadedFile>,
    pub(super) project: Option<ProjectContent>,
    pub(super) warnings: Vec<Warning>,
    /// Folders of profiles that files name, and who says so.
    pub(super) profile_folders: Vec<(PathBuf, Layer)>,
    /// The texts of profiles that stand in files.
    pub(super) profile_texts: Vec<(Folder, Source)>,
}

/// The exact content of a project's policy files.
pub(super) struct ProjectContent {
    /// The project's root.
    pub(super) folder: PathBuf,
    pub(super) paths: Vec<PathBuf>,
    pub(super) hash: ContentHash,
    /// What no project may say, trusted or not.
    pub(super) ignored: Vec<Ignored>,
    /// Everyone for whom the files say something of their own.
    pub(super) choices: Vec<Choice>,
}

/// How deep includes may nest, and how many files and bytes may speak in all.
const MAX_INCLUDES: usize = 8;
const MAX_FILES: usize = 64;
const MAX_BYTES: usize = 4 << 20;
/// The same for what a project brings: nobody has looked at it yet.
const MAX_PROJECT_FILES: usize = 16;
const MAX_PROJECT_BYTES: usize = 1 << 20;

pub(super) fn load(request: &Request, places: &Places) -> Result<Loaded, OpenError> {
    let found = found_texts(places)?.into_iter();
    let mut groups: Vec<Group> =
        found.map(|text| Group::Texts(dialect::native(), vec![text])).collect();
    if let Some(named) = request.var("PALISADE_POLICY") {
        let named = utf8("PALISADE_POLICY", named)?;
        let group = switched::silent(request, &named)
            .map_or_else(|| read_named(&request.cwd, Layer::Environment, Place::Named, &named), Ok);
        groups.push(group?);
    }
    for named in &request.policies {
        let group = switched::silent(request, named)
            .map_or_else(|| read_named(&request.cwd, request.layer(), Place::Named, named), Ok);
        groups.push(group?);
    }

    let texts = groups.iter().flat_map(Group::rooted).map(|text| (text.layer, &text.source));
    let (root, root_origin) = find_root(request, places, texts.collect::<Vec<_>>().into_iter())?;
    let project_path = Places::project_policy(&root.path);
    let in_project = Place::InProject { root: &root.path, uid: request.uid() };
    // A file that a person also named speaks with that person's voice, and only once.
    let named =
        groups.iter().flat_map(Group::texts).any(|text| same_file(&text.path, &project_path));
    let mut ignored = Vec::new();
    if !named && let Some(text) = read_if_there(Layer::Project, &project_path, in_project)? {
        // Every relative path of every file starts from the root: a project that moved it would
        // move what the user hides.
        if let Some(Sourced { value, origin }) = named_root(Layer::Project, &text.source) {
            ignored.push(Ignored { key: "root".into(), value: value.to_string(), origin });
        }
        groups.push(Group::Texts(dialect::native(), vec![text]));
    }

    let anchors = Anchors { root: root.path.clone(), home: places.home.clone() };
    let mut loader = Loader::new(request, in_project, &anchors)?;
    for (_, group) in loader.joined(groups)? {
        loader.add(group, &mut Vec::new())?;
    }
    loader.add_options()?;
    loader.add_switches();
    loader.add_sandboxing()?;
    loader.add_profiles()?;
    let Loader { stack, mut files, content, choices, notes, .. } = loader;
    let (profile_folders, profile_texts) = (loader.profile_folders, loader.profile_texts);
    files.sort_by_key(|file| file.layer);
    let warnings = root.warnings.iter().cloned().map(Warning::Root).chain(notes).collect();
    let project = (!content.is_empty()).then(|| ProjectContent {
        paths: content.iter().map(|(path, _)| path.clone()).collect(),
        hash: ContentHash::of(content.iter().map(|(path, text)| {
            (path.strip_prefix(&root.path).unwrap_or(path), text.text().as_bytes())
        })),
        folder: root.path.clone(),
        ignored,
        choices,
    });
    Ok(Loaded {
        root,
        root_origin,
        stack,
        files,
        project,
        warnings,
        profile_folders,
        profile_texts,
    })
}

pub(super) struct Loader<'a> {
    pub(super) request: &'a Request,
    pub(super) in_project: Place<'a>,
    pub(super) anchors: &'a Anchors,
    pub(super) stack: Stack,
    /// Whether every file must lie in the project, whoever names it.
    pub(super) contained: bool,
    bytes: usize,
    pub(super) files: Vec<LoadedFile>,
    pub(super) content: Vec<(PathBuf, Source)>,
    choices: Vec<Choice>,
    pub(super) notes: Vec<Warning>,
    /// Folders of profiles that files of Agentao name, and who says so.
    pub(super) profile_folders: Vec<(PathBuf, Layer)>,
    pub(super) profile_texts: Vec<(Folder, Source)>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(
        request: &'a Request,
        in_project: Place<'a>,
        anchors: &'a Anchors,
    ) -> Result<Self, OpenError> {
        let stack = Stack::new(anchors).map_err(broken)?;
        Ok(Self {
            request,
            in_project,
            anchors,
            stack,
            contained: false,
            bytes: 0,
            files: Vec::new(),
            content: Vec::new(),
            choices: Vec::new(),
            notes: Vec::new(),
            profile_folders: Vec::new(),
            profile_texts: Vec::new(),
        })
    }

    /// Adds texts, and before each of them the texts it includes.
    pub(super) fn add(
        &mut self,
        group: Group,
        including: &mut Vec<PathBuf>,
    ) -> Result<Vec<Reading>, OpenError> {
        let (dialect, mut texts) = self.expanded(group)?;
        texts.retain(|text| !switched::silences(self.request, dialect, &text.source));
        for (at, text) in texts.iter().enumerate() {
            self.bytes += text.source.text().len();
            let why = if including.contains(&text.path) {
                "in a circle"
            } else if including.len() == MAX_INCLUDES {
                "too deep"
            } else if self.files.len() + at >= MAX_FILES || self.bytes > MAX_BYTES {
                "with too many others"
            } else {
                continue;
            };
            return Err(OpenError::Include { path: text.path.clone(), why });
        }
        let inputs: Vec<Input<'_>> =
            texts.iter().map(|text| Input { source: &text.source, layer: text.layer }).collect();
        let (readings, folders) =
            with_surroundings(self.request, self.anchors, self.reach(&texts), |around| {
                let readings = (dialect.read)(&inputs, around);
                (readings, (dialect.manner.profile_folders)(&inputs, around))
            });
        self.profile_folders.extend(folders);
        let mut readings = self.heard(dialect, &texts, readings.map_err(broken)?);
        switched::on(self.request, dialect, &mut readings);
        for text in &texts {
            self.files.push(LoadedFile {
                layer: text.layer,
                path: text.path.clone(),
                dialect: dialect.name,
            });
            if text.layer == Layer::Project {
                self.content.push((text.path.clone(), text.source.clone()));
            }
        }
        let here = texts.last().map(|text| text.path.clone()).unwrap_or_default();
        for Reading { layer, document, notes } in &readings {
            including.push(here.clone());
            let (mut included, mut read) = (Vec::new(), 0);
            for (at, Sourced { value, origin }) in document.include.iter().enumerate() {
                let project = self.content.iter().map(|(_, text)| text.text().len());
                let (files, bytes) = (project.len() + at, project.sum::<usize>() + read);
                let many = files >= MAX_PROJECT_FILES || bytes > MAX_PROJECT_BYTES;
                let before = document.include.iter().take(at);
                let why = if *layer == Layer::Project && many {
                    "with too many others"
                } else if before.clone().any(|known| known.value == *value) {
                    "twice"
                } else {
                    ""
                };
                if !why.is_empty() {
                    let path = value.path.to_string().into();
                    return Err(OpenError::Include { path, why }.named_in(origin));
                }
                let folder = here.parent().unwrap_or(Path::new("/"));
                let group = self.included(value, folder, *layer);
                let group = group.and_then(|group| self.expanded(group));
                let (dialect, texts) = group.map_err(|error| error.named_in(origin))?;
                read += texts.iter().map(|text| text.source.text().len()).sum::<usize>();
                included.push(Group::Texts(dialect, texts));
                // They are all read before the first is understood.
                if self.files.len() + included.len() > MAX_FILES {
                    let (path, why) = (value.path.to_string().into(), "with too many others");
                    return Err(OpenError::Include { path, why }.named_in(origin));
                }
            }
            for (at, group) in self.joined(included)? {
                let added = self.add(group, including);
                added.map_err(|error| match document.include.get(at) {
                    Some(include) => error.named_in(&include.origin),
                    None => error,
                })?;
            }
            including.pop();
            if *layer == Layer::Project {
                let agents = document.agents.keys().cloned().map(Some);
                self.choices.extend(agents.map(|agent| Choice { agent, task: None }));
                let tasks = document.tasks.keys().cloned().map(Some);
                self.choices.extend(tasks.map(|task| Choice { agent: None, task }));
            }
            self.notes.extend(notes.iter().cloned().map(Warning::Text));
            let dialect = Some(dialect);
            self.stack.push(*layer, Document { dialect, ..document.clone() });
        }
        Ok(readings)
    }

    /// Returns how far the paths that these texts name are believed.
    fn reach(&self, texts: &[Text]) -> Place<'a> {
        let project = texts.iter().all(|text| text.layer == Layer::Project);
        if project { self.in_project } else { self.place(Layer::CommandLine) }
    }

    /// Keeps of what a dialect read what its texts may say. A project's file brings no variable
    /// into force, and a file that is a whole policy stands in place of the lists below it.
    fn heard(&self, dialect: &Dialect, texts: &[Text], mut readings: Vec<Reading>) -> Vec<Reading> {
        if !texts.is_empty() && texts.iter().all(|text| text.layer == Layer::Project) {
            readings.retain(|reading| reading.layer == Layer::Project);
        }
        if dialect.manner.lists == Lists::Replace {
            for Reading { document: Document { policy, .. }, .. } in &mut readings {
                policy.files.write = std::mem::take(&mut policy.files.write).into_default();
                policy.network.allow = std::mem::take(&mut policy.network.allow).into_default();
            }
        }
        readings
    }

    /// Reads what an `include` names. A project's can only name files of the project.
    fn included(&self, include: &Include, folder: &Path, layer: Layer) -> Result<Group, OpenError> {
        if let Some(silent) = switched::silent(self.request, &include.to_string()) {
            return Ok(silent);
        }
        let named = match (&include.dialect, include.path.strip_prefix("~/"), &self.anchors.home) {
            (_, None, _) | (_, _, None) => include.to_string(),
            (dialect, Some(rest), Some(home)) => {
                let path = home.join(rest).to_string_lossy().into();
                Include { dialect: dialect.clone(), path }.to_string()
            }
        };
        read_named(folder, layer, self.place(layer), &named)
    }

    /// Adds what variables and options say.
    fn add_options(&mut self) -> Result<(), OpenError> {
        let request = self.request;
        let var = |name| request.var(name).map(|value| utf8(name, value)).transpose();
        let from_env = (var("PALISADE_PRESET")?, var("PALISADE_PROFILE")?);
        let options = (request.preset.clone(), request.profile.clone());
        let names = ["PALISADE_PRESET", "PALISADE_PROFILE", "--preset", "--profile"];
        if let Some(runner) = &request.runner {
            self.add_runner(&runner.policy_text())?;
        }
        for (layer, options, names) in
            [(Layer::Environment, from_env, &names[..2]), (request.layer(), options, &names[2..])]
        {
            let network = request.network.filter(|_| layer == request.layer());
            if options != (None, None) || network.is_some() {
                self.add_said(layer, options, network, names)?;
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn add_runner(&mut self, text: &str) -> Result<(), OpenError> {
        let source = Source::new("the runner's configuration.json", text);
        let layer = self.request.layer();
        let document = Document::parse(&source, layer, self.anchors).map_err(broken)?;
        self.stack.push(layer, document);
        Ok(())
    }

    // Apart, as mostly nothing is said, and a policy takes much of a stack.
    #[inline(never)]
    fn add_said(
        &mut self,
        layer: Layer,
        (preset, profile): (Option<String>, Option<String>),
        network: Option<NetworkMode>,
        names: &[&str],
    ) -> Result<(), OpenError> {
        let wrong = |name: &str, invalid| OpenError::Option { name: name.into(), invalid };
        let mut policy = Policy::default();
        if let Some(text) = preset {
            let value = text.parse().map_err(|invalid| wrong(names[0], invalid))?;
            policy.preset = Setting::new(Sourced { value, origin: said_by(layer) });
        }
        if let Some(text) = profile {
            let here = Anchors { root: self.request.cwd.clone(), home: self.anchors.home.clone() };
            let value = parse_profile(&text, &here).map_err(|invalid| wrong(names[1], invalid))?;
            policy.profile = Setting::new(Sourced { value, origin: said_by(layer) });
        }
        if let Some(value) = network {
            policy.network.mode = Setting::new(Sourced { value, origin: said_by(layer) });
        }
        self.stack.push(layer, Document { policy, ..Document::default() });
        Ok(())
    }

    /// Returns how far a path that this layer names is believed.
    pub(super) fn place(&self, layer: Layer) -> Place<'a> {
        if layer == Layer::Project || self.contained { self.in_project } else { Place::Named }
    }
}

/// Reads the files of the machine and the user that are found by themselves.
pub(super) fn found_texts(places: &Places) -> Result<Vec<Text>, OpenError> {
    let found =
        [(Layer::System, Some(&places.system_policy)), (Layer::User, places.user_policy.as_ref())];
    let mut texts = Vec::new();
    for (layer, path) in found {
        if let Some(path) = path {
            texts.extend(read_if_there(layer, path, Place::Named)?);
        }
    }
    Ok(texts)
}

/// Reads a file that need not exist. One with nearly its name is a mistake that must not pass for
/// no policy. A link that leads nowhere does exist.
pub(super) fn read_if_there(
    layer: Layer,
    path: &Path,
    place: Place<'_>,
) -> Result<Option<Text>, OpenError> {
    let is_nowhere = |path: &Path| match path.symlink_metadata() {
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        Ok(_) => false,
    };
    // Mostly there is no such folder, and then none of the names that are looked for in it.
    if has_our_name(path) && path.parent().is_some_and(is_nowhere) {
        return Ok(None);
    }
    if is_nowhere(path) {
        misnamed(path)?;
        return Ok(None);
    }
    read_text(layer, path, place).map(Some)
}

fn has_our_name(path: &Path) -> bool {
    path.is_absolute() && path.file_name() == Some(OsStr::new("policy.yaml"))
}

/// Refuses `policy.yml` and `policy.json` where `policy.yaml` is looked for.
fn misnamed(path: &Path) -> Result<(), OpenError> {
    if !has_our_name(path) {
        return Ok(());
    }
    let near = ["yml", "json"].map(|ending| path.with_extension(ending));
    match near.into_iter().find(|near| near.symlink_metadata().is_ok()) {
        Some(near) => Err(OpenError::Misnamed { path: near }),
        None => Ok(()),
    }
}

/// Reads `[DIALECT:]FILE`, relative to `folder`. `DIALECT:` alone means its documented places.
pub(super) fn read_named(
    folder: &Path,
    layer: Layer,
    place: Place<'_>,
    named: &str,
) -> Result<Group, OpenError> {
    let Include { dialect, path } = Include::new(named);
    let dialect = match dialect {
        Some(name) => Some(
            dialect::named(&name).ok_or_else(|| OpenError::Dialect { name: name.to_string() })?,
        ),
        None => None,
    };
    if let Some(dialect) = dialect
        && path.is_empty()
    {
        return Ok(Group::Places(dialect, layer));
    }
    let mut text = read_text(layer, &folder.join(&*path), place)?;
    text.source = text.source.shown_as(&path);
    let dialect = match dialect {
        Some(dialect) => dialect,
        None => dialect::tell(&text.source).map_err(|problem| broken(vec![problem]))?,
    };
    Ok(Group::Texts(dialect, vec![text]))
}

fn read_text(layer: Layer, path: &Path, place: Place<'_>) -> Result<Text, OpenError> {
    let source = Source::new(&path.to_string_lossy(), &read_policy_file(path, place)?);
    Ok(Text { layer, path: path.into(), source })
}

fn parse_profile(text: &str, here: &Anchors) -> Result<Profile, Invalid> {
    match text.parse()? {
        Profile::File(file) => Ok(Profile::File(file.anchored(here)?)),
        named
        @ (Profile::Readonly | Profile::WorkspaceWrite | Profile::WorkspaceWriteNoNetwork) => {
            Ok(named)
        }
    }
}

pub(super) fn same_file(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}

fn utf8(name: &str, value: &OsStr) -> Result<String, OpenError> {
    value.to_str().map(str::to_owned).ok_or_else(|| OpenError::Option {
        name: name.into(),
        invalid: Invalid::new("not-text", "the value is not UTF-8"),
    })
}

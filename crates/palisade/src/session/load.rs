//! Finding and reading the texts of every layer.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use palisade_policy::key::{Ignored, Setting, Sourced};
use palisade_policy::layer::{Choice, Layer, Origin, Stack};
use palisade_policy::name::{Anchors, Folder, Invalid};
use palisade_policy::policy::{Document, Include, Policy, Profile};
use palisade_policy::text::{self, Diagnostic, Node, Source, Span};

use super::error::{OpenError, Warning};
use super::request::Request;
use super::{broken, said_by};
use crate::places::Places;
use crate::read::{MAX_FILE, Place, ReadError, read_policy_file};
use crate::root::{self, ProjectRoot};
use crate::trust::ContentHash;

/// A file that had a say.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LoadedFile {
    /// Its layer.
    pub layer: Layer,
    /// Its path.
    pub path: PathBuf,
}

/// Everything that was found.
pub(super) struct Loaded {
    pub(super) root: ProjectRoot,
    pub(super) root_origin: Origin,
    pub(super) stack: Stack,
    pub(super) files: Vec<LoadedFile>,
    pub(super) project: Option<ProjectContent>,
    pub(super) warnings: Vec<Warning>,
}

/// The exact content of a project's policy files.
pub(super) struct ProjectContent {
    /// The folder that holds `.palisade`; the root itself may lie deeper.
    pub(super) folder: PathBuf,
    pub(super) paths: Vec<PathBuf>,
    pub(super) hash: ContentHash,
    /// A root that the project names and may not have.
    pub(super) ignored: Vec<Ignored>,
    /// Everyone for whom the files say something of their own.
    pub(super) choices: Vec<Choice>,
}

/// A text that was read, but not yet understood.
struct Text {
    layer: Layer,
    path: PathBuf,
    source: Source,
    node: Node,
}

/// How deep includes may nest.
const MAX_INCLUDES: usize = 8;

pub(super) fn load(request: &Request) -> Result<Loaded, OpenError> {
    let places = request.places();
    let mut texts = Vec::new();
    let found =
        [(Layer::System, Some(&places.system_policy)), (Layer::User, places.user_policy.as_ref())];
    for (layer, path) in found {
        if let Some(path) = path
            && let Some(text) = read_if_there(path, Place::Named)?
        {
            texts.push(parse(layer, path, &text)?);
        }
    }
    if let Some(named) = request.var("PALISADE_POLICY") {
        texts.push(read_named(request, Layer::Environment, &utf8("PALISADE_POLICY", named)?)?);
    }
    for named in &request.policies {
        texts.push(read_named(request, request.layer(), named)?);
    }

    let (mut root, mut root_origin) = find_root(request, &places, &texts)?;
    let mut ignored = Vec::new();
    let project_path = Places::project_policy(&root.path);
    let folder = root.path.clone();
    let in_project = Place::InProject { root: &folder, uid: request.uid() };
    // A file that a person also named speaks with that person's voice, and only once.
    let named = texts.iter().any(|text| same_file(&text.path, &project_path));
    if !named && let Some(text) = read_if_there(&project_path, in_project)? {
        let text = parse(Layer::Project, &project_path, &text)?;
        narrow_root(&text, &mut root, &mut root_origin, &mut ignored)?;
        texts.push(text);
    }

    let anchors = Anchors { root: root.path.clone(), home: places.home.clone() };
    let mut loader = Loader {
        project_root: in_project,
        anchors: &anchors,
        stack: Stack::new(anchors.clone()),
        files: Vec::new(),
        content: Vec::new(),
        choices: Vec::new(),
    };
    for text in &texts {
        loader.add(text, &mut Vec::new())?;
    }
    loader.add_options(request)?;
    loader.add_profiles()?;
    let Loader { stack, mut files, content, choices, .. } = loader;
    files.sort_by_key(|file| file.layer);
    let warnings = root.warnings.iter().cloned().map(Warning::Root).collect();
    let project = (!content.is_empty()).then(|| ProjectContent {
        paths: content.iter().map(|(path, _)| path.clone()).collect(),
        hash: ContentHash::of(content.iter().map(|(path, text)| {
            (path.strip_prefix(&folder).unwrap_or(path), text.text().as_bytes())
        })),
        folder: folder.clone(),
        ignored,
        choices,
    });
    Ok(Loaded { root, root_origin, stack, files, project, warnings })
}

/// Reads one file and says what is wrong with it, as `policy check` does. Relative paths in it start
/// at `root`.
///
/// # Errors
///
/// Every problem of the file.
pub fn check_file(path: &Path, root: &Path, request: &Request) -> Result<(), OpenError> {
    check(&parse(Layer::CommandLine, path, &read_policy_file(path, Place::Named)?)?, root, request)
}

impl Request {
    /// Reads a policy text from a stream and says what is wrong with it, as [`check_file`] does
    /// for a file. `name` stands for it in messages; no more is read than a file may hold.
    ///
    /// # Errors
    ///
    /// Every problem of the text.
    pub fn check_stream(
        &self,
        name: &str,
        stream: impl Read,
        root: &Path,
    ) -> Result<(), OpenError> {
        let path = PathBuf::from(name);
        let mut bytes = Vec::new();
        if let Err(source) = stream.take(MAX_FILE + 1).read_to_end(&mut bytes) {
            return Err(ReadError::Unreadable { path, source }.into());
        }
        if bytes.len() as u64 > MAX_FILE {
            return Err(ReadError::TooLarge { path }.into());
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let before = error.as_bytes().iter().take(offset);
            let line = 1 + before.filter(|byte| **byte == b'\n').count();
            ReadError::NotUtf8 { path: path.clone(), line, offset }
        })?;
        check(&parse(Layer::CommandLine, &path, &text)?, root, self)
    }

    /// Finds the project without reading any file of it.
    ///
    /// # Errors
    ///
    /// When there is none, or the one that was named is not a folder.
    pub fn project(&self) -> Result<ProjectRoot, OpenError> {
        Ok(find_root(self, &self.places(), &[])?.0)
    }
}

fn check(text: &Text, root: &Path, request: &Request) -> Result<(), OpenError> {
    let anchors = Anchors { root: root.into(), home: request.places().home };
    let mut loader = Loader {
        project_root: Place::Named,
        anchors: &anchors,
        stack: Stack::new(anchors.clone()),
        files: Vec::new(),
        content: Vec::new(),
        choices: Vec::new(),
    };
    loader.add(text, &mut Vec::new())?;
    loader.add_profiles()
}

struct Loader<'a> {
    project_root: Place<'a>,
    anchors: &'a Anchors,
    stack: Stack,
    files: Vec<LoadedFile>,
    content: Vec<(PathBuf, Source)>,
    choices: Vec<Choice>,
}

impl Loader<'_> {
    /// Adds a text, and before it the texts it includes.
    fn add(&mut self, text: &Text, including: &mut Vec<PathBuf>) -> Result<(), OpenError> {
        if including.contains(&text.path) || including.len() == MAX_INCLUDES {
            let why = if including.len() == MAX_INCLUDES { "too deep" } else { "in a circle" };
            return Err(OpenError::Include { path: text.path.clone(), why });
        }
        let document =
            Document::read(&text.source, &text.node, text.layer, self.anchors).map_err(broken)?;
        including.push(text.path.clone());
        for Sourced { value: Include { dialect, path }, .. } in &document.include {
            if let Some(name) = dialect {
                return Err(OpenError::Dialect { name: name.to_string() });
            }
            let path = text.path.parent().unwrap_or(Path::new("/")).join(&**path);
            let included = read_policy_file(&path, self.place(text.layer))?;
            self.add(&parse(text.layer, &path, &included)?, including)?;
        }
        including.pop();
        if text.layer == Layer::Project {
            self.content.push((text.path.clone(), text.source.clone()));
            let agents = document.agents.keys().cloned().map(Some);
            self.choices.extend(agents.map(|agent| Choice { agent, task: None }));
            let tasks = document.tasks.keys().cloned().map(Some);
            self.choices.extend(tasks.map(|task| Choice { agent: None, task }));
        }
        self.files.push(LoadedFile { layer: text.layer, path: text.path.clone() });
        self.stack.push(text.layer, document);
        Ok(())
    }

    /// Adds what variables and options say.
    fn add_options(&mut self, request: &Request) -> Result<(), OpenError> {
        let var = |name| request.var(name).map(|value| utf8(name, value)).transpose();
        let from_env = (var("PALISADE_PRESET")?, var("PALISADE_PROFILE")?);
        let options = (request.preset.clone(), request.profile.clone());
        let names = ["PALISADE_PRESET", "PALISADE_PROFILE", "--preset", "--profile"];
        if let Some(runner) = &request.runner {
            let source = Source::new("the runner's configuration.json", &runner.policy_text());
            let document =
                Document::parse(&source, request.layer(), self.anchors).map_err(broken)?;
            self.stack.push(request.layer(), document);
        }
        for (layer, (preset, profile), names) in
            [(Layer::Environment, from_env, &names[..2]), (request.layer(), options, &names[2..])]
        {
            let wrong = |name: &str, invalid| OpenError::Option { name: name.into(), invalid };
            let mut policy = Policy::default();
            if let Some(text) = preset {
                let value = text.parse().map_err(|invalid| wrong(names[0], invalid))?;
                policy.preset = Setting::new(Sourced { value, origin: said_by(layer) });
            }
            if let Some(text) = profile {
                let here = Anchors { root: request.cwd.clone(), home: self.anchors.home.clone() };
                let value =
                    parse_profile(&text, &here).map_err(|invalid| wrong(names[1], invalid))?;
                policy.profile = Setting::new(Sourced { value, origin: said_by(layer) });
            }
            if policy != Policy::default() {
                self.stack.push(layer, Document { policy, ..Document::default() });
            }
        }
        Ok(())
    }

    /// Adds the profiles that stand in files.
    fn add_profiles(&mut self) -> Result<(), OpenError> {
        let named: Vec<Sourced<Profile>> =
            self.stack.profile_files().into_iter().cloned().collect();
        for Sourced { value, origin } in named {
            let Profile::File(file) = value else { continue };
            let path = file.path();
            if path.extension() != Some(OsStr::new("yaml")) {
                return Err(OpenError::ProfileKind { file: file.to_string() });
            }
            let content =
                parse(origin.layer, &path, &read_policy_file(&path, self.place(origin.layer))?)?;
            let document =
                Document::read(&content.source, &content.node, origin.layer, self.anchors);
            let document = document.map_err(broken)?;
            let only = Policy {
                files: document.policy.files.clone(),
                network: document.policy.network.clone(),
                ..Policy::default()
            };
            if document != (Document { policy: only.clone(), ..Document::default() }) {
                let problem = Diagnostic::new(
                    &content.source,
                    "profile-key",
                    "a profile holds `files` and `network`, nothing else".into(),
                );
                return Err(broken(vec![problem.at(Span::new(0, 1))]));
            }
            if origin.layer == Layer::Project {
                self.content.push((path, content.source));
            }
            self.stack.push_profile(file, only);
        }
        Ok(())
    }

    fn place(&self, layer: Layer) -> Place<'_> {
        if layer == Layer::Project { self.project_root } else { Place::Named }
    }
}

/// Reads a file that need not exist. A link that leads nowhere does exist.
fn read_if_there(path: &Path, place: Place<'_>) -> Result<Option<String>, OpenError> {
    match path.symlink_metadata() {
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(_) | Ok(_) => match read_policy_file(path, place) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(error.into()),
        },
    }
}

fn read_named(request: &Request, layer: Layer, named: &str) -> Result<Text, OpenError> {
    let Include { dialect, path } = Include::new(named);
    if let Some(name) = dialect {
        return Err(OpenError::Dialect { name: name.to_string() });
    }
    let path = request.cwd.join(&*path);
    parse(layer, &path, &read_policy_file(&path, Place::Named)?)
}

fn parse(layer: Layer, path: &Path, text: &str) -> Result<Text, OpenError> {
    let source = Source::new(&path.to_string_lossy(), text);
    let node = text::parse(&source).map_err(|problem| broken(vec![problem]))?;
    Ok(Text { layer, path: path.into(), source, node })
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

/// Finds the root: an option, a variable, the highest file that names one, or the nearest marker.
fn find_root(
    request: &Request,
    places: &Places,
    texts: &[Text],
) -> Result<(ProjectRoot, Origin), OpenError> {
    let runner = request.runner.as_ref().and_then(|runner| runner.project_root.as_ref());
    if let Some(dir) = request.root.as_ref().or(runner) {
        return Ok((root::explicit(&request.cwd.join(dir))?, said_by(request.layer())));
    }
    if let Some(dir) = request.var("PALISADE_ROOT") {
        return Ok((root::explicit(&request.cwd.join(dir))?, said_by(Layer::Environment)));
    }
    for text in texts.iter().rev() {
        if let Some(Sourced { value, origin }) = named_root(text)? {
            // Files that are found by themselves mean the same folder from everywhere.
            let from = if text.layer < Layer::Project { Path::new("/") } else { &request.cwd };
            let here = Anchors { root: from.into(), home: places.home.clone() };
            let folder = value
                .anchored(&here)
                .map_err(|invalid| OpenError::Option { name: "root".into(), invalid })?;
            return Ok((root::explicit(&folder.path())?, origin));
        }
    }
    let found = root::detect(&request.cwd, &places.caller())?;
    Ok((found, said_by(Layer::BuiltIn)))
}

/// Lets a project's own file move the root to a folder inside it, and nowhere else.
fn narrow_root(
    text: &Text,
    root: &mut ProjectRoot,
    from: &mut Origin,
    ignored: &mut Vec<Ignored>,
) -> Result<(), OpenError> {
    let Some(Sourced { value, origin }) = named_root(text)? else { return Ok(()) };
    let here = Anchors { root: root.path.clone(), home: None };
    let wanted = value.anchored(&here).ok().and_then(|folder| root::explicit(&folder.path()).ok());
    match wanted {
        Some(inside) if inside.path.starts_with(&root.path) => {
            *root = ProjectRoot { warnings: std::mem::take(&mut root.warnings), ..inside };
            *from = origin;
        }
        Some(_) | None => {
            ignored.push(Ignored { key: "root".into(), value: value.to_string(), origin });
        }
    }
    Ok(())
}

/// Reads only the root that a text names: everything else in it starts from there.
fn named_root(text: &Text) -> Result<Option<Sourced<Folder>>, OpenError> {
    if text.node.find("root").or_else(|| text.node.find("project_root")).is_none() {
        return Ok(None);
    }
    let nowhere = Anchors { root: "/".into(), home: Some("/".into()) };
    let document =
        Document::read(&text.source, &text.node, text.layer, &nowhere).map_err(broken)?;
    Ok(document.root)
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}

fn utf8(name: &str, value: &OsStr) -> Result<String, OpenError> {
    value.to_str().map(str::to_owned).ok_or_else(|| OpenError::Option {
        name: name.into(),
        invalid: Invalid::new("not-text", "the value is not UTF-8"),
    })
}

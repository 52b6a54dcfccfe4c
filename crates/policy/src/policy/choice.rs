//! Keys that take one of a few words.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value as Json, json};

use crate::key::{Item, Reader, Strictest, Strictness, choice, nearest};
use crate::name::{Folder, Invalid};
use crate::text::Node;

choice! {
    /// What may leave the sandbox.
    pub enum NetworkMode {
        /// Nothing connects anywhere.
        DenyAll = "deny-all",
        /// Only the hosts of `network.allow` and the ports of `network.host_ports`.
        AllowList = "allow-list",
        /// Every public host that `network.deny` does not list is reached, and each connection is recorded.
        Monitor = "monitor",
        /// No restriction: the host's own network, unfiltered.
        Disabled = "disabled",
    }
}

choice! {
    /// The least confinement to accept before a command runs.
    pub enum Require {
        /// All walls: namespaces, Landlock and seccomp.
        Full = "full",
        /// Landlock and seccomp alone.
        Landlock = "landlock",
        /// No walls of ours: a container or a virtual machine stands around everything. No project can say so.
        External = "external",
        /// Nothing. Only the user, the command line or the library can say so.
        None = "none",
    }
}

choice! {
    /// Whether programs inside may make user namespaces of their own.
    pub enum Nested {
        /// They may not.
        Off = "off",
        /// They may, for browsers' own sandboxes and the like.
        Userns = "userns",
    }
}

choice! {
    /// What happens to the caches of build tools.
    pub enum Caches {
        /// They are read-only like the rest of the home folder.
        Off = "off",
        /// A private copy-on-write layer over each.
        Private = "private",
        /// The real ones, writable.
        Shared = "shared",
    }
}

choice! {
    /// Whether shell text may run.
    pub enum ShellUse {
        /// Shell text and every shell-like tool are refused.
        Never = "never",
        /// Shell text is parsed, and every command in it is judged.
        Judged = "judged",
    }
}

/// Says that of a few words none is stricter than another.
macro_rules! neutral {
    ($Type:ident) => {
        impl Strictest for $Type {
            fn strictest() -> Self {
                Self::ALL[0]
            }
        }
        impl Strictness for $Type {
            fn within(&self, base: &Self) -> bool {
                self == base
            }
        }
    };
}

/// Which end of an output that is too long is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Keep {
    /// The first bytes.
    Head,
    /// The last bytes.
    Tail,
}

/// How spans are written for a collector.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OtlpFormat {
    /// In JSON.
    Json,
    /// In protobuf.
    Protobuf,
}

/// What spans of tools are called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SpanNames {
    /// `execute_tool` and the tool's name, as the present conventions have it.
    Convention,
    /// `gen_ai.tool.execution`, as the sources have it.
    Source,
}

/// What the proxy does with a tool call it refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OnViolation {
    /// The client sees an assistant text with the error in place of the call.
    Answer,
    /// The model gets the error as the tool's result and is asked again.
    Retry,
}

macro_rules! words {
    ($Type:ident { $($Variant:ident = $word:literal, $about:literal;)+ }) => {
        impl $Type {
            /// Every choice there is.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),+];
        }
        impl fmt::Display for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$Variant => $word),+ })
            }
        }
        impl FromStr for $Type {
            type Err = Invalid;
            fn from_str(text: &str) -> Result<Self, Invalid> {
                match text {
                    $($word => Ok(Self::$Variant),)+
                    _ => Err(crate::key::unknown_word(text, &[$($word),+])),
                }
            }
        }
        impl Item for $Type {
            fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
                let words = [$($word),+].join(", ");
                let text = cx.text(&format!("one of {words}"), node)?;
                text.parse().map_or_else(|invalid| cx.invalid(node, &invalid), Some)
            }
            fn json(&self) -> Json {
                json!(self.to_string())
            }
            fn schema() -> Json {
                json!({ "enum": [$($word),+] })
            }
            fn takes() -> String {
                [$(concat!("`", $word, "`: ", $about)),+].join("; ")
            }
        }
    };
}

words!(Keep { Head = "head", "the first bytes"; Tail = "tail", "the last bytes"; });
neutral!(Keep);
words!(OtlpFormat { Protobuf = "protobuf", "protobuf"; Json = "json", "JSON"; });
neutral!(OtlpFormat);
words!(SpanNames {
    Source = "source", "`gen_ai.tool.execution`";
    Convention = "convention", "`execute_tool` and the tool's name";
});
neutral!(SpanNames);
words!(OnViolation {
    Answer = "answer", "the client sees the error as the assistant's text";
    Retry = "retry", "the model gets the error and is asked again";
});
neutral!(OnViolation);

/// How calls are decided (Ruling 1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Preset {
    /// Agentao's full access: everything but the hardline floor.
    AgentaoFullAccess,
    /// Agentao's plan mode.
    AgentaoPlan,
    /// Agentao's read-only mode.
    AgentaoReadOnly,
    /// Agentao's workspace-write mode.
    AgentaoWorkspaceWrite,
    /// Denies what no wall can undo, asks for what it cannot understand, leaves the rest to the walls.
    Confined,
    /// The sandbox runner: a denylist, no inline code, no shell metacharacters, a path jail.
    Runner,
}

words!(Preset {
    Confined = "confined", "denies what no wall can undo, asks for what it cannot understand, leaves the rest to the walls";
    Runner = "runner", "a denylist, no inline code, no shell metacharacters, a path jail, 30 s and 64 KiB";
    AgentaoReadOnly = "agentao:read-only", "only tools that change nothing";
    AgentaoPlan = "agentao:plan", "only planning tools and read-only shell";
    AgentaoWorkspaceWrite = "agentao:workspace-write", "edits and read-only shell, asks for other shell";
    AgentaoFullAccess = "agentao:full-access", "everything but what cannot be undone";
});

impl Strictest for Preset {
    fn strictest() -> Self {
        Self::Runner
    }
}

impl Strictness for Preset {
    /// Two chains; between them nothing is said to be stricter. `runner` checks all that `confined`
    /// checks, and more.
    fn within(&self, base: &Self) -> bool {
        let rank = |preset: &Self| match preset {
            Self::Runner => (0, 0),
            Self::Confined => (0, 1),
            Self::AgentaoReadOnly => (1, 0),
            Self::AgentaoPlan => (1, 1),
            Self::AgentaoWorkspaceWrite => (1, 2),
            Self::AgentaoFullAccess => (1, 3),
        };
        let (own, other) = (rank(self), rank(base));
        own.0 == other.0 && own.1 <= other.1
    }
}

/// How commands are confined where `files` and `network` do not say otherwise.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Profile {
    /// A profile in a file.
    File(Folder),
    /// Nothing outside the private temporary folder is writable; no network.
    Readonly,
    /// The project is writable; the network is not touched.
    WorkspaceWrite,
    /// The project is writable; no network.
    WorkspaceWriteNoNetwork,
}

impl Profile {
    /// The names of the built-in profiles, from strict to wide.
    pub const NAMES: [&'static str; 3] =
        ["readonly", "workspace-write-no-network", "workspace-write"];
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.fmt(f),
            Self::Readonly => f.write_str(Self::NAMES[0]),
            Self::WorkspaceWriteNoNetwork => f.write_str(Self::NAMES[1]),
            Self::WorkspaceWrite => f.write_str(Self::NAMES[2]),
        }
    }
}

impl FromStr for Profile {
    type Err = Invalid;

    /// Takes a built-in name, or a path: something with a `/` or a file's ending in it.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "readonly" => Ok(Self::Readonly),
            "workspace-write-no-network" => Ok(Self::WorkspaceWriteNoNetwork),
            "workspace-write" => Ok(Self::WorkspaceWrite),
            _ if text.contains('/') || text.ends_with(".sb") || text.ends_with(".yaml") => {
                text.parse().map(Self::File)
            }
            _ => {
                let problem = format!("there is no profile `{}`", crate::text::visible(text));
                let names = Self::NAMES.join(", ");
                Err(Invalid::new("unknown-profile", problem).with_hint(
                    match nearest(text, &Self::NAMES) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!(
                            "built in: {names}; a file is named with its path, such as ./strict.sb"
                        ),
                    },
                ))
            }
        }
    }
}

impl Item for Profile {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        let text = cx.text("a profile's name or file", node)?;
        let profile = text.parse().and_then(|profile| match profile {
            Self::File(path) => path.anchored(cx.anchors()).map(Self::File),
            named @ (Self::Readonly | Self::WorkspaceWrite | Self::WorkspaceWriteNoNetwork) => {
                Ok(named)
            }
        });
        profile.map_or_else(|invalid| cx.invalid(node, &invalid), Some)
    }
    fn json(&self) -> Json {
        json!(self.to_string())
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "enum": Self::NAMES }, { "type": "string", "description": "path of a profile file" }] })
    }
    fn takes() -> String {
        "`readonly`: nothing is writable, no network; `workspace-write-no-network`: the project is \
         writable, no network; `workspace-write`: the project is writable, the network is open; or \
         the path of a profile file"
            .into()
    }
}

impl Strictest for Profile {
    fn strictest() -> Self {
        Self::Readonly
    }
}

impl Strictness for Profile {
    fn within(&self, base: &Self) -> bool {
        let rank = |profile: &Self| match profile {
            Self::Readonly => Some(0),
            Self::WorkspaceWriteNoNetwork => Some(1),
            Self::WorkspaceWrite => Some(2),
            Self::File(_) => None,
        };
        self == base || rank(self).zip(rank(base)).is_some_and(|(own, other)| own <= other)
    }
}

//! Which keys srt knows: both generations of its schema.

use super::schema::Fate::{Lowered, Noted, Refused};
use super::schema::Shape::{Flag, List, Map, Number, Path, Record, Text, Word};
use super::schema::{Fate, Key, Shape};

/// Makes a row of a table.
pub(in crate::dialect) const fn key(name: &'static str, shape: Shape, fate: Fate) -> Key {
    Key { name, shape, fate }
}

/// A list of text.
pub(in crate::dialect) const TEXTS: Shape = List(&Text);
const PATHS: Shape = List(&Path);
/// Why a key of macOS is not carried over.
pub(in crate::dialect) const ON_MAC: Fate = Noted("this is about macOS, and means nothing here");
/// Why a part of srt's machinery is not carried over.
pub(in crate::dialect) const PLUMBING: Fate =
    Noted("this names a part of srt itself, which is not used here");
const INJECTION: Fate =
    Noted("secrets are not put into requests here; what would be replaced stays absent");

/// The whole file.
pub(super) const SETTINGS: &[Key] = &[
    key("network", Map(&[NETWORK]), Lowered),
    key("filesystem", Map(&[FILESYSTEM]), Lowered),
    key("credentials", Map(&[CREDENTIALS]), Lowered),
    key("ignoreViolations", Record(&TEXTS), SILENCED),
    key("enableWeakerNestedSandbox", Flag, NESTED),
    key("enableWeakerNetworkIsolation", Flag, ON_MAC),
    key("allowAppleEvents", Flag, ON_MAC),
    key("allowPty", Flag, ON_MAC),
    key("ripgrep", Map(&[PROGRAM]), PLUMBING),
    key(
        "mandatoryDenySearchDepth",
        Number(1, 10),
        Noted("files that run elsewhere are protected at every depth here"),
    ),
    key("seccomp", Map(&[SECCOMP]), PLUMBING),
    key("bwrapPath", Text, PLUMBING),
    key("socatPath", Text, PLUMBING),
    key("javaAgentJarPath", Text, PLUMBING),
    key("windows", Map(&[WINDOWS]), Noted("this is about Windows, and means nothing here")),
    key("git", Map(&[&[key("safeDirectories", TEXTS, PLUMBING)]]), Lowered),
];

/// Why a list of violations that are not reported changes nothing of what is refused.
pub(in crate::dialect) const SILENCED: Fate =
    Noted("this silences reports only; what was refused stays refused");
/// Why a container does not weaken the walls.
pub(in crate::dialect) const NESTED: Fate =
    Noted("the walls are not weakened for a container; say `require: external` if it is the wall");

/// `network`.
pub(in crate::dialect) const NETWORK: &[Key] = &[
    key("allowedDomains", TEXTS, Lowered),
    key("deniedDomains", TEXTS, Lowered),
    key("deniedDomainReasons", Record(&Text), Noted("reasons are not shown; the refusals hold")),
    key("deniedResolvedAddresses", TEXTS, Lowered),
    key(
        "strictAllowlist",
        Flag,
        Noted("holds already: hosts outside the list are refused, unless `network.ask` names them"),
    ),
    key("allowUnixSockets", TEXTS, Lowered),
    key("allowAllUnixSockets", Flag, Lowered),
    key("allowLocalBinding", Flag, Lowered),
    key("allowMachLookup", TEXTS, ON_MAC),
    key("httpProxyPort", Number(1, 65535), EXTERNAL),
    key("socksProxyPort", Number(1, 65535), EXTERNAL),
    key("mitmProxy", Map(&[MITM]), Noted("connections are not handed to another proxy here")),
    key("parentProxy", Map(&[PARENT]), Noted("connections are made directly, not through a proxy")),
    key("allowPlaintextHeaderSet", Flag, INJECTION),
    key("stripResponseHeaders", TEXTS, Refused("answers are not rewritten here")),
    key("refuseOpaqueTunnels", Flag, Lowered),
    key("requireHostMatch", Flag, Lowered),
    key(
        "tlsTerminate",
        Map(&[TLS]),
        Noted("TLS is not opened here; hosts are told by their names"),
    ),
];

const EXTERNAL: Fate = Noted("a filter of your own is not used; the lists of this file hold");

const MITM: &[Key] = &[key("socketPath", Text, Lowered), key("domains", TEXTS, Lowered)];
const PARENT: &[Key] =
    &[key("http", Text, Lowered), key("https", Text, Lowered), key("noProxy", Text, Lowered)];
const TLS: &[Key] = &[
    key("caCertPath", Text, Lowered),
    key("caKeyPath", Text, Lowered),
    key("excludeDomains", TEXTS, Lowered),
    key("extraCaCertPaths", TEXTS, Lowered),
    key("maxTunnels", Number(1, 65536), Lowered),
    key("handshakeTimeoutMs", Number(100, 600_000), Lowered),
];
/// A program to start.
pub(in crate::dialect) const PROGRAM: &[Key] =
    &[key("command", Text, Lowered), key("args", TEXTS, Lowered), key("argv0", Text, Lowered)];
const SECCOMP: &[Key] = &[key("applyPath", Text, Lowered), key("argv0", Text, Lowered)];
const WINDOWS: &[Key] = &[
    key("sandboxUser", Text, Lowered),
    key("sublayerGuid", Text, Lowered),
    key("wfpSublayerGuid", Text, Lowered),
    key("proxyPortRange", List(&Number(1, 65535)), Lowered),
    key("srtWin", Map(&[&[key("path", Text, Lowered)]]), Lowered),
];

/// `filesystem`.
pub(in crate::dialect) const FILESYSTEM: &[Key] = &[
    key("disabled", Flag, Lowered),
    key("denyRead", PATHS, Lowered),
    key("allowRead", PATHS, Lowered),
    key("allowWrite", PATHS, Lowered),
    key("denyWrite", PATHS, Lowered),
    key("allowGitConfig", Flag, Lowered),
];

/// A path with its mark.
pub(super) const PATH_ENTRY: &[Key] = &[key("path", Text, Lowered), key("literal", Flag, Lowered)];

/// `credentials`.
pub(in crate::dialect) const CREDENTIALS: &[Key] = &[
    key("files", List(&Map(&[CREDENTIAL_FILE])), Lowered),
    key("envVars", List(&Map(&[CREDENTIAL_VARIABLE])), Lowered),
    key("allowPlaintextInject", Flag, INJECTION),
    key("awsPairs", List(&Map(&[AWS_PAIR])), INJECTION),
    key("sigv4", Map(&[SIGV4]), INJECTION),
];

const MODES: Shape = Word(&["deny", "mask"]);
const ON_NO_MATCH: Shape = Word(&["warn", "deny", "error"]);
const CREDENTIAL_FILE: &[Key] = &[
    key("path", Text, Lowered),
    key("mode", MODES, Lowered),
    key("extract", Text, Lowered),
    key("onExtractNoMatch", ON_NO_MATCH, Lowered),
    key("decode", Word(&["jwt"]), Lowered),
    key("maskClaims", TEXTS, Lowered),
    key("maskDuplicates", Flag, Lowered),
    key("injectHosts", TEXTS, INJECTION),
];
const CREDENTIAL_VARIABLE: &[Key] = &[
    key("name", Text, Lowered),
    key("mode", MODES, Lowered),
    key("extract", Text, Lowered),
    key("onExtractNoMatch", ON_NO_MATCH, Lowered),
    key("decode", Word(&["jwt"]), Lowered),
    key("maskClaims", TEXTS, Lowered),
    key("injectHosts", TEXTS, INJECTION),
];
const AWS_PAIR: &[Key] = &[
    key("accessKeyIdVar", Text, Lowered),
    key("secretAccessKeyVar", Text, Lowered),
    key("sessionTokenVar", Text, Lowered),
];
const SIGV4: &[Key] = &[
    key("streaming", SIGNED, Lowered),
    key("presigned", SIGNED, Lowered),
    key("sigv4a", SIGNED, Lowered),
];
const SIGNED: Shape = Word(&["deny", "passthrough"]);

//! The keys at the top of a settings file: ours, and those that are somebody else's.

use super::{PERMISSIONS, SANDBOX};
use crate::key::{Reader, nearest};
use crate::text::{Entry, Node, Value};

/// What is read here.
const OURS: [&str; 3] = ["permissions", "sandbox", "allowManagedPermissionRulesOnly"];

/// Mentions every key that is neither ours nor one that Claude Code documents: a section with a
/// misspelt name would refuse nothing, and nobody would notice.
pub(super) fn check(node: &Node, cx: &mut Reader<'_>) {
    let entries = match &node.value {
        Value::Map(entries) => entries.as_slice(),
        Value::Bool(_) | Value::List(_) | Value::Null | Value::Number(_) | Value::Text(_) => &[],
    };
    for entry in entries {
        let key = &*entry.key;
        if !OURS.contains(&key) && !OTHERS.contains(&key) {
            unknown(entry, cx);
        }
    }
}

fn unknown(entry: &Entry, cx: &mut Reader<'_>) {
    let key = &*entry.key;
    let note = cx.unknown("", entry, &OTHERS).warning();
    let sections = [("permissions", PERMISSIONS), ("sandbox", SANDBOX)];
    let home = sections.iter().find(|(_, keys)| keys.iter().any(|known| known.name == key));
    cx.report(match (nearest(key, &OURS), home, nearest(key, &OTHERS)) {
        (Some(near), ..) => note.hint(format!("did you mean `{near}`? nothing of it holds now")),
        (None, Some((section, _)), _) => {
            note.hint(format!("`{key}` belongs to `{section}`: put it inside that"))
        }
        (None, None, Some(_)) => note,
        (None, None, None) => note.hint("Claude Code documents no such key"),
    });
}

/// What Claude Code documents beside that. It is not about what may happen, or not for us to do.
const OTHERS: [&str; 102] = [
    "$schema",
    "agent",
    "agentPushNotifEnabled",
    "allowedChannelPlugins",
    "allowedHttpHookUrls",
    "allowedMcpServers",
    "allowManagedHooksOnly",
    "allowManagedMcpServersOnly",
    "alwaysThinkingEnabled",
    "apiKeyHelper",
    "attribution",
    "autoConnectIde",
    "autoMemoryDirectory",
    "autoMemoryEnabled",
    "autoMode",
    "autoScrollEnabled",
    "autoUpdates",
    "autoUpdatesChannel",
    "availableModels",
    "awaySummaryEnabled",
    "awsAuthRefresh",
    "awsCredentialExport",
    "blockedMarketplaces",
    "channelsEnabled",
    "claudeMd",
    "claudeMdExcludes",
    "cleanupPeriodDays",
    "companyAnnouncements",
    "defaultShell",
    "deniedMcpServers",
    "diffTool",
    "disableAllHooks",
    "disableAutoMode",
    "disableDeepLinkRegistration",
    "disabledMcpjsonServers",
    "disableSkillShellExecution",
    "editorMode",
    "effortLevel",
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
    "enabledPlugins",
    "env",
    "externalEditorContext",
    "extraKnownMarketplaces",
    "fastMode",
    "fastModePerSessionOptIn",
    "feedbackSurveyRate",
    "fileCheckpointingEnabled",
    "fileSuggestion",
    "forceLoginMethod",
    "forceLoginOrgUUID",
    "forceRemoteSettingsRefresh",
    "gcpAuthRefresh",
    "hooks",
    "httpHookAllowedEnvVars",
    "includeCoAuthoredBy",
    "includeGitInstructions",
    "language",
    "minimumVersion",
    "model",
    "modelOverrides",
    "otelHeadersHelper",
    "outputStyle",
    "parentSettingsBehavior",
    "plansDirectory",
    "pluginConfigs",
    "pluginTrustMessage",
    "preferredNotifChannel",
    "prefersReducedMotion",
    "promptSuggestionEnabled",
    "proxyAuthHelper",
    "remote",
    "respectGitignore",
    "showClearContextOnPlanAccept",
    "showThinkingSummaries",
    "showTurnDuration",
    "skipAutoPermissionPrompt",
    "skipDangerousModePermissionPrompt",
    "skippedMarketplaces",
    "skippedPlugins",
    "skipWebFetchPreflight",
    "spinnerTipsEnabled",
    "spinnerTipsOverride",
    "spinnerVerbs",
    "sshConfigs",
    "statusLine",
    "strictKnownMarketplaces",
    "strictPluginOnlyCustomization",
    "subagentStatusLine",
    "teammateMode",
    "terminalProgressBarEnabled",
    "terminalTitleFromRename",
    "theme",
    "tui",
    "useAutoModeDuringPlan",
    "verbose",
    "viewMode",
    "voice",
    "voiceEnabled",
    "wheelScrollAccelerationEnabled",
    "worktree",
    "wslInheritsWindowsSettings",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_documented_key_is_taken_for_a_misspelt_one_of_ours() {
        for key in OTHERS {
            assert_eq!(nearest(key, &OURS), None, "{key}");
        }
    }
}

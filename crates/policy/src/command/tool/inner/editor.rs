//! Commands of an editor's prompt (`vim -c`, `ex`): what they write, run and evaluate.

use super::database::line_from;
use super::head;
use crate::command::{Act, Arg, Concern, Run};

/// Adds what commands do: text behind `!` is for the shell, other words are code.
pub(super) fn commands<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let mut at = 0;
    for command in arg.text.split(['|', '\n']) {
        if !one(arg, at, command, Depth::Top, acts) {
            return;
        }
        at += command.len() + 1;
    }
}

/// Whether a command is done to each line that matches; such commands do not hold one another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Depth {
    Top,
    EachLine,
}

/// Words behind which code stands, or a program. What stands in brackets may be left out.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "py[thon]", "py3[file]", "python3", "pyf[ile]", "pyx[file]", "pyd[o]", "py3d[o]", "pyxd[o]",
    "pythonx", "lua", "luad[o]", "luaf[ile]", "pe[rl]", "perld[o]", "rub[y]", "rubyd[o]",
    "rubyf[ile]", "tcl", "tcld[o]", "tclf[ile]", "mz[scheme]", "mzf[ile]", "sh[ell]", "ter[minal]",
    "so[urce]", "mak[e]", "lmak[e]", "gr[ep]", "grepa[dd]", "lgr[ep]", "lgrepadd", "exe[cute]",
    "ev[al]", "au[tocmd]", "do[autocmd]", "doautoa[ll]", "com[mand]", "ru[ntime]", "pa[ckadd]",
    "packl[oadall]", "lo[adview]", "lan[guage]", "cs[cope]", "lcs[cope]", "diffp[atch]",
];

/// Words behind which a command stands, perhaps with a mark or a number before it.
#[rustfmt::skip]
const AROUND: &[&str] = &[
    "abo[veleft]", "argdo", "bel[owright]", "bot[right]", "bro[wse]", "bufdo", "cdo", "cfd[o]",
    "conf[irm]", "foldd[oopen]", "folddoc[losed]", "hid[e]", "hor[izontal]", "kee[pmarks]",
    "keepa[lt]", "keepj[umps]", "keepp[atterns]", "ld[o]", "lefta[bove]", "lfd[o]",
    "loc[kmarks]", "noa[utocmd]", "nos[wapfile]", "rightb[elow]", "san[dbox]", "sil[ent]", "tab",
    "tabd[o]", "to[pleft]", "uns[ilent]", "verb[ose]", "vert[ical]", "wind[o]",
];

/// Words behind which a file stands that is read, and may be printed.
#[rustfmt::skip]
const READS: &[&str] = &[
    "r[ead]", "rund[o]", "rv[iminfo]", "rsh[ada]", "cf[ile]", "cg[etfile]", "caddf[ile]",
    "lf[ile]", "lg[etfile]", "laddf[ile]", "vie[w]", "sv[iew]", "fin[d]", "sf[ind]", "tabf[ind]",
    "diffs[plit]", "ped[it]", "bad[d]", "arga[dd]", "arge[dit]", "ar[gs]", "dr[op]",
];

/// Words behind which a folder stands that is entered.
const FOLDERS: &[&str] = &["cd", "chd[ir]", "lc[d]", "lch[dir]", "tc[d]", "tch[dir]"];

/// Options whose value is a file or folder that is written.
#[rustfmt::skip]
const SET_FILES: &[&str] = &[
    "backupdir", "bdir", "dir", "directory", "sdf", "shadafile", "udir", "undodir", "vdir",
    "verbosefile", "vfile", "viewdir", "vif", "viminfofile",
];

/// Options whose value is run, or evaluated.
#[rustfmt::skip]
const SET_CODE: &[&str] = &[
    "ccv", "charconvert", "csprg", "cscopeprg", "ep", "equalprg", "ex", "exrc", "fde", "fex",
    "foldexpr", "formatexpr", "formatprg", "fp", "gp", "grepprg", "inde", "indentexpr",
    "keywordprg", "kp", "makeprg", "mp", "patchexpr", "pex", "pexpr", "printexpr", "sh", "shcf",
    "shell", "shellcmdflag", "shellpipe", "shellredir", "sp", "srr", "stl", "statusline",
];

/// Functions that start programs, evaluate text or change files.
const CALLS: &[&str] = &[
    "system(",
    "systemlist(",
    "libcall",
    "writefile(",
    "delete(",
    "rename(",
    "filecopy(",
    "job_start(",
    "jobstart(",
    "term_start(",
    "termopen(",
    "ch_open(",
    "feedkeys(",
    "execute(",
    "luaeval(",
    "pyeval(",
    "py3eval(",
    "pyxeval(",
    "perleval(",
    "rubyeval(",
];

#[rustfmt::skip]
const WRITES: &[&str] = &[
    "w[rite]", "wq", "sav[eas]", "up[date]", "x[it]", "exi[t]", "redi[r]", "wn[ext]", "wN[ext]",
    "wp[revious]", "mks[ession]", "mk[exrc]", "mkv[imrc]", "mkvie[w]", "mksp[ell]", "wu[ndo]",
    "wv[iminfo]", "wsh[ada]", "f[ile]", "e[dit]", "ex", "n[ext]", "new", "sp[lit]", "vs[plit]",
    "vne[w]", "tabe[dit]", "tabnew", "ha[rdcopy]", "prof[ile]",
];

/// Adds what the command does that begins at byte `at`, and tells whether others behind it count.
fn one<'t>(arg: &Arg<'t>, at: usize, command: &str, depth: Depth, acts: &mut Vec<Act<'t>>) -> bool {
    let trimmed = behind_range(command);
    let word_end = trimmed.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(trimmed.len());
    let word = trimmed.get(..word_end).unwrap_or_default();
    let rest = trimmed.get(word_end..).unwrap_or_default();
    // `g/x/w file` does something to every line that matches.
    if depth == Depth::Top
        && matches!(word, "g" | "global" | "v" | "vglobal")
        && let Some(mark) = rest.trim_start_matches('!').chars().next()
        && let Some(inner) = rest.trim_start_matches('!').splitn(3, mark).nth(2)
    {
        return one(arg, at + (command.len() - inner.len()), inner, Depth::EachLine, acts);
    }
    // `argdo w file`, `silent! w file`: as often as it likes, but each time there is less of it.
    let inner = rest.trim_start_matches(['!', ' ']);
    if is_one(word, AROUND) && inner.len() < command.len() {
        return !inner.is_empty()
            && one(arg, at + (command.len() - inner.len()), inner, depth, acts);
    }
    let is_change = matches!(word, "s" | "substitute" | "sno" | "sm");
    // `q!` ends at its mark and `w!` forces; `!cmd`, `w !cmd` and `r!cmd` go on.
    let bang = command.find('!').filter(|at| {
        let before = command.get(..*at).unwrap_or_default();
        let after = command.get(at + 1..).unwrap_or_default().trim();
        let forces = before.ends_with(|c: char| c.is_ascii_alphabetic());
        !after.is_empty() && !is_change && (!forces || is_one(word, &["r[ead]"]))
    });
    if let Some(text) = bang.and_then(|bang| line_from(arg, at + bang + 1)) {
        acts.push(Act::Run(Run::Shell(text)));
        return true;
    }
    let names = |file: &str| {
        let from = command.rfind(file).filter(|_| !file.is_empty())?;
        head(arg, at + from + file.len())?.tail(at + from)
    };
    let file = file_of(rest);
    // `e +cmd file`
    let mut runs = file.starts_with('+');
    if is_one(word, WRITES) {
        let file = file.strip_prefix("start ").unwrap_or(file);
        acts.extend(names(file.trim_start()).map(Act::Write));
    } else if is_one(word, READS) {
        acts.extend(names(file).map(Act::Read));
    } else if is_one(word, FOLDERS) {
        acts.extend(names(if file.is_empty() { "~" } else { file }).map(Act::Enter));
    } else if is_one(word, &["vim[grep]", "vimgrepa[dd]", "lv[imgrep]", "lvimgrepa[dd]"]) {
        let files = file.split_whitespace().skip(1);
        acts.extend(files.filter_map(names).map(Act::Read));
    } else if is_one(word, &["se[t]", "setl[ocal]", "setg[lobal]", "let"]) {
        for (name, value) in rest.split_whitespace().filter_map(|part| part.split_once('=')) {
            let name = name.trim_start_matches(['&', 'l', 'g', ':']).trim_end_matches(['+', '^']);
            let value = value.trim_matches(['"', '\'']);
            if SET_FILES.contains(&name) {
                acts.extend(names(value).map(Act::Write));
            }
            runs |= SET_CODE.contains(&name) && !value.is_empty();
        }
    } else if is_one(word, &["norm[al]"]) {
        runs |= rest.contains([':', '!', '@', '=']);
    }
    for call in ["readfile(", "readblob(", "readdir(", "glob("] {
        runs |= match behind(command, call).map(literal) {
            Some(Some(file)) => {
                acts.extend(names(file).map(Act::Read));
                false
            }
            Some(None) => true,
            None => false,
        };
    }
    runs |= is_one(word, WORDS) || CALLS.iter().any(|call| command.contains(call));
    if runs {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    }
    !runs
}

/// Returns a command without the lines that it is for: `%`, `1,$`, `/from/,/to/`.
fn behind_range(command: &str) -> &str {
    let mut rest = command;
    loop {
        rest =
            rest.trim_start_matches(|c: char| ":%.,;$+-\'<> \t".contains(c) || c.is_ascii_digit());
        let Some(mark) = rest.chars().next().filter(|mark| matches!(mark, '/' | '?')) else {
            return rest;
        };
        let Some((_, tail)) = rest.get(1..).and_then(|tail| tail.split_once(mark)) else {
            return rest;
        };
        rest = tail;
    }
}

/// Returns the file's name of what stands behind a command: `! ++enc=x >> name`.
fn file_of(rest: &str) -> &str {
    let mut file = rest.trim_start_matches(['!', '>', ' ']).trim_end();
    while let Some(option) = file.strip_prefix("++") {
        let end = option.find(' ').unwrap_or(option.len());
        file = option.get(end..).unwrap_or_default().trim_start_matches(['>', ' ']);
    }
    file
}

fn behind<'c>(command: &'c str, call: &str) -> Option<&'c str> {
    command.split_once(call).map(|(_, rest)| rest)
}

/// Returns the text between the quotes that stand there.
fn literal(rest: &str) -> Option<&str> {
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    rest.get(1..)?.split_once(quote).map(|(text, _)| text)
}

/// Tells whether a word is one of those, in full or as short as it may be.
fn is_one(word: &str, list: &[&str]) -> bool {
    list.iter().any(|full| match full.split_once('[') {
        None => word == *full,
        Some((short, more)) => word
            .strip_prefix(short)
            .is_some_and(|tail| more.trim_end_matches(']').starts_with(tail)),
    })
}

//! `palisade run` in a linked worktree of git, whose repository lies elsewhere.

use std::fs;
use std::process::Command;

use palisade_testkit::Project;
use serde_json::Value as Json;

use crate::kit::{World, as_both};

/// Makes a repository in the project, with two worktrees in it that are projects of their own.
fn repository(world: &World) {
    world.write("main/file", "x\n");
    for words in [
        "init -q -b main main",
        "-C main add file",
        "-C main commit -q -m first",
        "-C main worktree add -q ../one",
        "-C main worktree add -q ../two",
        "-C main pack-refs --all",
    ] {
        let ran = world.finish(signed(&mut world.command("/usr/bin/git")).args(words.split(' ')));
        assert_eq!(ran.code, Some(0), "{words}: {}", ran.stderr);
    }
}

fn signed(command: &mut Command) -> &mut Command {
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Dev");
        command.env(format!("GIT_{who}_EMAIL"), "dev@example.com");
    }
    command
}

/// Runs shell text in the worktree `one`.
fn run(world: &World, script: &str) -> Json {
    world.write("one/script.sh", script);
    let env = ["GIT_AUTHOR_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.com"];
    let env = env.into_iter().flat_map(|one| ["--env".to_owned(), one.to_owned()]);
    let both = env.clone().chain(env.map(|one| one.replace("AUTHOR", "COMMITTER")));
    let both: Vec<String> = both.collect();
    let mut words = vec!["run", "--json"];
    words.extend(both.iter().map(String::as_str));
    words.extend(["--", "sh", "script.sh"]);
    let ran = world.run_in("one", &words);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr))
}

fn codes(told: &Json) -> Vec<&str> {
    told["notes"].as_array().unwrap().iter().filter_map(|note| note["code"].as_str()).collect()
}

#[test]
fn git_works_in_a_linked_worktree_cold_and_warm() {
    as_both(|world| {
        repository(&world);
        for turn in ["cold", "warm"] {
            let told = run(
                &world,
                &format!(
                    "set -e; echo {turn} >> file; git add file; git commit -q -m {turn}; \
                     git branch {turn}; git branch -d {turn}; git switch -q -c on-{turn}; \
                     git worktree add -q made-{turn}; git -C made-{turn} log --oneline | wc -l; \
                     git fetch -q ../main main 2>/dev/null || git fetch -q . main; \
                     git pack-refs --all; git status --short --untracked-files=no"
                ),
            );
            assert_eq!(told["exit_code"], 0, "{turn}: {told}");
            assert_eq!(codes(&told), [] as [&str; 0], "{turn}: {told}");
        }
        let log =
            world.finish(world.command("/usr/bin/git").args(["-C", "one", "log", "--format=%s"]));
        assert_eq!(log.stdout, "warm\ncold\nfirst\n", "it is there outside: {}", log.stderr);
        let fsck =
            world.finish(world.command("/usr/bin/git").args(["-C", "main", "fsck", "--strict"]));
        assert_eq!(fsck.code, Some(0), "{}", fsck.stderr);
    });
}

#[test]
fn what_makes_git_run_programs_stays_in_the_repository_of_a_worktree() {
    as_both(|world| {
        repository(&world);
        let config = fs::read(world.project.path("main/.git/config")).unwrap();
        let told = run(
            &world,
            "c=$(git rev-parse --git-common-dir)\n\
             for f in config hooks/pre-commit info/attributes modules/m/config remotes/r branches/b \
               worktrees/two/HEAD worktrees/two/config.worktree worktrees/one/commondir \
               worktrees/one/gitdir; do\n\
             mkdir -p \"$(dirname $c/$f)\" 2>/dev/null; (echo evil >> $c/$f) 2>/dev/null && echo wrote $f\n\
             [ -e $c/$f ] && rm -rf $c/$f 2>/dev/null && echo removed $f\ndone\n\
             (echo evil >> .git) 2>/dev/null && echo wrote .git\n\
             rm -f .git 2>/dev/null && echo removed .git\n\
             mv $c/hooks $c/x 2>/dev/null && echo moved hooks\n\
             mv $c/worktrees/two $c/x 2>/dev/null && echo moved two\n\
             mv $c $c.moved 2>/dev/null && echo moved all\n\
             echo evil > $c/config.worktree; echo evil > $c/commondir\n\
             echo evil > $c/worktrees/one/config.worktree; exit 0\n",
        );
        assert_eq!((&told["exit_code"], &told["stdout"]), (&0.into(), &"".into()), "{told}");
        assert_eq!(codes(&told), ["set-aside"; 3], "{told}");
        assert_eq!(fs::read(world.project.path("main/.git/config")).unwrap(), config);
        for gone in ["config.worktree", "commondir", "modules", "worktrees/one/config.worktree"] {
            assert!(!world.project.path("main/.git").join(gone).exists(), "{gone}");
        }
        let status = world.finish(world.command("/usr/bin/git").args(["-C", "two", "status"]));
        assert_eq!(status.code, Some(0), "{}", status.stderr);
    });
}

#[test]
fn a_repository_that_does_not_know_the_worktree_stays_read_only() {
    as_both(|world| {
        repository(&world);
        let back = world.project.path("main/.git/worktrees/one/gitdir");
        let right = fs::read(&back).unwrap();
        fs::write(&back, world.project.path("two/.git").to_str().unwrap()).unwrap();
        let told = run(&world, "git add file; echo $?");
        assert_ne!(told["stdout"], "0\n", "{told}");
        assert_eq!(codes(&told), ["worktree"], "{told}");
        assert!(told["notes"][0]["message"].as_str().unwrap().contains("lead back"), "{told}");
        // And under a profile that lets nothing be written, even one that does.
        fs::write(&back, right).unwrap();
        world.write("one/script.sh", "git add file; echo $?");
        let ran = world.run_in("one", &["run", "--profile", "readonly", "--", "sh", "script.sh"]);
        assert_ne!(ran.stdout, "0\n", "{}", ran.stderr);
    });
}

#[test]
fn a_project_that_says_it_is_a_worktree_of_another_gets_nothing() {
    as_both(|world| {
        repository(&world);
        // All of it in the project, and only the repository is somebody else's.
        let other = Project::new().dir("objects").file("HEAD", "ref: refs/heads/main\n");
        let root = world.project.path("one");
        world.write("one/x/worktrees/y/commondir", other.root().to_str().unwrap());
        world.write("one/x/worktrees/y/gitdir", root.join(".git").to_str().unwrap());
        world.write("one/.git", format!("gitdir: {}/x/worktrees/y\n", root.display()));
        let told = run(&world, &format!("echo evil > {}/evil; exit 0", other.root().display()));
        assert_eq!(codes(&told), ["worktree"], "{told}");
        assert!(!other.path("evil").exists());
    });
}

#[test]
fn the_configuration_of_worktrees_stays_in_the_repository_that_they_share() {
    as_both(|world| {
        repository(&world);
        world.write("main/.git/worktrees/two/config.worktree", "[core]\n");
        world.write(
            "main/try.sh",
            "cd .git/worktrees\n\
             (echo evil >> two/config.worktree) 2>/dev/null && echo wrote\n\
             mv two/config.worktree two/x 2>/dev/null && echo moved\n\
             mv two three 2>/dev/null && echo moved all\n\
             echo evil > one/config.worktree; mkdir new; echo evil > new/config.worktree; exit 0\n",
        );
        let ran = world.run_in("main", &["run", "--json", "--", "sh", "try.sh"]);
        let told: Json = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&told["exit_code"], &told["stdout"]), (&0.into(), &"".into()), "{told}");
        assert_eq!(codes(&told), ["set-aside"; 2], "{told}");
        let of = |name: &str| world.project.path("main/.git/worktrees").join(name);
        assert_eq!(fs::read(of("two/config.worktree")).unwrap(), b"[core]\n");
        assert!(!of("one/config.worktree").exists() && !of("new/config.worktree").exists());
        // From a worktree as from the repository itself.
        let told = run(
            &world,
            "cd $(git rev-parse --git-common-dir)/worktrees; \
            echo evil >> two/config.worktree; mkdir more; echo evil > more/config.worktree; true",
        );
        assert_eq!(fs::read(of("two/config.worktree")).unwrap(), b"[core]\n", "{told}");
        assert!(!of("more/config.worktree").exists(), "{told}");
    });
}

#[test]
fn what_makes_git_run_programs_in_submodules_stays() {
    as_both(|world| {
        world.write(".git/modules/a/b/config", "[core]\n");
        world.write(".git/modules/a/b/hooks/x.sample", "");
        world.write(".git/modules/a/b/HEAD", "ref: refs/heads/main\n");
        world.write(
            "try.sh",
            "cd .git/modules/a/b\n\
             for f in config hooks/post-checkout; do (echo evil >> $f) 2>/dev/null && echo wrote $f; done\n\
             mv hooks h 2>/dev/null && echo moved hooks; mv ../b ../c 2>/dev/null && echo moved all\n\
             echo x >> HEAD; mkdir ../new && echo '[core]' > ../new/config; exit 0\n",
        );
        let told = world.json(&["run", "--json", "--", "sh", "try.sh"]);
        assert_eq!((&told["exit_code"], &told["stdout"]), (&0.into(), &"".into()), "{told}");
        assert_eq!(codes(&told), ["set-aside"], "{told}");
        let module = world.project.path(".git/modules/a");
        assert_eq!(fs::read(module.join("b/config")).unwrap(), b"[core]\n");
        assert!(module.join("new/config.set-aside").exists());
        assert!(
            fs::read_to_string(module.join("b/HEAD")).unwrap().ends_with("x\n"),
            "the rest is theirs"
        );
    });
}

#[test]
fn a_repository_in_the_project_under_another_name_is_protected() {
    as_both(|world| {
        let words = ["init", "-q", "--separate-git-dir", "own", "one"];
        let made = world.finish(world.command("/usr/bin/git").args(words));
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        fs::rename(world.project.path("own"), world.project.path("one/own")).unwrap();
        world.write("one/.git", "gitdir: own\n");
        let told = run(
            &world,
            "git add script.sh && git commit -qm works && git log --oneline | wc -l\n\
             echo x >> own/config; echo x > own/hooks/pre-commit; echo x > own/commondir\n\
             echo 'gitdir: ../evil' > .git; mv .git other; true\n",
        );
        assert_eq!(told["stdout"], "1\n", "{told}");
        let lines = told["stderr"].as_str().unwrap().lines().filter(|line| line.contains("own/"));
        assert!(lines.count() >= 2, "{told}");
        assert_eq!(fs::read_to_string(world.project.path("one/.git")).unwrap(), "gitdir: own\n");
        assert!(!world.project.path("one/own/hooks/pre-commit").exists(), "{told}");
        assert!(!world.project.path("one/own/commondir").exists(), "{told}");
        let config = fs::read_to_string(world.project.path("one/own/config")).unwrap();
        assert!(!config.contains('x'), "{config}");
    });
}

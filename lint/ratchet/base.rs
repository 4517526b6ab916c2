//! The commit that a branch started from: what its baseline may not exceed.
//!
//! Servers that build pull requests say in variables what is to be merged into what. Whatever they say, the base is the last commit
//! that it has in common with what is checked out: against the tip of a branch, whatever has been mended there since would look
//! like a raise here.

use std::{fs, path::Path};

use anyhow::{Result, anyhow, bail};

use super::git::{Git, short};

/// `--base` without a revision.
pub(crate) const AUTO: &str = "auto";

/// A commit, and how to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) commit: String,
    pub(crate) shown: String,
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Branch,
    Commit,
}

/// Where servers say what a pull request is to be merged into, and then what was there before a push. The first that is set counts.
const VARIABLES: [(&str, Names); 22] = [
    // GitHub, Gitea, Forgejo
    ("GITHUB_BASE_REF", Names::Branch),
    // GitLab: a merged result, a merge request
    ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", Names::Commit),
    ("CI_MERGE_REQUEST_DIFF_BASE_SHA", Names::Commit),
    ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", Names::Branch),
    // Bitbucket
    ("BITBUCKET_PR_DESTINATION_COMMIT", Names::Commit),
    ("BITBUCKET_PR_DESTINATION_BRANCH", Names::Branch),
    // Azure Pipelines
    ("SYSTEM_PULLREQUEST_TARGETBRANCH", Names::Branch),
    // Buildkite
    ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", Names::Branch),
    // Jenkins
    ("CHANGE_TARGET", Names::Branch),
    // Cirrus
    ("CIRRUS_BASE_SHA", Names::Commit),
    ("CIRRUS_BASE_BRANCH", Names::Branch),
    // Prow, Tekton
    ("PULL_BASE_SHA", Names::Commit),
    // Woodpecker, Drone
    ("CI_COMMIT_TARGET_BRANCH", Names::Branch),
    ("DRONE_TARGET_BRANCH", Names::Branch),
    // Travis, AppVeyor, Semaphore: the target of a pull request, or else the branch itself
    ("TRAVIS_BRANCH", Names::Branch),
    ("APPVEYOR_REPO_BRANCH", Names::Branch),
    ("SEMAPHORE_GIT_BRANCH", Names::Branch),
    // A push: GitLab, Woodpecker, Drone, Bamboo, TeamCity
    ("CI_COMMIT_BEFORE_SHA", Names::Commit),
    ("CI_PREV_COMMIT_SHA", Names::Commit),
    ("DRONE_COMMIT_BEFORE", Names::Commit),
    ("bamboo_planRepository_previousRevision", Names::Commit),
    ("BUILD_VCS_NUMBER_PREVIOUS", Names::Commit),
];

const DEEPER: &str = "fetch more of the history (`git fetch --unshallow`; on GitHub `fetch-depth: 0`, on GitLab `GIT_DEPTH: \"0\"`)";

/// Looks up variables.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Finds the base that `--base` means.
///
/// # Errors
///
/// When it cannot be told or is not here, with what to fetch. To go on without it would be to let everything pass.
pub(crate) fn find(git: &Git, asked: &str, env: Env<'_>) -> Result<Base> {
    let head = git.commit("HEAD")?.ok_or_else(|| anyhow!("there is no commit yet to start from"))?;
    let (name, rev) = named(git, asked, env)?;
    let is_target = || branch(&env("GITHUB_BASE_REF").unwrap_or_default()) == branch(asked);
    if (asked == AUTO || is_target())
        && let Some(base) = of_merge(git, &head, rev.is_some(), env)?
    {
        return Ok(base);
    }
    let Some(rev) = rev else {
        if Path::new(&name).exists() {
            bail!("`{name}` is a path and no revision; paths stand before `--base`");
        }
        bail!("the base `{name}` is not in this clone; {DEEPER}, or fetch it by name")
    };
    let Some(mut commit) = git.merge_base(&rev, &head)? else {
        if git.is_shallow()? {
            bail!("the base of `{name}` and HEAD is not in this shallow clone; {DEEPER}");
        }
        bail!("`{name}` and HEAD have no commit in common");
    };
    // On the branch itself, what was pushed last is all that there is to look at.
    if commit == head && env("CI").is_some_and(|value| !value.is_empty()) {
        match git.parents(&head)?.into_iter().next() {
            Some(parent) => commit = here(git, &parent)?,
            None => return Ok(Base { shown: short(&head).to_owned(), commit: head }),
        }
    }
    Ok(Base { shown: format!("{} ({name})", short(&commit)), commit })
}

/// What is to be compared with, by name and as a commit if it is here.
fn named(git: &Git, asked: &str, env: Env<'_>) -> Result<(String, Option<String>)> {
    if asked != AUTO {
        let rev = match git.commit(asked)? {
            None => git.commit(&format!("refs/remotes/origin/{asked}"))?,
            found => found,
        };
        return Ok((asked.to_owned(), rev));
    }
    let is_set = |value: &String| !value.is_empty() && !value.bytes().all(|byte| byte == b'0');
    let variables = VARIABLES.iter().find_map(|(key, names)| Some((env(key).filter(is_set)?, *names)));
    let event = || pushed(env).filter(is_set).map(|commit| (commit, Names::Commit));
    match variables.or_else(event) {
        Some((value, Names::Commit)) => {
            let rev = git.commit(&value)?;
            Ok((short(&value).to_owned(), rev))
        }
        Some((value, Names::Branch)) => {
            let branch = branch(&value);
            let rev = match git.commit(&format!("refs/remotes/origin/{branch}"))? {
                None => git.commit(&format!("refs/heads/{branch}"))?,
                found => found,
            };
            Ok((branch.to_owned(), rev))
        }
        None => default_branch(git),
    }
}

/// A branch without what servers put before its name.
fn branch(name: &str) -> &str {
    let name = name.strip_prefix("refs/heads/").unwrap_or(name);
    let name = name.strip_prefix("refs/remotes/").unwrap_or(name);
    name.strip_prefix("origin/").unwrap_or(name)
}

/// The commit before a push, or the base of a queued merge, from the file in which GitHub describes what has happened.
fn pushed(env: Env<'_>) -> Option<String> {
    let event: serde_json::Value = serde_json::from_slice(&fs::read(env("GITHUB_EVENT_PATH")?).ok()?).ok()?;
    let places = ["/merge_group/base_sha", "/before"];
    places.iter().find_map(|place| event.pointer(place)?.as_str()).map(str::to_owned)
}

/// The branch that the remote calls its default one, whatever its name.
fn default_branch(git: &Git) -> Result<(String, Option<String>)> {
    let head = git.ask(&["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"])?;
    let Some(head) = head.filter(|head| !head.is_empty()) else {
        bail!(
            "cannot tell the base of this branch; name it: `--base REV`, or `git remote set-head origin --auto`"
        );
    };
    let name = head.strip_prefix("refs/remotes/").unwrap_or(&head).to_owned();
    match git.commit(&head)? {
        Some(rev) => Ok((name, Some(rev))),
        None => bail!(
            "the default branch `{name}` is gone; `git remote set-head origin --auto` looks up the new one"
        ),
    }
}

/// The first parent, where what is checked out is the merge that a server has made to try a pull request.
fn of_merge(git: &Git, head: &str, has_target: bool, env: Env<'_>) -> Result<Option<Base>> {
    let Some(target) = env("GITHUB_BASE_REF").filter(|target| !target.is_empty()) else { return Ok(None) };
    // A merge that the branch itself ends with is another one.
    let is_made = env("GITHUB_SHA").is_none_or(|made| made == head);
    let is_ref = env("GITHUB_REF").is_none_or(|name| name.ends_with("/merge"));
    let is_detached = git.ask(&["symbolic-ref", "--quiet", "HEAD"])?.is_none();
    let told = env("GITHUB_REF").is_some() && env("GITHUB_SHA").is_some();
    if !(is_made && is_ref && is_detached && (told || !has_target)) {
        return Ok(None);
    }
    let parents = git.parents(head)?;
    let [first, _] = parents.as_slice() else { return Ok(None) };
    let commit = here(git, first)?;
    Ok(Some(Base { shown: format!("{} ({})", short(&commit), branch(&target)), commit }))
}

/// A parent, which may be cut off.
fn here(git: &Git, parent: &str) -> Result<String> {
    git.commit(parent)?.ok_or_else(|| {
        anyhow!(
            "the commit before this one is not in this shallow clone; fetch two commits \
             (`git fetch --depth=2`; on GitHub `fetch-depth: 2`, on GitLab `GIT_DEPTH: \"2\"`)"
        )
    })
}

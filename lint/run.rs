//! One analysis: the texts of a workspace to its watches and findings, package by package.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use rayon::prelude::*;
use rideout_rules::{
    Levels,
    catalog::Crate,
    model::{Finding, Location, Watch},
};

use crate::{
    analysis::{Analysis, FileText, Invalid, Unread},
    facts::{FileInput, Known, Program},
    ratchet::{self, Comments, fingerprint},
    syntax::{self, Interest, tree},
    watches,
    workspace::{self, Active, Modules, Needles, Sought, Standing, Workspace},
};

/// How often the callers of derived functions are searched for.
const ROUNDS: usize = 8;

/// Analyses every file of the workspace in which a source shows, and those that call what is found there.
pub(crate) fn analyse(workspace: &Workspace) -> Analysis {
    let catalog = &*workspace.catalog;
    let active: Vec<Active<'_>> =
        workspace.packages.par_iter().map(|package| workspace::active(package, catalog)).collect();
    let Groups { of_packages: groups, aborting } = groups(workspace);
    let mut members: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (package, group) in groups.iter().enumerate() {
        members.entry(*group).or_default().insert(package);
    }
    let relevant = relevant(workspace, &members);
    members.values_mut().for_each(|packages| packages.retain(|package| relevant.contains(package)));
    let (texts, mut unread) = workspace::texts(workspace, catalog, &active, &relevant);
    let modules = Modules::new(&workspace.packages);
    unread.retain(|file| !is_orphan(workspace, &modules, &file.path));
    // A file that belongs to no package is a program of its own.
    let mut programs: BTreeMap<(usize, usize), Texts> = BTreeMap::new();
    for (index, text) in texts {
        let package = workspace.files[index].package;
        let alone = if workspace.packages[package].dependencies.is_none() { index } else { 0 };
        programs.entry((groups[package], alone)).or_default().push((index, text));
    }
    let known = workspace.packages.iter().map(|_| OnceLock::new()).collect();
    let bodies = Needles::of_bodies(catalog, &active, watches::ASKING);
    let context = Context { workspace, catalog, active, bodies, members, aborting, modules: &modules, known };
    // The largest first: one that is begun last is waited for alone.
    let mut programs: Vec<_> = programs.into_iter().collect();
    programs.sort_by_key(|(_, texts)| Reverse(texts.iter().map(|(_, text)| text.len()).sum::<usize>()));
    let mut parts: Vec<((usize, usize), Part)> = programs
        .into_par_iter()
        .with_max_len(1)
        .map(|(place, texts)| (place, context.program(place.0, texts)))
        .collect();
    parts.sort_by_key(|(place, _)| *place);
    let mut analysis = Analysis { unread, ..Analysis::default() };
    for (_, part) in parts {
        analysis.add(part);
    }
    for findings in [&mut analysis.findings, &mut analysis.elsewhere] {
        findings.sort_by_key(|(finding, _)| (finding.primary, finding.rule));
        findings.dedup_by_key(|(finding, _)| (finding.primary, finding.rule));
    }
    analysis.unread.sort_by(|left, right| (&left.path, left.line).cmp(&(&right.path, right.line)));
    ratchet::suppress(&mut analysis);
    analysis
}

/// Packages that are analysed together.
struct Groups {
    of_packages: Vec<usize>,
    /// Those whose panics abort the process.
    aborting: BTreeSet<usize>,
}

/// The group of each package: those below one workspace manifest are analysed together.
fn groups(workspace: &Workspace) -> Groups {
    // Of each folder: whether a workspace is there, and whether its panics abort.
    let mut manifests: HashMap<PathBuf, (bool, bool)> = HashMap::new();
    let mut ids: HashMap<PathBuf, usize> = HashMap::new();
    let mut groups = Groups { of_packages: Vec::new(), aborting: BTreeSet::new() };
    for package in &workspace.packages {
        let mut read = |dir: &Path| {
            *manifests.entry(dir.to_owned()).or_insert_with(|| {
                let text = std::fs::read_to_string(dir.join("Cargo.toml")).unwrap_or_default();
                (is_workspace(&text), workspace::panic_aborts(&text))
            })
        };
        let root = package.dir.ancestors().find(|dir| read(dir).0).unwrap_or(&package.dir);
        let next = ids.len();
        let group = *ids.entry(root.to_owned()).or_insert_with(|| {
            if read(root).1 {
                groups.aborting.insert(next);
            }
            next
        });
        groups.of_packages.push(group);
    }
    groups
}

/// The packages that can make a difference to a file that is reported.
fn relevant(workspace: &Workspace, members: &BTreeMap<usize, BTreeSet<usize>>) -> BTreeSet<usize> {
    let reported: BTreeSet<usize> =
        workspace.files.iter().filter(|file| file.reported).map(|file| file.package).collect();
    let in_group = |packages: &BTreeSet<usize>| -> Vec<usize> {
        if packages.is_subset(&reported) {
            return packages.iter().copied().collect();
        }
        let reach = workspace::Reach::new(&workspace.packages, packages);
        packages.iter().copied().filter(|package| reach.matters(*package, &reported)).collect()
    };
    members.values().flat_map(in_group).collect()
}

/// Whether a manifest has a `[workspace]` table, or one below it.
fn is_workspace(manifest: &str) -> bool {
    manifest.lines().any(|line| line.trim_start().starts_with("[workspace"))
}

/// Whether a file is part of no crate: nothing declares it as a module, or it is a template or the like below a package.
fn is_orphan(workspace: &Workspace, modules: &Modules, rel: &str) -> bool {
    workspace.files.iter().find(|file| file.rel == rel).is_some_and(|file| {
        let package = &workspace.packages[file.package];
        let below_manifest = || package.dir.join("Cargo.toml").is_file();
        let declared = || package.of_targets && modules.standing(&file.path) != Standing::Orphan;
        !file.asked && !declared() && below_manifest()
    })
}

/// What one program gives. Locations count from its own first file.
#[derive(Default)]
struct Part {
    files: Vec<(FileText, bool)>,
    watches: Vec<Watch>,
    unread: Vec<Unread>,
    /// The levels that hold for its files.
    levels: Levels,
    comments: Comments,
}

impl Part {
    fn code(&self, location: Location) -> &str {
        let text = self.files.get(location.file as usize).map_or("", |(file, _)| &file.text);
        text.get(location.start as usize..location.end as usize).unwrap_or_default()
    }
}

struct Context<'a> {
    workspace: &'a Workspace,
    catalog: &'a [Crate],
    /// The entries that hold for each package.
    active: Vec<Active<'a>>,
    /// What a function's body must hold to be parsed with its file.
    bodies: Needles,
    /// The packages of each group.
    members: BTreeMap<usize, BTreeSet<usize>>,
    /// The groups whose panics abort the process.
    aborting: BTreeSet<usize>,
    modules: &'a Modules,
    /// The active catalog of each package, made when it is first asked for.
    known: Vec<OnceLock<Arc<Known<'a>>>>,
}

/// Texts with the index of their file in the workspace.
type Texts = Vec<(usize, Arc<str>)>;

/// A text with its tree, or why there is none.
type Parsed = (usize, Arc<str>, Result<tree::File, syntax::Rejected>);

impl<'a> Context<'a> {
    fn program(&self, group: usize, texts: Texts) -> Part {
        // A file that belongs to no package has no callers in other files.
        let alone = texts.iter().all(|(index, _)| !self.in_package(self.workspace.files[*index].package));
        let packages: BTreeSet<usize> = self.members[&group]
            .iter()
            .copied()
            .filter(|package| !alone && self.in_package(*package))
            .collect();
        let mut part = Part { levels: self.levels(&texts), ..Part::default() };
        let name = |package: &usize| self.workspace.packages[*package].crate_name();
        let mut program = Program::default();
        program.members = packages.iter().map(name).collect();
        program.foreign = self.foreign(&packages);
        program.panic_aborts = self.aborting.contains(&group);
        let mut have: HashSet<usize> = HashSet::new();
        let (mut used, mut defined) = (BTreeSet::new(), BTreeSet::new());
        // Also of a file that belongs to no package.
        let homes: BTreeSet<usize> = texts
            .iter()
            .map(|(index, _)| self.workspace.files[*index].package)
            .chain(packages.iter().copied())
            .collect();
        let mut texts = texts;
        let mut sought = Sought::default();
        for round in 0..=ROUNDS {
            have.extend(texts.iter().map(|(index, _)| *index));
            for parsed in self.parse(texts, &sought) {
                self.add(parsed, &mut program, &mut part);
            }
            let survey = watches::Survey::new(&program);
            let mut new = survey.wanted();
            new.used.retain(|name| used.insert(name.clone()));
            new.defined.retain(|name| defined.insert(name.clone()));
            let last = (new.used.is_empty() && new.defined.is_empty()) || round == ROUNDS;
            let next = Sought::new(self.workspace, &homes, &new.used, &new.defined);
            let woken = if last { 0 } else { program.wake(&|package, body| next.is_used(package, body)) };
            texts = if last || packages.is_empty() {
                Vec::new()
            } else {
                workspace::related(self.workspace, &next, &have)
            };
            if woken == 0 && texts.is_empty() {
                part.watches = survey.watches();
                break;
            }
            sought = Sought::new(self.workspace, &homes, &used, &defined);
        }
        part
    }

    /// The names in code of what some packages depend on, but for themselves.
    fn foreign(&self, packages: &BTreeSet<usize>) -> HashSet<String> {
        let own: HashSet<&str> =
            packages.iter().map(|package| self.workspace.packages[*package].name.as_str()).collect();
        let dependencies = |package: &usize| self.workspace.packages[*package].dependencies.iter().flatten();
        packages
            .iter()
            .flat_map(dependencies)
            .filter(|(name, _)| !own.contains(name.as_str()))
            .map(|(name, _)| name.replace('-', "_"))
            .collect()
    }

    fn in_package(&self, package: usize) -> bool {
        self.workspace.packages[package].dependencies.is_some()
    }

    /// The levels of rules for a program: its packages are those of one workspace.
    fn levels(&self, texts: &Texts) -> Levels {
        let package = texts.first().map(|(index, _)| self.workspace.files[*index].package);
        package.map_or_else(Levels::default, |package| self.workspace.packages[package].config.levels.clone())
    }

    /// The active catalog of a package.
    fn known(&self, package: usize) -> Arc<Known<'a>> {
        let make = || {
            let active = &self.active[package];
            let here = self.workspace.packages[package].crate_name();
            Arc::new(Known::new(self.catalog, |index| active.get(&index).cloned(), &here))
        };
        Arc::clone(self.known[package].get_or_init(make))
    }

    fn parse(&self, texts: Texts, sought: &Sought) -> Vec<Parsed> {
        texts
            .into_par_iter()
            .filter(|(index, _)| {
                let file = &self.workspace.files[*index];
                file.asked
                    || match self.modules.standing(&file.path) {
                        Standing::Module => true,
                        Standing::Test => self.workspace.tests,
                        Standing::Orphan => !self.in_package(file.package),
                    }
            })
            .map(|(index, text)| {
                let package = self.workspace.files[index].package;
                let active = &self.active[package];
                let interest = Interest {
                    wanted: &|body| self.bodies.hit(body, active) || sought.is_used(package, body),
                    common: &watches::is_common,
                };
                let tree = syntax::parse(&text, &interest);
                (index, text, tree)
            })
            .collect()
    }

    /// Puts a parsed file into the program, or notes that it could not be parsed.
    fn add(&self, (index, text, tree): Parsed, program: &mut Program<'a>, part: &mut Part) {
        let file = &self.workspace.files[index];
        let at = u32::try_from(part.files.len()).unwrap_or(u32::MAX);
        part.files.push((FileText { path: file.rel.clone(), text: Arc::clone(&text) }, file.reported));
        match tree {
            Ok(tree) => {
                if file.reported {
                    part.comments.read(at, &text, &tree);
                }
                let place = self.workspace.packages[file.package].module(&file.path);
                program.add(FileInput {
                    tree,
                    module: place.module,
                    root: place.root,
                    known: self.known(file.package),
                    package: file.package,
                    crate_name: self.workspace.packages[file.package].crate_name(),
                    path: file.rel.clone(),
                    index: at,
                    text,
                });
            }
            Err(rejected) if file.reported && !is_orphan(self.workspace, self.modules, &file.rel) => {
                part.unread.push(Unread {
                    path: file.rel.clone(),
                    reason: rejected.reason,
                    line: rejected.line,
                });
            }
            Err(_) => {}
        }
    }
}

impl Analysis {
    fn add(&mut self, part: Part) {
        let base = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let reported = |location: Location| {
            part.files.get(location.file as usize).is_some_and(|(_, reported)| *reported)
        };
        for watch in &part.watches {
            let mut moved = watch.clone();
            move_watch(&mut moved, base);
            for finding in rideout_rules::judge(watch, &part.levels) {
                let print = fingerprint(&[part.code(finding.consumer), part.code(watch.poll)]);
                let list = if reported(finding.primary) { &mut self.findings } else { &mut self.elsewhere };
                list.push((move_finding(finding, base), print));
            }
            if reported(watch.consumer) {
                self.watches.push(moved);
            }
        }
        self.unread.extend(part.unread);
        for mut suppression in part.comments.suppressions {
            suppression.location = moved(suppression.location, base);
            suppression.covers.iter_mut().for_each(|code| *code = moved(*code, base));
            self.suppressions.push(suppression);
        }
        for invalid in part.comments.invalid {
            self.invalid.push(Invalid { location: moved(invalid.location, base), ..invalid });
        }
        self.files.extend(part.files.into_iter().map(|(file, _)| file));
    }
}

fn moved(location: Location, base: u32) -> Location {
    Location { file: location.file + base, ..location }
}

fn move_watch(watch: &mut Watch, base: u32) {
    watch.opener = watch.opener.map(|location| moved(location, base));
    watch.consumer = moved(watch.consumer, base);
    watch.poll = moved(watch.poll, base);
    for fault in &mut watch.faults {
        fault.consumer = moved(fault.consumer, base);
        if let Some(arm) = &mut fault.arm {
            arm.location = moved(arm.location, base);
        }
        fault.path.iter_mut().for_each(|step| step.location = moved(step.location, base));
    }
}

fn move_finding(mut finding: Finding, base: u32) -> Finding {
    finding.primary = moved(finding.primary, base);
    finding.opener = finding.opener.map(|location| moved(location, base));
    finding.consumer = moved(finding.consumer, base);
    finding.path.iter_mut().for_each(|step| step.location = moved(step.location, base));
    let edits = finding.suggestion.iter_mut().flat_map(|suggestion| &mut suggestion.edits);
    edits.for_each(|edit| edit.location = moved(edit.location, base));
    finding
}

#[cfg(test)]
mod tests {
    use super::is_workspace;

    #[test]
    fn a_comment_makes_no_workspace() {
        assert!(is_workspace("[package]\nname = \"a\"\n\n[workspace.dependencies]\n"));
        assert!(!is_workspace("[package]\nname = \"a\" # see [workspace.dependencies]\n"));
    }
}

//! One analysis: the texts of a workspace to its watches and findings, package by package.

use std::{collections::BTreeMap, sync::Arc};

use rayon::prelude::*;
use rideout_rules::{
    catalog::{self, Crate},
    model::{Finding, Location, Watch},
};

use crate::{
    analysis::{Analysis, FileText, Unread},
    facts::{FileInput, Known, Program},
    ratchet::fingerprint,
    syntax, watches,
    workspace::{self, Workspace},
};

/// Analyses every file of the workspace in which a source shows.
pub(crate) fn analyse(workspace: &Workspace) -> Analysis {
    let catalog = catalog::builtin();
    let (texts, unread) = workspace::texts(workspace, catalog);
    // A file that belongs to no package is a program of its own.
    let mut programs: BTreeMap<(usize, usize), Vec<(usize, Arc<str>)>> = BTreeMap::new();
    for (index, text) in texts {
        let package = workspace.files[index].package;
        let alone = if workspace.packages[package].dependencies.is_none() { index } else { 0 };
        programs.entry((package, alone)).or_default().push((index, text));
    }
    let parts: Vec<Part> = programs
        .into_par_iter()
        .map(|((package, _), texts)| analyse_package(workspace, catalog, package, &texts))
        .collect();
    let mut analysis = Analysis { unread, ..Analysis::default() };
    for part in parts {
        analysis.add(part);
    }
    analysis.findings.sort_by_key(|(finding, _)| (finding.primary, finding.rule));
    analysis.unread.sort_by(|left, right| (&left.path, left.line).cmp(&(&right.path, right.line)));
    analysis
}

/// What one package gives. Locations count from its own first file.
struct Part {
    files: Vec<(FileText, bool)>,
    watches: Vec<Watch>,
    unread: Vec<Unread>,
}

fn analyse_package(workspace: &Workspace, catalog: &[Crate], package: usize, texts: &[(usize, Arc<str>)]) -> Part {
    let active = workspace::active(&workspace.packages[package], catalog);
    let holds = |entry: &Crate, id: &str| {
        active.iter().any(|active| active.entry.package == entry.package && active.sources.iter().any(|source| source.id == id))
    };
    let known =
        Arc::new(Known::new(active.iter().map(|active| active.entry), |entry, source| holds(entry, &source.id)));
    let parsed: Vec<_> = texts.par_iter().map(|(_, text)| syntax::parse(text)).collect();
    let mut part = Part { files: Vec::new(), watches: Vec::new(), unread: Vec::new() };
    let mut inputs = Vec::new();
    for ((index, text), parsed) in texts.iter().zip(parsed) {
        let file = &workspace.files[*index];
        match parsed {
            Ok(tree) => {
                let index = u32::try_from(part.files.len()).unwrap_or(u32::MAX);
                inputs.push(FileInput { tree, known: Arc::clone(&known), package, index, text: Arc::clone(text) });
                part.files.push((FileText { path: file.rel.clone(), text: Arc::clone(text) }, file.reported));
            }
            Err(rejected) if file.reported => {
                part.files.push((FileText { path: file.rel.clone(), text: Arc::clone(text) }, true));
                part.unread.push(Unread { path: file.rel.clone(), reason: rejected.reason, line: rejected.line });
            }
            Err(_) => {}
        }
    }
    part.watches = watches::find(&Program::new(inputs));
    part
}

impl Analysis {
    fn add(&mut self, part: Part) {
        let base = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let reported = |location: Location| part.files.get(location.file as usize).is_some_and(|(_, reported)| *reported);
        for watch in &part.watches {
            let mut moved = watch.clone();
            move_watch(&mut moved, base);
            for finding in rideout_rules::judge(watch) {
                if reported(finding.primary) {
                    let code = part.files[finding.primary.file as usize].0.text
                        .get(finding.primary.start as usize..finding.primary.end as usize)
                        .unwrap_or_default();
                    let print = fingerprint(code);
                    self.findings.push((move_finding(finding, base), print));
                }
            }
            if reported(watch.consumer) {
                self.watches.push(moved);
            }
        }
        self.unread.extend(part.unread);
        self.files.extend(part.files.into_iter().map(|(file, _)| file));
        self.findings.dedup_by(|left, right| left.0.primary == right.0.primary && left.0.rule == right.0.rule);
    }
}

fn moved(location: Location, base: u32) -> Location {
    Location { file: location.file + base, ..location }
}

fn move_watch(watch: &mut Watch, base: u32) {
    watch.opener = watch.opener.map(|location| moved(location, base));
    watch.consumer = moved(watch.consumer, base);
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
    finding
}

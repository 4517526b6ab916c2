//! Calls that lead out of the workspace: what their names and arguments say.

use rideout_rules::{catalog::Meaning, model::Outcome};

use super::{
    state::State,
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::flow::graph::{Callee, Graph, Op, Place, Value};

impl Walk<'_, '_, '_> {
    /// A call that leads out of the workspace.
    pub(super) fn unknown(
        &self,
        state: &mut State,
        op: &Op,
        name: &str,
        args: &[Place],
        values: &[Val],
        converts: bool,
    ) -> Flow {
        let function = state.frame().function;
        let known = self.infer.program.known(function);
        match known.hint(name) {
            Some(Meaning::Wait) => return self.sleep(state, op),
            Some(Meaning::Exit) => return self.exit(state, op, true),
            Some(Meaning::Send) if self.ordinary.is_some() => {}
            Some(Meaning::Send)
                if values.iter().skip(1).any(Val::carries) || self.fault_arm(state).is_some() =>
            {
                return Flow::Done(Verdict::new(Outcome::Forwards, state));
            }
            _ => {}
        }
        let named = |place: &Place| !place.fields.is_empty() || is_named(self.graph(function), place);
        if name.contains("disconnect") && args.get(1).is_some_and(named) && self.fault_arm(state).is_some() {
            // Whoever is named there sees it; options have no name.
            return Flow::Done(Verdict::new(Outcome::Forwards, state));
        }
        if name.starts_with("close") && values.iter().skip(1).any(Val::carries) {
            // The other side of what is closed gets the fault for a reason.
            return Flow::Done(Verdict::new(Outcome::Forwards, state));
        }
        if matches!(name, "remove" | "evict" | "invalidate" | "deregister" | "unregister") && !state.forked {
            state.released = true;
        }
        let marks = name == "store" && matches!(values.get(1), Some(Val::Bool(_)));
        if (marks || tells_health(name)) && !state.forked {
            state.marked = true;
        }
        if collects(name)
            && let Some(value) = values.get(1..).and_then(|given| given.iter().find(|value| is_task(value)))
        {
            self.collect(state, &args[0], value.clone());
            return self.finish_call(state, op, Val::Unknown);
        }
        // The watch's task goes where it cannot be seen.
        let task = values.iter().find(|value| {
            matches!(value, Val::Done(_) | Val::Returns(_) | Val::Running(_)) || value.handle().is_some()
        });
        if let Some(task) = task {
            if let Val::Returns(inner) = task
                && let Val::Done(ended) = &**inner
                && name == "map"
                && iterates(self.graph(function), &args[0])
            {
                state.pending_handle = true;
                return self.finish_call(state, op, Val::Set(ended.clone()));
            }
            if let Val::Returns(inner) = task
                && inner.handle().is_some()
                && matches!(name, "map" | "flat_map" | "filter_map" | "for_each")
            {
                // The closure runs for each item: what it gives is what the collection holds.
                let held = (**inner).clone();
                return self.finish_call(state, op, held);
            }
            if name == "abort" || name == "detach" || name == "forget" {
                return self.finish_call(state, op, Val::Unknown);
            }
            // A function out of view may call a closure as often as it likes.
            let closure = matches!(task, Val::Returns(_)) && !converts;
            if matches!(values.first(), Some(first) if first == task) && values.len() <= 2 && !closure {
                // A method of the task itself: an adapter of the future or the handle.
                let task = task.clone();
                return self.finish_call(state, op, task);
            }
            return Flow::Done(Verdict::new(Outcome::Unknown, state));
        }
        let given_away = values.iter().skip(usize::from(converts)).any(Val::is_fault);
        let wraps = matches!(
            name,
            "from"
                | "into"
                | "new"
                | "format"
                | "to_string"
                | "drop"
                | "boxed"
                | "anyhow"
                | "ready"
                | "once"
                | "type_name"
        );
        if given_away
            && !matches!(
                name,
                "drop" | "ready" | "once" | "from" | "new" | "format" | "eq" | "contains" | "matches"
            )
            && (converts || !wraps)
        {
            return Flow::Done(Verdict::new(Outcome::Forwards, state));
        }
        let carries = values.iter().any(Val::carries);
        // What the fault is put into tells of it.
        if converts
            && puts_into(name)
            && values.first() == Some(&Val::Unknown)
            && values.iter().skip(1).any(Val::carries)
        {
            state.set(&args[0], Val::Derived);
        }
        let ready = matches!(name, "ready" | "ok" | "err" | "some") && values.len() == 1;
        let value = match values {
            [only] if ready => only.clone(),
            _ if carries => Val::Derived,
            _ => Val::Unknown,
        };
        self.finish_call(state, op, value)
    }
}

/// Whether a value is a variable.
fn is_named(graph: &Graph, place: &Place) -> bool {
    graph.locals[place.local as usize].name.is_some()
}

/// Whether a method puts its argument into its receiver.
fn puts_into(name: &str) -> bool {
    ["set_", "push", "insert", "add_", "append", "extend"].iter().any(|start| name.starts_with(start))
}

/// Whether a method of this name tells how the component is, to whoever probes it: `set_not_serving`, `mark_unhealthy`.
fn tells_health(name: &str) -> bool {
    let mut words = name.split('_');
    let tells = matches!(words.next(), Some("mark" | "report" | "set" | "update"));
    let health =
        |word| matches!(word, "degraded" | "health" | "healthy" | "serving" | "unhealthy" | "unready");
    tells && (words.any(health) || name.ends_with("service_status") || name.ends_with("not_ready"))
}

fn collects(name: &str) -> bool {
    matches!(name, "push" | "push_back" | "insert" | "extend" | "replace" | "add")
}

/// Whether a value is the watch's task in any form.
fn is_task(value: &Val) -> bool {
    matches!(value, Val::Done(_) | Val::Returns(_) | Val::Future(..) | Val::Body(..)) || value.holds_task()
}

/// Whether a call gives an iterator over what is there already.
fn iterates(graph: &Graph, place: &Place) -> bool {
    graph.blocks.iter().flat_map(|block| &block.ops).any(|op| {
        op.to == *place
            && matches!(&op.value, Value::Call { callee: Callee::Method { name, .. }, .. }
                if matches!(name.as_str(), "iter" | "into_iter" | "iter_mut" | "drain" | "cloned" | "copied" | "enumerate" | "zip" | "chain" | "values" | "keys"))
    })
}

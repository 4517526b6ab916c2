//! The arms of the code that a fault enters, and what they do about it: log, single out a transient fault, leave.

use rideout_rules::model::Arm;

use super::{
    state::{Phase, State},
    walk::Walk,
};
use crate::{
    facts::FnId,
    flow::graph::{ArmId, BlockId},
    syntax::tree::Type,
};

impl Walk<'_, '_, '_> {
    /// Goes on at a block: into an arm, if the fault was just tested into it.
    pub(super) fn enter(&self, state: &mut State, block: BlockId) {
        let function = state.frame().function;
        let graph = self.graph(function);
        let before = graph.blocks[state.frame().block as usize].arm;
        let after = graph.blocks[block as usize].arm;
        if state.tested && after != before && !state.healed {
            if let Some(arm) = after {
                self.enter_arm(state, function, arm);
            }
            state.tested = false;
        }
        let frame = state.frame_mut();
        frame.block = block;
        frame.op = 0;
    }

    /// The fault arrives in an arm. Those of a function that only classifies it are none.
    pub(super) fn enter_arm(&self, state: &mut State, function: FnId, arm: ArmId) {
        if state.frames.len() > 1 && self.is_predicate(function) {
            return;
        }
        if !state.arms.contains(&(function, arm)) {
            state.arms.push((function, arm));
        }
        let location = self.location(function, self.graph(function).arms[arm as usize].span);
        state.step(location, "the fault arrives here");
        if let Some(transient) = state.singles.take() {
            state.arm = Some(Arm { location, logs: false, transient: Some(transient) });
            state.arm_item = Some(function);
        }
    }

    fn is_predicate(&self, function: FnId) -> bool {
        let output = self.infer.program.functions[function].output.as_ref();
        matches!(output, Some(Type::Path(path)) if path.single() == Some("bool"))
    }

    /// The innermost arm around the current block that the fault entered.
    pub(super) fn fault_arm(&self, state: &State) -> Option<(FnId, ArmId)> {
        for frame in state.frames.iter().rev() {
            let graph = self.graph(frame.function);
            let mut arm = graph.blocks[frame.block as usize].arm;
            while let Some(id) = arm {
                if state.arms.contains(&(frame.function, id)) {
                    return Some((frame.function, id));
                }
                arm = graph.arms[id as usize].parent;
            }
        }
        None
    }

    /// Whether an error that is made here tells of the fault: in its arm, or on its way with no branch for another reason behind it.
    pub(super) fn is_told(&self, state: &State) -> bool {
        self.fault_arm(state).is_some()
            || (self.ordinary.is_none() && !state.forked && matches!(state.phase, Phase::Polled(_)))
    }

    /// The arm that the fault is in logs.
    pub(super) fn log(&self, state: &mut State) {
        if state.bound.is_some() {
            state.said = true;
        }
        if state.healed {
            return;
        }
        let Some((function, arm)) = self.fault_arm(state) else { return };
        let location = self.location(function, self.graph(function).arms[arm as usize].span);
        match &mut state.arm {
            None => {
                state.arm = Some(Arm { location, logs: true, transient: None });
                state.arm_item = Some(function);
            }
            Some(known) if known.location == location => known.logs = true,
            Some(_) => {}
        }
    }

    /// Remembers that the path leaves from inside the arm that singled out the transient fault.
    pub(super) fn note_leaving(&self, state: &mut State) {
        let inside = self
            .fault_arm(state)
            .map(|(function, arm)| self.location(function, self.graph(function).arms[arm as usize].span));
        let transient = state.arm.as_ref().filter(|arm| arm.transient.is_some()).map(|arm| arm.location);
        state.left |= transient.is_some() && inside == transient;
    }
}

//! From tree to graph.

mod conditions;
mod counters;
mod exprs;
mod loops;
mod macros;
mod pats;
pub(super) mod pins;

use std::collections::HashMap;

use super::graph::{
    Arm, ArmId, Block, BlockId, Body, BodyId, BodyKind, End, Graph, Local, LocalId, Loop, LoopId, Op, Place,
    Value,
};
use crate::syntax::tree::{self, Function, Receiver, Span, Type};

/// Lowers a function. A function without body gives an empty graph with its parameters.
pub(crate) fn lower(function: &Function) -> Graph {
    let pinned = function.receiver == Receiver::Pinned;
    let mut lowering = Lowering { pinned, ..Lowering::default() };
    lowering.scopes.push(HashMap::new());
    let kind = BodyKind::Function { is_async: function.is_async };
    let outer = lowering.open_body(kind, function.output.clone(), function.span);
    for param in &function.params {
        let local = lowering.new_local(None, Some(param.ty.clone()));
        lowering.graph.bodies[0].params.push(local);
        let place = Place::local(local);
        lowering.bind_irrefutable(&param.pat, place, function.span);
    }
    let value = match &function.body {
        Some(body) => lowering.block(body),
        None => lowering.unit(function.span),
    };
    lowering.close_body(outer, value, function.span);
    lowering.graph
}

/// What `break` and `continue` refer to.
struct Target {
    label: Option<String>,
    /// Where `continue` goes; none for a labelled block.
    head: Option<BlockId>,
    exit: BlockId,
    result: Place,
}

/// What a nested body puts aside of the one around it.
struct Outer {
    body: BodyId,
    block: BlockId,
    within: Option<LoopId>,
    arm: Option<ArmId>,
    targets: Vec<Target>,
}

#[derive(Default)]
struct Lowering {
    graph: Graph,
    scopes: Vec<HashMap<String, LocalId>>,
    body: BodyId,
    block: BlockId,
    within: Option<LoopId>,
    arm: Option<ArmId>,
    targets: Vec<Target>,
    /// Inside the second or a later alternative of an or-pattern.
    in_alternative: bool,
    /// The function's `self` is behind a pin.
    pinned: bool,
}

impl Lowering {
    fn new_local(&mut self, name: Option<String>, ty: Option<Type>) -> LocalId {
        self.graph.locals.push(Local { name, ty, reads: 0, counts: false });
        index(self.graph.locals.len() - 1)
    }

    fn temp(&mut self) -> Place {
        Place::local(self.new_local(None, None))
    }

    fn declare(&mut self, name: &str, ty: Option<Type>) -> LocalId {
        let local = self.new_local(Some(name.to_owned()), ty);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), local);
        }
        local
    }

    fn resolve(&self, name: &str) -> Option<LocalId> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    fn new_block(&mut self) -> BlockId {
        self.graph.blocks.push(Block {
            ops: Vec::new(),
            end: End::Never,
            arm: self.arm,
            within: self.within,
            head_of: None,
            body: self.body,
        });
        index(self.graph.blocks.len() - 1)
    }

    /// Ends the current block and goes on in `next`.
    fn end(&mut self, end: End, next: BlockId) {
        self.graph.blocks[self.block as usize].end = end;
        self.block = next;
    }

    fn goto(&mut self, target: BlockId) {
        let dead = self.new_block();
        self.end(End::Goto(target), dead);
    }

    fn set(&mut self, to: Place, value: Value, span: Span) {
        self.count_reads(&value);
        self.graph.blocks[self.block as usize].ops.push(Op { to, value, span });
    }

    /// Puts a value into a new place.
    fn put(&mut self, value: Value, span: Span) -> Place {
        let to = self.temp();
        self.set(to.clone(), value, span);
        to
    }

    fn unit(&mut self, span: Span) -> Place {
        self.put(Value::Unit, span)
    }

    fn read(&mut self, place: &Place) {
        self.graph.locals[place.local as usize].reads += 1;
    }

    fn count_reads(&mut self, value: &Value) {
        match value {
            Value::Use(place)
            | Value::Await(place)
            | Value::Not(place)
            | Value::Yield(place)
            | Value::Ready(place) => self.read(place),
            Value::Call { args, .. }
            | Value::Tuple(args)
            | Value::Macro { args, .. }
            | Value::Opaque(args) => {
                args.iter().for_each(|place| self.read(place));
            }
            Value::Join { futures, .. } => futures.iter().for_each(|place| self.read(place)),
            Value::Struct { fields, rest, .. } => {
                fields.iter().map(|(_, place)| place).chain(rest).for_each(|place| self.read(place));
            }
            Value::Compare(_, left, right) | Value::Step(left, right) => {
                self.read(left);
                self.read(right);
            }
            _ => {}
        }
    }

    fn in_scope<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = lower(self);
        self.scopes.pop();
        result
    }

    /// Lowers with `arm` as the innermost arm. The current block must already belong to it.
    fn new_arm(&mut self, span: Span) -> ArmId {
        self.graph.arms.push(Arm { span, parent: self.arm });
        index(self.graph.arms.len() - 1)
    }

    fn in_arm<T>(&mut self, arm: ArmId, lower: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.arm.replace(arm);
        self.graph.blocks[self.block as usize].arm = Some(arm);
        let result = lower(self);
        self.arm = before;
        result
    }

    fn new_loop(&mut self, span: Span, bounded: bool) -> LoopId {
        self.graph.loops.push(Loop { span, parent: self.within, bounded, finite: false });
        index(self.graph.loops.len() - 1)
    }

    fn open_body(&mut self, kind: BodyKind, output: Option<Type>, span: Span) -> Outer {
        let outer = Outer {
            body: self.body,
            block: self.block,
            within: self.within.take(),
            arm: self.arm,
            targets: std::mem::take(&mut self.targets),
        };
        self.graph.bodies.push(Body { kind, params: Vec::new(), entry: 0, output, span, arm: None });
        self.body = index(self.graph.bodies.len() - 1);
        self.block = self.new_block();
        self.graph.bodies[self.body as usize].entry = self.block;
        outer
    }

    /// Returns `value` from the body at hand and goes back to the one around it.
    fn close_body(&mut self, outer: Outer, value: Place, _span: Span) -> BodyId {
        let done = self.body;
        self.read(&value);
        self.graph.blocks[self.block as usize].end = End::Return(value);
        self.body = outer.body;
        self.block = outer.block;
        self.within = outer.within;
        self.arm = outer.arm;
        self.targets = outer.targets;
        done
    }

    fn block(&mut self, block: &tree::Block) -> Place {
        self.in_scope(|this| this.statements(&block.statements, block.span))
    }

    fn statements(&mut self, statements: &[tree::Statement], span: Span) -> Place {
        let mut last = None;
        for statement in statements {
            last = None;
            match statement {
                tree::Statement::Let(node) => self.local(node),
                tree::Statement::Expr { expr, semi } => {
                    let value = self.expr(expr);
                    last = (!semi).then_some(value);
                }
                tree::Statement::Item(_) => {}
            }
        }
        last.unwrap_or_else(|| self.unit(span))
    }

    fn local(&mut self, node: &tree::Let) {
        let tree::Let { pat, ty, init, diverge, span } = node;
        let span = *span;
        let Some(init) = init else {
            if let tree::Pat::Bind { name, .. } = pat {
                self.declare(name, ty.clone());
            }
            return;
        };
        if let tree::Pat::Bind { name, sub: None } = pat
            && let Some(whole) = pins::whole(init, self.pinned).and_then(|name| self.resolve(name))
        {
            if let Some(scope) = self.scopes.last_mut() {
                scope.insert(name.clone(), whole);
            }
            return;
        }
        let mut value = self.expr(init);
        if let Some(ty) = ty {
            let typed = Place::local(self.new_local(None, Some(ty.clone())));
            self.set(typed.clone(), Value::Use(value), span);
            value = typed;
        }
        match diverge {
            None => self.bind_irrefutable(pat, value, span),
            Some(diverge) => self.let_else(pat, value, diverge),
        }
    }

    fn let_else(&mut self, pat: &tree::Pat, value: Place, diverge: &tree::Expr) {
        let arm = self.new_arm(Span { start: diverge.span.start, end: diverge.span.start + 1 });
        let yes = self.new_block();
        let no = self.new_block();
        self.read(&value);
        let before = self.block;
        self.block = no;
        self.in_arm(arm, |this| {
            this.in_scope(|this| {
                this.expr(diverge);
            });
        });
        // The test is set last, so that the pattern's names stay unknown to the branch that leaves.
        let pattern = self.pattern(pat);
        self.graph.blocks[before as usize].end = End::Test { value, pat: pattern, yes, no };
        self.block = yes;
    }
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

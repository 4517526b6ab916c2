//! The graph of one function and of the closures, `async` blocks and generators in it. They share its locals, as captures do.

use crate::syntax::tree::{Op as BinaryOp, Path, Span, Type};

pub(crate) type LocalId = u32;
pub(crate) type BlockId = u32;
pub(crate) type BodyId = u32;
pub(crate) type LoopId = u32;
pub(crate) type ArmId = u32;

#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub(crate) locals: Vec<Local>,
    /// The function's own body is the first.
    pub(crate) bodies: Vec<Body>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) arms: Vec<Arm>,
}

impl Graph {
    /// The parameter that a local was bound from, or the local itself.
    pub(crate) fn bound_from(&self, local: LocalId) -> LocalId {
        let ops = self.blocks.first().map_or(&[][..], |block| &block.ops);
        let bound = ops.iter().find_map(|op| match &op.value {
            Value::Use(from) if op.to == Place::local(local) && from.fields.is_empty() => Some(from.local),
            _ => None,
        });
        bound.unwrap_or(local)
    }

    /// The operation that made a value, seen through plain bindings.
    pub(crate) fn made_by(&self, place: &Place) -> Option<&Op> {
        let mut place = place;
        for _ in 0..4 {
            let op = self.blocks.iter().flat_map(|block| &block.ops).find(|op| op.to == *place)?;
            match &op.value {
                Value::Use(from) => place = from,
                _ => return Some(op),
            }
        }
        None
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub(crate) name: Option<String>,
    pub(crate) ty: Option<Type>,
    /// How often it is read.
    pub(crate) reads: u32,
    /// Whether it counts: `x += 1`, `x = x + 1`.
    pub(crate) counts: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) kind: BodyKind,
    pub(crate) params: Vec<LocalId>,
    pub(crate) entry: BlockId,
    pub(crate) output: Option<Type>,
    pub(crate) span: Span,
    /// The arm that a closure is, when a fault is handed to it.
    pub(crate) arm: Option<ArmId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Function { is_async: bool },
    Async,
    Closure { is_async: bool },
    Generator { fallible: bool },
}

#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) ops: Vec<Op>,
    pub(crate) end: End,
    /// The innermost arm around it.
    pub(crate) arm: Option<ArmId>,
    /// The innermost loop around it.
    pub(crate) within: Option<LoopId>,
    /// Set on the block to which a loop jumps back.
    pub(crate) head_of: Option<LoopId>,
    pub(crate) body: BodyId,
}

#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) span: Span,
    pub(crate) parent: Option<LoopId>,
    /// Whether its own bound ends it: `for _ in 0..5`.
    pub(crate) bounded: bool,
    /// Whether it is a `for` over something other than a range.
    pub(crate) finite: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub(crate) span: Span,
    pub(crate) parent: Option<ArmId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) to: Place,
    pub(crate) value: Value,
    pub(crate) span: Span,
}

/// A local and a path of fields in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) local: LocalId,
    pub(crate) fields: Vec<String>,
}

impl Place {
    pub(crate) fn local(local: LocalId) -> Self {
        Self { local, fields: Vec::new() }
    }

    pub(crate) fn field(&self, name: &str) -> Self {
        let mut fields = self.fields.clone();
        fields.push(name.to_owned());
        Self { local: self.local, fields }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Use(Place),
    Unit,
    Bool(bool),
    Int(String),
    Str(String),
    Path(Path),
    Call {
        callee: Callee,
        args: Vec<Place>,
        name_span: Span,
    },
    Await(Place),
    Struct {
        path: Path,
        fields: Vec<(String, Place)>,
        rest: Option<Place>,
    },
    Tuple(Vec<Place>),
    /// A closure, `async` block or generator.
    Body(BodyId),
    Not(Place),
    Compare(BinaryOp, Place, Place),
    /// `a += b`.
    Step(Place, Place),
    Range,
    /// A macro that is no code of its own; its arguments.
    Macro {
        path: Path,
        args: Vec<Place>,
    },
    Yield(Place),
    /// What `ready!` gives: the value in `Poll::Ready`.
    Ready(Place),
    Join {
        futures: Vec<Place>,
        fallible: bool,
    },
    Opaque(Vec<Place>),
    /// A future that a `select!` arm's condition keeps from being polled.
    Never,
    /// `return` or `break` stands here; for telling where a path leaves.
    Leave,
}

#[derive(Clone, Debug)]
pub(crate) enum Callee {
    Path(Path),
    Method { name: String, turbofish: Vec<Type> },
    Place(Place),
}

#[derive(Clone, Debug)]
pub(crate) enum End {
    Goto(BlockId),
    Branch {
        cond: Place,
        then: BlockId,
        otherwise: BlockId,
    },
    Test {
        value: Place,
        pat: Pattern,
        yes: BlockId,
        no: BlockId,
    },
    /// `value?`: `to` gets what is in `Ok` or `Some`, else the body returns.
    Try {
        value: Place,
        to: Place,
        next: BlockId,
        span: Span,
    },
    Select {
        arms: Vec<SelectArm>,
        otherwise: Option<BlockId>,
    },
    Return(Place),
    Panic,
    /// The compiler rules it out: no arm of a `match` fits, code after a `return`.
    Never,
}

#[derive(Clone, Debug)]
pub(crate) struct SelectArm {
    pub(crate) future: Place,
    pub(crate) got: Place,
    pub(crate) pat: Pattern,
    pub(crate) next: BlockId,
}

#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Wild,
    Rest,
    Bind(LocalId, Option<Box<Pattern>>),
    Path(Path),
    TupleStruct(Path, Vec<Pattern>),
    Struct(Path, Vec<(String, Pattern)>),
    Tuple(Vec<Pattern>),
    Or(Vec<Pattern>),
    Bool(bool),
    Int(String),
    Other(Vec<Pattern>),
}

impl Pattern {
    /// Whether every value matches.
    pub(crate) fn irrefutable(&self) -> bool {
        match self {
            Self::Wild | Self::Rest | Self::Bind(_, None) => true,
            Self::Bind(_, Some(sub)) => sub.irrefutable(),
            Self::Tuple(pats) => pats.iter().all(Self::irrefutable),
            Self::Or(pats) => pats.iter().any(Self::irrefutable),
            _ => false,
        }
    }

    /// Whether the pattern gives this local its value.
    pub(crate) fn binds(&self, wanted: LocalId) -> bool {
        let mut found = false;
        self.walk(&mut |pat| found |= matches!(pat, Self::Bind(local, _) if *local == wanted));
        found
    }

    /// Calls `visit` for this pattern and every one in it.
    pub(crate) fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Self)) {
        visit(self);
        match self {
            Self::Bind(_, Some(sub)) => sub.walk(visit),
            Self::TupleStruct(_, pats) | Self::Tuple(pats) | Self::Or(pats) | Self::Other(pats) => {
                pats.iter().for_each(|pat| pat.walk(visit));
            }
            Self::Struct(_, fields) => fields.iter().for_each(|(_, pat)| pat.walk(visit)),
            _ => {}
        }
    }
}

//! The owned syntax tree: what the analysis needs of a Rust file, with byte spans, free of any parser's types.

/// A range of bytes in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// A path such as `tokio::sync::broadcast::Receiver<T>`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Path {
    pub(crate) segments: Vec<String>,
    /// Type arguments of the last segment that has any.
    pub(crate) arguments: Vec<Type>,
}

impl Path {
    pub(crate) fn last(&self) -> &str {
        self.segments.last().map_or("", String::as_str)
    }

    /// The name, if the path is a single one.
    pub(crate) fn single(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [name] => Some(name),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Path(Path),
    /// `<T as Trait>::Name`, `T::Name`: the name alone.
    Associated(String),
    Tuple(Vec<Type>),
    /// `impl A + B`, `dyn A + B`: the traits.
    Bounds(Vec<Bound>),
    /// `fn(A) -> B`.
    Function(Option<Box<Type>>),
    Unknown,
}

/// `Stream<Item = T>`, `Fn(A) -> B`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) path: Path,
    /// `Item = T`, `Output = T`; for `Fn(..) -> T` under `Output`.
    pub(crate) associated: Vec<(String, Type)>,
}

#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) items: Vec<Item>,
}

impl File {
    /// The code that is left out because only tests have it.
    pub(crate) fn tests(&self) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut left: Vec<&Item> = self.items.iter().collect();
        while let Some(item) = left.pop() {
            match item {
                Item::Test(span) => spans.push(*span),
                Item::Module { items, .. } => left.extend(items),
                _ => {}
            }
        }
        spans
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Use(Vec<Use>),
    Module {
        name: String,
        items: Vec<Item>,
    },
    /// `mod name;`, with the file that a `#[path]` names.
    Declared {
        name: String,
        file: Option<String>,
    },
    Function(Function),
    Struct {
        name: String,
        fields: Vec<(String, Type)>,
        /// The fields that no other module names.
        private: Vec<String>,
        generics: Generics,
    },
    Enum {
        name: String,
        variants: Vec<Variant>,
    },
    Alias {
        name: String,
        generics: Vec<String>,
        ty: Type,
    },
    Trait {
        name: String,
        functions: Vec<Function>,
    },
    Impl(Impl),
    /// A constant or static, of which nothing is used.
    Constant,
    /// An item with a body that only tests have, of which nothing is used.
    Test(Span),
}

#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) name: String,
    /// Fields by name; those of tuple variants are named `0`, `1`, ...
    pub(crate) fields: Vec<(String, Type)>,
}

/// One name that a `use` brings in, or a glob.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) path: Vec<String>,
    /// The name in this module; `None` for a glob.
    pub(crate) alias: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Impl {
    pub(crate) generics: Generics,
    pub(crate) self_type: Type,
    pub(crate) of_trait: Option<Path>,
    pub(crate) functions: Vec<Function>,
    pub(crate) types: Vec<(String, Type)>,
}

/// Type parameters and what is known of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generics {
    pub(crate) names: Vec<String>,
    pub(crate) bounds: Vec<(String, Vec<Bound>)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) is_async: bool,
    pub(crate) generics: Generics,
    pub(crate) receiver: Receiver,
    pub(crate) params: Vec<Param>,
    pub(crate) output: Option<Type>,
    pub(crate) body: Option<Block>,
    /// The body was left out: its block is empty and has its span.
    pub(crate) deferred: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    None,
    Value,
    Reference,
    /// `self: Pin<&mut Self>`.
    Pinned,
}

#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) pat: Pat,
    pub(crate) ty: Type,
}

#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) statements: Vec<Statement>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Let(Box<Let>),
    /// An expression; `semi` tells whether its value is dropped.
    Expr {
        expr: Expr,
        semi: bool,
    },
    Item(Box<Item>),
}

#[derive(Clone, Debug)]
pub(crate) struct Let {
    pub(crate) pat: Pat,
    pub(crate) ty: Option<Type>,
    pub(crate) init: Option<Expr>,
    pub(crate) diverge: Option<Expr>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Path(Path),
    Bool(bool),
    /// An integer literal without suffix.
    Int(String),
    /// A string; of other literals nothing is kept.
    Str(String),
    Call {
        callee: Box<Expr>,
        args: Vec<Expr>,
    },
    Method {
        receiver: Box<Expr>,
        name: String,
        name_span: Span,
        turbofish: Vec<Type>,
        args: Vec<Expr>,
    },
    Field(Box<Expr>, String),
    Index(Box<Expr>, Box<Expr>),
    Await(Box<Expr>),
    Try(Box<Expr>),
    Not(Box<Expr>),
    /// References, dereferences, casts, parentheses: as good as what they hold.
    Same(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    Assign(Box<Expr>, Box<Expr>),
    /// `a += b` and its kin.
    AssignOp(Box<Expr>, Box<Expr>),
    Tuple(Vec<Expr>),
    Struct {
        path: Path,
        fields: Vec<(String, Expr)>,
        rest: Option<Box<Expr>>,
    },
    /// `a..b`: a bounded or unbounded range.
    Range {
        parts: Vec<Expr>,
        bounded: bool,
    },
    Block {
        label: Option<String>,
        block: Block,
    },
    Async(Block),
    If {
        cond: Box<Expr>,
        then: Block,
        otherwise: Option<Box<Expr>>,
    },
    /// `let P = e` in a condition.
    Let(Box<Pat>, Box<Expr>),
    Match {
        scrutinee: Box<Expr>,
        arms: Vec<Arm>,
    },
    Loop {
        label: Option<String>,
        body: Block,
    },
    While {
        label: Option<String>,
        cond: Box<Expr>,
        body: Block,
    },
    For {
        label: Option<String>,
        pat: Box<Pat>,
        iter: Box<Expr>,
        body: Block,
    },
    Break {
        label: Option<String>,
        value: Option<Box<Expr>>,
    },
    Continue {
        label: Option<String>,
    },
    Return(Option<Box<Expr>>),
    Yield(Option<Box<Expr>>),
    Closure {
        params: Vec<(Pat, Option<Type>)>,
        is_async: bool,
        output: Option<Type>,
        body: Box<Expr>,
    },
    Macro(Box<Macro>),
    /// Anything else; its operands are evaluated in order.
    Other(Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    And,
    Or,
    Equal,
    NotEqual,
    /// `<`, `<=`, `>`, `>=`.
    Order,
    Other,
}

#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub(crate) pat: Pat,
    pub(crate) guard: Option<Expr>,
    pub(crate) body: Expr,
    /// The pattern and its guard.
    pub(crate) head: Span,
    /// From the pattern to the end of the body.
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Macro {
    pub(crate) path: Path,
    pub(crate) kind: MacroKind,
}

#[derive(Clone, Debug)]
pub(crate) enum MacroKind {
    Select {
        arms: Vec<SelectArm>,
        otherwise: Option<Expr>,
    },
    /// `join!`, `try_join!`.
    Join {
        futures: Vec<Expr>,
        fallible: bool,
    },
    /// `stream!`, `try_stream!`.
    Generator {
        body: Block,
        fallible: bool,
    },
    /// `pin!(x)` as an expression, or `pin_mut!(x)` as a statement.
    Pin(Vec<Expr>),
    Matches {
        value: Expr,
        pat: Pat,
        guard: Option<Expr>,
    },
    /// `panic!`, `unreachable!`, `todo!`.
    Panic(Vec<Expr>),
    /// `bail!`: returns an error.
    Bail(Vec<Expr>),
    /// `ensure!(cond, ..)`: returns an error unless the condition holds.
    Ensure(Vec<Expr>),
    /// `ready!(poll)`: returns `Pending` unless ready.
    Ready(Expr),
    /// Arguments that read as expressions; others are left out.
    Plain(Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) struct SelectArm {
    pub(crate) pat: Pat,
    pub(crate) future: Expr,
    pub(crate) condition: Option<Expr>,
    pub(crate) body: Expr,
    /// The pattern and its future.
    pub(crate) head: Span,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Pat {
    Wild,
    Rest,
    Bind {
        name: String,
        sub: Option<Box<Pat>>,
    },
    /// A path, or an identifier that starts with a capital letter.
    Path(Path),
    TupleStruct(Path, Vec<Pat>),
    Struct(Path, Vec<(String, Pat)>),
    Tuple(Vec<Pat>),
    Or(Vec<Pat>),
    Bool(bool),
    Int(String),
    /// Literals, ranges, slices: they may match.
    Other(Vec<Pat>),
}

//! The places where a few words of code would mend a watch.

use rideout_rules::{
    catalog::FaultFact,
    model::{FaultPath, Location, Mend, Outcome},
};

use super::judge::Judge;
use crate::{
    flow::graph::{ArmId, Block, BodyKind, End, Graph, Pattern, Value},
    syntax::tree::Span,
};

impl Judge<'_, '_, '_> {
    /// Where a change would mend what a path leads to.
    pub(super) fn mend(&self, fault: &FaultFact, path: &FaultPath) -> Option<Mend> {
        let arm = self.own_arm(path);
        match (path.outcome, arm) {
            (Outcome::Reopens { paced: false, .. } | Outcome::Continues { paced: false, .. }, Some(arm)) => {
                self.pause_in(self.graph().arms[arm as usize].span)
            }
            (Outcome::Reopens { paced: false, by }, None) => self.pause_at_head(by),
            (outcome, Some(arm)) if outcome.is_dead() => self.goes_on(fault, arm),
            (outcome, None) if outcome.is_dead() => self.splits(fault, path.consumer),
            _ => None,
        }
    }

    /// The last arm of a `match` that the fault comes to, if it stands in the watch's own loop.
    fn own_arm(&self, path: &FaultPath) -> Option<ArmId> {
        let graph = self.graph();
        let place = |span| self.location(self.site.function, span);
        let at = |location| graph.arms.iter().position(|arm| place(arm.span) == location);
        let arm = ArmId::try_from(path.path.iter().rev().find_map(|step| at(step.location))?).ok()?;
        let first = graph.blocks.iter().find(|block| graph.is_inside(block, arm))?;
        (self.in_own_loop(first) && self.arm_body(graph.arms[arm as usize].span).is_some()).then_some(arm)
    }

    fn in_own_loop(&self, block: &Block) -> bool {
        let poll = &self.graph().blocks[self.site.block as usize];
        poll.within.is_some() && (block.body, block.within) == (poll.body, poll.within)
    }

    /// The text of the watch's own file from a place on.
    fn text(&self, from: usize) -> &str {
        let program = self.infer.program;
        program.files[program.functions[self.site.function].file].text.get(from..).unwrap_or_default()
    }

    fn piece(&self, from: &str, length: usize) -> Location {
        let start = self.text(0).len() - from.len();
        let offset = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
        self.location(self.site.function, Span { start: offset(start), end: offset(start + length) })
    }

    /// The text from the body of the `match` arm with this head on.
    fn arm_body(&self, head: Span) -> Option<&str> {
        Some(self.text(head.end as usize).trim_start().strip_prefix("=>")?.trim_start())
    }

    /// A fault that ends the watch from an arm, where `continue` would poll again.
    fn goes_on(&self, fault: &FaultFact, arm: ArmId) -> Option<Mend> {
        let graph = self.graph();
        let inside =
            graph.blocks.iter().filter(|block| graph.is_inside(block, arm) && self.in_own_loop(block));
        let leaves = inside.flat_map(|block| &block.ops).filter(|op| matches!(op.value, Value::Leave));
        let leaves: Vec<Span> = leaves.map(|op| op.span).collect();
        let place = |span| self.location(self.site.function, span);
        match leaves.as_slice() {
            [] => None,
            [leave] if graph.receives_alone(arm, &fault.transient) => Some(Mend::Leaves(place(*leave))),
            _ => {
                let pattern = fault.pattern.clone().filter(|_| self.site.fact.method.is_empty())?;
                Some(Mend::Shares { arm: place(graph.arms[arm as usize].span), pattern })
            }
        }
    }

    /// The loop around the poll, where it is a `while let Ok(name) = ..` and the fault is lost in it.
    fn splits(&self, fault: &FaultFact, consumer: Location) -> Option<Mend> {
        let pattern = fault.pattern.clone().filter(|_| self.site.fact.method.is_empty())?;
        let graph = self.graph();
        let around = graph.blocks[self.site.block as usize].within?;
        let head = self.location(self.site.function, graph.loops[around as usize].span);
        let text = self.text(head.start as usize).get(..(head.end - head.start) as usize)?;
        let (name, poll) = text.strip_prefix("while let Ok(")?.split_once(") = ")?;
        let is_name = name != "_" && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let body = first_statement(self.text(head.end as usize).trim_start().strip_prefix('{')?);
        (head == consumer && is_name && !poll.contains("&&")).then(|| Mend::Splits {
            head,
            body: self.piece(body, 0),
            name: name.to_owned(),
            poll: poll.to_owned(),
            pattern,
        })
    }

    /// A pause at the beginning of an arm.
    fn pause_in(&self, head: Span) -> Option<Mend> {
        let graph = self.graph();
        let sleep = self.sleep(&graph.blocks[self.site.block as usize])?;
        let body = self.arm_body(head)?;
        if let Some(block) = body.strip_prefix('{') {
            return Some(Mend::Waits { before: self.piece(first_statement(block), 0), alone: false, sleep });
        }
        Some(Mend::Waits { before: self.piece(body, one_line(body)?.len()), alone: true, sleep })
    }

    /// A pause at the beginning of a plain loop around the watch's own.
    fn pause_at_head(&self, by: Location) -> Option<Mend> {
        let graph = self.graph();
        let at = graph.loops.iter().position(|known| self.location(self.site.function, known.span) == by)?;
        let around = |block: &&Block| block.within.is_some_and(|within| within as usize == at);
        let block = graph.blocks.iter().find(around).filter(|block| !self.in_own_loop(block))?;
        let sleep = self.sleep(block)?;
        let head = self.text(by.start as usize).get(..(by.end - by.start) as usize)?;
        let body = self.text(by.end as usize).trim_start().strip_prefix('{')?;
        let plain = head.ends_with("loop");
        plain.then(|| Mend::Waits { before: self.piece(first_statement(body), 0), alone: false, sleep })
    }

    /// The function that waits, if the code of a block can await one: of a crate that the file names already, if there is such a one.
    fn sleep(&self, block: &Block) -> Option<String> {
        let pauses = &self.infer.program.known(self.site.function).pauses;
        let is_named =
            |path: &&&str| path.split_inclusive("::").next().is_some_and(|root| self.text(0).contains(root));
        let sleep = pauses.iter().find(is_named).or_else(|| pauses.first())?;
        let kind = self.graph().bodies[block.body as usize].kind;
        let waits = matches!(
            kind,
            BodyKind::Function { is_async: true }
                | BodyKind::Async
                | BodyKind::Closure { is_async: true }
                | BodyKind::Generator { .. }
        );
        waits.then(|| (*sleep).to_owned())
    }
}

impl Graph {
    fn is_inside(&self, block: &Block, arm: ArmId) -> bool {
        let mut around = block.arm;
        while let Some(id) = around.filter(|id| *id != arm) {
            around = self.arms[id as usize].parent;
        }
        around.is_some()
    }

    /// Whether an arm's pattern has room for one of these variants and for nothing else.
    fn receives_alone(&self, arm: ArmId, variants: &[String]) -> bool {
        self.blocks.iter().any(|block| match &block.end {
            End::Test { pat, yes, .. } if self.blocks[*yes as usize].arm == Some(arm) => {
                let (mut named, mut or) = (false, false);
                pat.walk(&mut |pat| match pat {
                    Pattern::Or(_) => or = true,
                    Pattern::Path(path) | Pattern::TupleStruct(path, _) | Pattern::Struct(path, _) => {
                        named |= variants.iter().any(|variant| path.last() == variant);
                    }
                    _ => {}
                });
                named && !or
            }
            _ => false,
        })
    }
}

/// The text from the first statement of a block on. A comment on the line of the brace speaks of what is before it.
fn first_statement(block: &str) -> &str {
    match block.split_once('\n') {
        Some((line, rest)) if line.trim_start().starts_with("//") => rest.trim_start(),
        _ => block.trim_start(),
    }
}

/// The expression of an arm that is over, with its comma, on its first line.
fn one_line(body: &str) -> Option<&str> {
    let code = body.lines().next()?.trim_end().strip_suffix(',')?;
    let count = |bracket: char| code.matches(bracket).count();
    let balanced =
        [('(', ')'), ('[', ']'), ('{', '}')].into_iter().all(|(open, close)| count(open) == count(close));
    (balanced && !code.contains("//")).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::{first_statement, one_line};

    #[test]
    fn a_statement_comes_after_the_comment_of_its_block() {
        for block in ["\n    go();", " go();", " // why\n    go();"] {
            assert_eq!(first_statement(block), "go();", "{block}");
        }
        assert_eq!(first_statement("\n    // go\n    go();"), "// go\n    go();");
    }

    #[test]
    fn an_expression_ends_at_the_comma_of_its_line() {
        assert_eq!(one_line("continue,\n"), Some("continue"));
        assert_eq!(one_line("warn!(%error, \"a, b\"),  \n Ok"), Some("warn!(%error, \"a, b\")"));
        for other in ["call(\n", "call(), // why,\n", "f([1,\n", "continue\n"] {
            assert_eq!(one_line(other), None, "{other}");
        }
    }
}

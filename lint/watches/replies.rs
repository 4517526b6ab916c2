//! Loops that answer requests beside the watch: when one is over, whoever asks is told, by the error of the request or of its reply.

use rideout_rules::catalog::Meaning;

use super::{infer::Infer, polls::PollSite};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{Callee, End, Pattern, Value},
    syntax::tree::{Path, Type},
};

/// How deep a reply may lie in a request.
const DEEPEST: usize = 4;

impl Infer<'_, '_> {
    /// Whether the body that polls owns the receiver of requests that wait for a reply.
    pub(super) fn answers_requests(&self, site: &PollSite) -> bool {
        let graph = self.graph(site.function);
        let body = graph.blocks[site.block as usize].body;
        let mut ops = graph.blocks.iter().filter(|block| block.body == body).flat_map(|block| &block.ops);
        let receives = ops.any(|op| match &op.value {
            Value::Call { callee: Callee::Method { name, .. }, args, .. } => {
                (name.contains("recv") || name.contains("next"))
                    && args.first().is_some_and(|from| {
                        self.is_of_requests(site.function, &self.place(site.function, from))
                    })
            }
            _ => false,
        });
        receives
            || (body == 0 && self.is_given_requests(site.function))
            || graph.blocks.iter().filter(|block| block.body == body).any(|block| match &block.end {
                End::Test { pat, .. } => self.takes_request_apart(site.function, pat),
                End::Select { arms, .. } => {
                    arms.iter().any(|arm| self.takes_request_apart(site.function, &arm.pat))
                }
                _ => false,
            })
    }

    /// Whether a pattern is that of a request of the workspace.
    fn takes_request_apart(&self, id: FnId, pat: &Pattern) -> bool {
        let mut found = false;
        pat.walk(&mut |pat| {
            if let Pattern::TupleStruct(path, _) | Pattern::Struct(path, _) = pat {
                let whole = match path.segments.as_slice() {
                    [whole @ .., _] if !whole.is_empty() => whole,
                    own => own,
                };
                let named = Path { segments: whole.to_vec(), arguments: Vec::new() };
                let ty = self.program.ty_in(id, &Type::Path(named));
                found |= matches!(ty, Ty::Local(..)) && self.holds_reply(id, &ty, DEEPEST);
            }
        });
        found
    }

    fn is_given_requests(&self, id: FnId) -> bool {
        let params = &self.program.functions[id].params;
        params.iter().any(|ty| self.is_of_requests(id, &self.program.ty_in(id, ty)))
    }

    /// Whether a type, as a function sees it, is the receiving end of a channel of requests.
    fn is_of_requests(&self, id: FnId, ty: &Ty) -> bool {
        let Ty::Named { path, args, .. } = ty else { return false };
        let receives = self.program.known(id).channel_type(path).is_some();
        receives && args.iter().any(|item| self.holds_reply(id, item, DEEPEST))
    }

    /// Whether an item holds what its answer is sent by.
    fn holds_reply(&self, id: FnId, ty: &Ty, left: usize) -> bool {
        let Some(left) = left.checked_sub(1) else { return false };
        match ty {
            Ty::Named { path, args, .. } => {
                self.program.known(id).word_type(path) == Some(Meaning::Reply)
                    || args.iter().any(|arg| self.holds_reply(id, arg, left))
            }
            Ty::Tuple(parts) => parts.iter().any(|part| self.holds_reply(id, part, left)),
            Ty::Local(at, args) => {
                let mut fields = self.program.types[*at].fields.keys();
                fields.any(|field| self.holds_reply(id, &self.program.field(*at, field, args), left))
            }
            _ => false,
        }
    }
}

//! What the type parameters of a function stand for at a call, told by the arguments.

use super::typing::Typing;
use crate::{
    facts::{FnId, Ty},
    flow::graph::Place,
    syntax::tree::Type,
};

impl Typing<'_, '_, '_> {
    /// What a call of a function of the workspace gives.
    pub(super) fn output_with(&self, id: FnId, args: &[Place]) -> Ty {
        let output = self.infer.output(id);
        let program = self.infer.program;
        let function = &program.functions[id];
        let names = &function.generics.names;
        if names.is_empty() || !output.opaque() || output.watch().is_some() {
            return output;
        }
        let mut given = vec![Ty::Unknown; names.len()];
        for (param, arg) in function.params.iter().zip(args) {
            bind(param, &self.place(arg), names, &mut given);
        }
        match &function.output {
            Some(written) if given.iter().any(|ty| !ty.is_unknown()) => {
                let told = program.ty_given(id, written, &given);
                if function.is_async { Ty::Future(Box::new(told)) } else { told }
            }
            _ => output,
        }
    }
}

/// Takes what stands where a type parameter is written.
fn bind(written: &Type, ty: &Ty, names: &[String], given: &mut [Ty]) {
    let Type::Path(path) = written else { return };
    let parameter = path.single().and_then(|single| names.iter().position(|name| name == single));
    match (parameter, ty) {
        (Some(at), ty) if given[at].is_unknown() => given[at] = ty.clone(),
        (None, Ty::Named { args, .. } | Ty::Local(_, args)) => {
            path.arguments.iter().zip(args).for_each(|(written, ty)| bind(written, ty, names, given));
        }
        _ => {}
    }
}

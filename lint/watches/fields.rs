//! Fields whose declared type does not tell: what the values tell that are put there.

use std::{collections::HashMap, rc::Rc};

use super::infer::Infer;
use crate::{
    facts::{FnId, Ty},
    flow::graph::{Callee, Op, Place, Value},
};

/// A value that is put into a field.
#[derive(Clone, Debug)]
pub(super) struct Put {
    function: FnId,
    value: Place,
    into: Into,
}

#[derive(Clone, Debug)]
enum Into {
    /// A new struct of this name; `Self` stands for the type around the function.
    New(String),
    /// A field of this place.
    Old(Place),
}

/// What is put into the fields of each name.
pub(super) type Puts = HashMap<String, Vec<Put>>;

impl Infer<'_, '_> {
    /// The type of a field of a struct of the workspace.
    pub(super) fn field(&self, id: usize, field: &str, args: &[Ty]) -> Ty {
        let declared = self.program.field(id, field, args);
        let tells = declared.watch().is_some() || !(declared.opaque() || declared.receives());
        if tells || self.sites.borrow().is_none() {
            if !tells {
                self.depends_on_callers();
            }
            return declared;
        }
        if let Some(known) = self.fields.borrow().get(&(id, field.to_owned())) {
            return known.clone();
        }
        self.fields.borrow_mut().insert((id, field.to_owned()), declared.clone());
        let found = self.put_into(id, field).unwrap_or(declared);
        self.fields.borrow_mut().insert((id, field.to_owned()), found.clone());
        found
    }

    /// The stream that is put into a field, unless something else is put there as well.
    fn put_into(&self, id: usize, field: &str) -> Option<Ty> {
        let mut found = None;
        for (function, value) in self.puts_into(id, field) {
            let ty = self.place(function, &value);
            if self.is_stream(&ty.inner()) {
                found.get_or_insert(ty);
            } else if ty.receives() {
                return None;
            }
        }
        found
    }

    /// The values that are put into a field, with the functions that put them there.
    pub(super) fn puts_into(&self, id: usize, field: &str) -> Vec<(FnId, Place)> {
        let name = &self.program.types[id].name;
        let fits = |put: &&Put| match &put.into {
            Into::New(made) if made == "Self" => {
                self.program.functions[put.function].owner.as_ref() == Some(name)
            }
            Into::New(made) => made == name,
            Into::Old(place) => matches!(self.place(put.function, place), Ty::Local(own, _) if own == id),
        };
        let puts = self.puts();
        let fitting = puts.get(field).into_iter().flatten().filter(fits);
        fitting.map(|put| (put.function, put.value.clone())).collect()
    }

    fn puts(&self) -> Rc<Puts> {
        if let Some(puts) = &*self.puts.borrow() {
            return Rc::clone(puts);
        }
        let mut puts = Puts::new();
        for function in self.program.live() {
            for op in self.graph(function).blocks.iter().flat_map(|block| &block.ops) {
                add(&mut puts, function, op);
            }
        }
        let puts = Rc::new(puts);
        *self.puts.borrow_mut() = Some(Rc::clone(&puts));
        puts
    }
}

fn add(puts: &mut Puts, function: FnId, op: &Op) {
    let mut put = |field: &str, value: &Place, into: Into| {
        let put = Put { function, value: value.clone(), into };
        puts.entry(field.to_owned()).or_default().push(put);
    };
    match &op.value {
        Value::Struct { path, fields, .. } => {
            fields.iter().for_each(|(name, value)| put(name, value, Into::New(path.last().to_owned())));
        }
        Value::Call { callee: Callee::Path(path), args, .. }
            if path.last().starts_with(char::is_uppercase) =>
        {
            for (at, value) in args.iter().enumerate() {
                put(&at.to_string(), value, Into::New(path.last().to_owned()));
            }
        }
        Value::Use(value) => {
            if let Some((field, outer)) = op.to.fields.split_last() {
                let place = Place { local: op.to.local, fields: outer.to_vec() };
                put(field, value, Into::Old(place));
            }
        }
        _ => {}
    }
}

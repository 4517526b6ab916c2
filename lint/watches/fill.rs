//! Values in the shape that a polling method gives.

use rideout_rules::catalog::Shape;

use super::{polls::RECEIVED, value::Val};

/// An item as this polling method gives it.
pub(super) fn shaped(method: &str, item: Val) -> Val {
    let ready = |value| if method.contains("poll") { Val::variant("Ready", Some(value)) } else { value };
    match method {
        "try_next" if item.is_variant("Err") => item,
        "try_next" => Val::variant("Ok", Some(Val::variant("Some", Some(item.payload())))),
        "select_next_some" => item,
        RECEIVED => Val::variant("Ok", Some(item)),
        _ => ready(Val::variant("Some", Some(item))),
    }
}

/// The end of a stream as this polling method gives it.
pub(super) fn ended(method: &str) -> Val {
    match method {
        "try_next" => Val::variant("Ok", Some(Val::end())),
        "select_next_some" => Val::Pending,
        RECEIVED => Val::variant("Err", Some(Val::Fault)),
        _ if method.contains("poll") => Val::variant("Ready", Some(Val::end())),
        _ => Val::end(),
    }
}

/// Whether a shape names a type.
pub(super) fn mentions(shape: &Shape, wanted: &str) -> bool {
    match shape {
        Shape::Named(name, args) => name == wanted || args.iter().any(|arg| mentions(arg, wanted)),
        Shape::Tuple(parts) => parts.iter().any(|part| mentions(part, wanted)),
        Shape::Item | Shape::Watch => false,
    }
}

/// A value of this shape with the error in its innermost `Result`.
pub(super) fn fill_error(shape: &Shape, payload: Val) -> Val {
    match shape {
        Shape::Named(name, args) => match args.first() {
            Some(inner) if mentions(inner, "Result") => {
                Val::variant(some_of(name), Some(fill_error(inner, payload)))
            }
            _ if name == "Result" => Val::variant("Err", Some(payload)),
            Some(inner) => Val::variant(some_of(name), Some(fill_error(inner, payload))),
            None => payload,
        },
        _ => payload,
    }
}

/// A value of this shape with the end in its innermost `Option`.
pub(super) fn fill_end(shape: &Shape) -> Val {
    match shape {
        Shape::Named(name, args) => match args.first() {
            Some(inner) if mentions(inner, "Option") => Val::variant(some_of(name), Some(fill_end(inner))),
            _ if name == "Option" => Val::end(),
            Some(inner) => Val::variant(some_of(name), Some(fill_end(inner))),
            None => Val::end(),
        },
        _ => Val::end(),
    }
}

/// A value of this shape with the given item.
pub(super) fn fill_item(shape: &Shape, item: Val) -> Val {
    match shape {
        Shape::Named(name, args) if matches!(name.as_str(), "Result" | "Option" | "Poll") => {
            let inner = args.first().map_or_else(|| item.clone(), |inner| fill_item(inner, item.clone()));
            // The item itself may be an `Option` whose `None` is the fault.
            if name == "Option" && args.first() == Some(&Shape::Item) && item == Val::end() {
                inner
            } else {
                Val::variant(some_of(name), Some(inner))
            }
        }
        _ => item,
    }
}

fn some_of(name: &str) -> &'static str {
    match name {
        "Result" => "Ok",
        "Poll" => "Ready",
        _ => "Some",
    }
}

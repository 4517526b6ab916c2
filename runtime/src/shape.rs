//! Names the shape of a recycle that did not end: one wedged teardown, or a storm of them.
//!
//! A count of probes cannot tell the two apart, and they have opposite fixes. The number of distinct activations can.
//!
//! ```
//! use rideout::shape::recycling_shape;
//!
//! assert!(recycling_shape(1).contains("disposal"));
//! assert!(recycling_shape(37).contains("37 distinct"));
//! ```

use std::borrow::Cow;

/// The sentence for refusals by so many distinct activations; empty when none was seen, since nothing is known then.
#[must_use]
pub fn recycling_shape(distinct_owners: usize) -> Cow<'static, str> {
    match distinct_owners {
        0 => Cow::Borrowed(""),
        1 => Cow::Borrowed(
            "The same owner activation refused every time: one hub is wedged in teardown and its address never \
             reactivates. Look at that hub's disposal.",
        ),
        owners => Cow::Owned(format!(
            "{owners} distinct owner activations refused: a recycle storm, in which each successor goes away before it can \
             answer. Look at whatever requests the recycles."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `RecyclingShape`: each shape is named, and never both.
    #[test]
    fn recycling_shape_names_one_of_two() {
        assert_eq!(recycling_shape(0), "");
        let wedged = recycling_shape(1);
        assert!(wedged.contains("same owner activation") && wedged.contains("disposal"), "{wedged}");
        assert!(!wedged.contains("storm"));
        for owners in [2, 37, 110] {
            let storm = recycling_shape(owners);
            assert!(storm.contains(&format!("{owners} distinct")) && storm.contains("storm"), "{storm}");
            assert!(!storm.contains("disposal"));
        }
    }
}

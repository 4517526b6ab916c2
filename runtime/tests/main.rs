//! The tests of the runtime that need more than one module, in one binary.

mod does_not_nest;
mod flow;
mod giving_up;
mod silence;
mod standing_watches_reopen;
mod support;

#[global_allocator]
static ALLOCATOR: rideout::test::CountingAllocator = rideout::test::CountingAllocator;

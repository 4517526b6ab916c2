//! An allocator that counts: the proof that a watch is as large after its last fault as after its first.
//!
//! ```
//! use rideout::test::CountingAllocator;
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! let before = CountingAllocator::here();
//! let kept = vec![1, 2, 3];
//! assert_eq!(CountingAllocator::here().live - before.live, 1);
//! drop(kept);
//! assert_eq!(CountingAllocator::here().live, before.live);
//! ```
//!
//! Warm up before the first count: channels, wakers and thread-locals allocate once.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// Counts the allocations of each thread and passes them on to [`System`]. Use it as the `#[global_allocator]` of a test binary.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

/// The allocations of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Allocations made less allocations freed. Memory that another thread frees is still counted here.
    pub live: i64,
    /// The bytes of the live ones.
    pub bytes: i64,
    /// Allocations made, freed or not; growing one in place or by moving it counts as one made and one freed.
    pub made: u64,
}

thread_local! {
    // A constant without a destructor: reading it allocates nothing, so that the allocator may.
    static HERE: Cell<Allocations> = const { Cell::new(Allocations { live: 0, bytes: 0, made: 0 }) };
}

impl CountingAllocator {
    /// The allocations of this thread so far. Other threads, such as tests that run beside this one, do not show.
    ///
    /// All zero unless the binary has this allocator as its `#[global_allocator]`.
    #[must_use]
    pub fn here() -> Allocations {
        HERE.get()
    }
}

fn count(made: u64, live: i64, bytes: i64) {
    // No count is better than a crash while a thread is torn down.
    let _ = HERE.try_with(|here| {
        let so_far = here.get();
        here.set(Allocations {
            live: so_far.live + live,
            bytes: so_far.bytes + bytes,
            made: so_far.made + made,
        });
    });
}

fn size(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[expect(unsafe_code, reason = "a global allocator is an unsafe trait; every call is passed on as it came")]
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, 1, size(layout.size()));
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, 1, size(layout.size()));
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, -1, -size(layout.size()));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(1, 0, size(new_size) - size(layout.size()));
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

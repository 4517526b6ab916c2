//! The baseline, end to end: what a check lets pass, who may write the file, what git says of it.

mod bad;
mod base;
mod commands;
mod follow;
mod kill;
mod merges;
mod page;
mod repo;
mod servers;
mod states;

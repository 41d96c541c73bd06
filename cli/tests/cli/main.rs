//! Black-box tests of the program: arguments and bytes in; bytes, messages and exit codes out.

mod answers;
mod arguments;
mod audit;
#[cfg(feature = "full")]
mod broken_tables;
#[cfg(unix)]
mod changes;
mod checkpoint;
#[cfg(feature = "full")]
mod class_table_edges;
#[cfg(feature = "full")]
mod class_tables;
mod classes;
mod containers;
mod corpora;
mod dedup;
mod explain;
mod extract;
#[cfg(all(unix, feature = "fault-injection"))]
mod faults;
mod files;
#[cfg(target_os = "linux")]
mod floods;
#[cfg(feature = "full")]
mod forged_pages;
mod forged_sets;
mod grammar;
#[cfg(unix)]
mod help;
mod hostile;
mod invalid;
#[cfg(feature = "full")]
mod json_tables;
mod learn;
mod lines;
mod links;
mod memory;
mod mending;
mod outputs;
mod outside;
#[cfg(feature = "full")]
mod packed_pages;
#[cfg(all(unix, feature = "fault-injection"))]
mod power;
mod profiles;
mod report;
mod resolve;
mod rules;
mod run;
mod sets;
#[cfg(unix)]
mod signals;
mod stats;
#[cfg(feature = "full")]
mod stores;
#[cfg(unix)]
mod streaming;
mod table_arguments;
#[cfg(all(unix, feature = "full"))]
mod table_checkpoint;
#[cfg(feature = "full")]
mod table_classes;
#[cfg(feature = "full")]
mod table_datasets;
#[cfg(feature = "full")]
mod table_dialects;
#[cfg(feature = "full")]
mod table_keys;
#[cfg(feature = "full")]
mod table_parts;
#[cfg(feature = "full")]
mod table_paths;
#[cfg(feature = "full")]
mod table_sides;
#[cfg(feature = "full")]
mod tables;
mod top;

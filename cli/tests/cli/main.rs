//! Black-box tests of the program: arguments and bytes in; bytes, messages and exit codes out.

#[cfg(target_os = "linux")]
mod access;
mod answers;
mod arguments;
mod audit;
mod broken_tables;
mod bytes;
#[cfg(unix)]
mod changes;
mod class_table_edges;
mod class_tables;
mod classes;
mod containers;
mod dedup;
#[cfg(target_os = "linux")]
mod descriptors;
mod explain;
mod extract;
#[cfg(unix)]
mod faults;
mod files;
mod filters;
#[cfg(target_os = "linux")]
mod floods;
mod forged_pages;
mod forged_sets;
mod grammar;
#[cfg(target_os = "linux")]
mod growth;
#[cfg(unix)]
mod help;
mod hostile;
mod invalid;
mod json_tables;
#[cfg(target_os = "linux")]
mod kept_sets;
mod kills;
mod kinds;
mod learn;
mod learn_inputs;
mod lines;
mod links;
mod matrix;
mod memory;
mod mending;
mod outputs;
mod outside;
mod packed_pages;
mod pages;
#[cfg(unix)]
mod power;
mod profiles;
mod report;
mod requests;
mod resolve;
mod rules;
mod run;
mod secrets;
mod set_settings;
mod sets;
#[cfg(unix)]
mod shapes;
mod signals;
mod stats;
mod stores;
#[cfg(unix)]
mod streaming;
mod table_arguments;
mod table_bad_rows;
#[cfg(unix)]
mod table_classes;
mod table_datasets;
mod table_dialects;
mod table_inputs;
mod table_into;
mod table_keys;
mod table_parts;
mod table_paths;
mod table_rows;
mod table_sets;
mod table_sides;
mod table_with;
mod tables;
mod top;

//! What the library promises of many URIs: jobs over lists, links in text, columns, sets on disk, and runs in little memory.

mod arrow;
mod classes;
mod corpora;
mod dupes;
mod extract;
mod filters;
mod forms;
mod learn;
mod learn_hostile;
mod long_records;
mod memory;
mod pairs;
mod row_lines;
mod rows_census;
mod rows_check;
mod rows_in_groups;
mod rows_of_tables;
mod rows_parse;
mod samples;
mod sets;
mod single;

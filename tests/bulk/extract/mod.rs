//! Tests the search for links: a table of texts, and a reference implementation of the rules.

mod coded;
mod container_logs;
mod feeds;
mod formats;
mod har;
mod hostile;
mod html;
mod logs;
mod long;
mod mail;
mod markup;
mod named_logs;
mod oracle;
mod recognition;
mod requests;
mod scripts;
mod table;
mod tables;

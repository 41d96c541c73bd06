//! The search for links: a table of texts, and a second search that is plainly the rules.

mod formats;
mod hostile;
mod html;
mod oracle;
mod table;
mod tables;

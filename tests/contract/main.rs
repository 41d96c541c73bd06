//! What the library promises of one URI: the grammars, the forms and the tables of the RFCs and of the standards beside
//! them, by tables, by properties, and against transcriptions.

mod appendix_a;
mod explain;
mod hostile_keys;
mod ladder;
mod ladder_properties;
mod necessary_rules;
mod padding;
mod profiles;
mod resolve;
mod rfc2396;
mod rules;
mod rules_properties;
mod shape;
mod sites;
mod surt;
mod uri_properties;
mod url_standard;

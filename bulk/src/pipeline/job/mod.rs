//! Jobs that look at each record by itself, or count.

pub(crate) mod added;
pub(crate) mod audit;
pub(crate) mod census;
pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod extract;
pub(crate) mod map;
pub(crate) mod parse;
pub(crate) mod resolve;
pub(crate) mod rfc2396;
pub(crate) mod row_job;
pub(crate) mod top;

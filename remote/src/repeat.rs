//! Repeats requests to stores whose responses break off after they have begun, which the stores themselves do not.

use std::io;

use super::engine::Engine;
use super::error::{is_cut_off, of_store};
use super::location::Service;
use super::web::{Fault, Retry};

pub(super) async fn repeated<T>(
    engine: &Engine,
    service: Service,
    call: impl AsyncFn() -> object_store::Result<T>,
) -> io::Result<T> {
    let mut retry = Retry::new().at_most(engine.retry(service).max_retries as u64);
    loop {
        let error = match call().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let (is_cut_off, error) = (is_cut_off(&error), of_store(&error, service));
        retry.after(if is_cut_off { Fault::Passing(error) } else { Fault::Final(error) }).await?;
    }
}

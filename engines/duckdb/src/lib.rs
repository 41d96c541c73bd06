//! SQL functions on URIs for DuckDB, on the kernels of `uriscan_arrow`: a loadable extension.
//!
//! | function | gives |
//! | --- | --- |
//! | `uri_normalize(text [, options])` | the canonical form (RFC 3986 section 6); what is not a URI is kept as it is |
//! | `uri_key(text [, options])` | the public key, the first 16 bytes of the hash of `uri_normalize(text, options)`, as a `BLOB` |
//! | `uri_key_int(text [, options])` | the same as a `UHUGEINT`, most significant byte first: 16 bytes that DuckDB stores, hashes and joins without a pointer |
//! | `uri_surt(text [, options])` | the sort-friendly form; `form` is `surt:cdxj` (the default), `surt:ia` or `ssurt` |
//! | `uri_valid(text [, options])` | whether it is a URI of RFC 3986; with `relative`, a reference |
//! | `uri_parse(text)` | a struct of all parts; null for what is not a reference |
//! | `uri_part(text, name)` | one of them |
//! | `uri_domain(text)` | the registrable domain |
//! | `uri_resolve(reference, base [, options])` | the target of a reference (section 5); null where there is none |
//!
//! Options are a struct, the same for all rows, with the names that Python and the program use: `{'preset': 'crawl'}`. Null
//! gives null. Text is `VARCHAR`, or `BLOB` if it need not be UTF-8; of that, forms and parts are `BLOB`s. Keys are the same in every engine and on every machine.
//!
//! `unsafe` is here because DuckDB is called through C: in `api` (its functions), `vector` (its memory) and in this file
//! (what it calls).

mod api;
mod function;
mod vector;

use core::ffi::{CStr, c_void};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use libduckdb_sys as sys;
use uriscan_arrow::COMPONENTS;

use api::Api;
use function::{Function, Kind, Type};
use vector::{Input, Output};

/// DuckDB's functions, from when the extension was loaded first: all databases of a process are of one DuckDB.
static API: OnceLock<Api> = OnceLock::new();

/// Registers the functions. DuckDB calls this when it loads the extension.
///
/// # Safety
/// `info` and `access` are those of DuckDB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_init_c_api(
    info: sys::duckdb_extension_info,
    access: *const sys::duckdb_extension_access,
) -> bool {
    // SAFETY: `access` is valid while this runs.
    let access = unsafe { &*access };
    // SAFETY: they are what DuckDB passed.
    let Some(api) = (unsafe { Api::of(info, access) }) else { return false };
    let api = API.get_or_init(|| api);
    match catch_unwind(|| {
        // SAFETY: as above.
        unsafe { register_all(info, access, api) }
    }) {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            if let (Some(set_error), Ok(error)) = (access.set_error, CString::new(error)) {
                // SAFETY: as above; DuckDB copies the text.
                unsafe { set_error(info, error.as_ptr()) };
            }
            false
        }
        Err(_) => false,
    }
}

/// # Safety
/// `info`, `access` and `api` are those of the entry point that is running.
unsafe fn register_all(
    info: sys::duckdb_extension_info,
    access: &sys::duckdb_extension_access,
    api: &Api,
) -> Result<(), String> {
    let get_database = access.get_database.ok_or("DuckDB gave no database")?;
    let mut connection = core::ptr::null_mut();
    // SAFETY: called as DuckDB asks for it; the connection is closed once.
    unsafe {
        let database = get_database(info);
        if database.is_null()
            || (api.duckdb_connect)(*database, &mut connection) != sys::duckdb_state_DuckDBSuccess
        {
            return Err("cannot connect to the database".to_owned());
        }
        let done = Kind::ALL.into_iter().try_for_each(|kind| register(api, connection, kind));
        (api.duckdb_disconnect)(&mut connection);
        done
    }
}

/// Registers a function, with and without options.
///
/// # Safety
/// `connection` is open.
unsafe fn register(
    api: &Api,
    connection: sys::duckdb_connection,
    kind: Kind,
) -> Result<(), String> {
    // SAFETY: everything is made here and released once; the set copies the functions, and DuckDB owns what they hold.
    unsafe {
        let mut set = (api.duckdb_create_scalar_function_set)(kind.name().as_ptr());
        let mut done = true;
        let forms = kind.forms();
        let with_options =
            forms.iter().flat_map(|form| [(form, None), (form, Some(Type::Options))]);
        for ((parameters, result), options) in with_options {
            let mut made = (api.duckdb_create_scalar_function)();
            (api.duckdb_scalar_function_set_name)(made, kind.name().as_ptr());
            for &parameter in parameters.iter().chain(&options) {
                with_type(api, parameter, |it| {
                    (api.duckdb_scalar_function_add_parameter)(made, it)
                });
            }
            with_type(api, *result, |it| (api.duckdb_scalar_function_set_return_type)(made, it));
            // Null options are not options, and do not make the result null.
            (api.duckdb_scalar_function_set_special_handling)(made);
            let held = Box::new(Function::new(kind));
            (api.duckdb_scalar_function_set_extra_info)(
                made,
                Box::into_raw(held).cast(),
                Some(release),
            );
            (api.duckdb_scalar_function_set_function)(made, Some(run));
            done &= (api.duckdb_add_scalar_function_to_set)(set, made)
                == sys::duckdb_state_DuckDBSuccess;
            (api.duckdb_destroy_scalar_function)(&mut made);
        }
        done &= (api.duckdb_register_scalar_function_set)(connection, set)
            == sys::duckdb_state_DuckDBSuccess;
        (api.duckdb_destroy_scalar_function_set)(&mut set);
        if done {
            Ok(())
        } else {
            Err(format!("cannot register {}", kind.name().to_string_lossy()))
        }
    }
}

/// Calls `with` with a type of DuckDB, and releases it.
fn with_type(api: &Api, wanted: Type, with: impl FnOnce(sys::duckdb_logical_type)) {
    let simple = |id| {
        // SAFETY: `id` is a type without parameters.
        unsafe { (api.duckdb_create_logical_type)(id) }
    };
    let mut made = match wanted {
        Type::Text => simple(sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR),
        Type::Bytes => simple(sys::DUCKDB_TYPE_DUCKDB_TYPE_BLOB),
        // Which members a struct has is seen when it comes.
        Type::Options => simple(sys::DUCKDB_TYPE_DUCKDB_TYPE_ANY),
        Type::Number => simple(sys::DUCKDB_TYPE_DUCKDB_TYPE_UHUGEINT),
        Type::Boolean => simple(sys::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN),
        Type::Parts | Type::BytesParts => {
            let id = match wanted {
                Type::BytesParts => sys::DUCKDB_TYPE_DUCKDB_TYPE_BLOB,
                _ => sys::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR,
            };
            let names =
                COMPONENTS.map(|name| CString::new(name).expect("names of parts have no zeros"));
            let mut pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
            let mut text = simple(id);
            let mut types = vec![text; names.len()];
            // SAFETY: as many types as names; DuckDB copies both.
            unsafe {
                let count = names.len() as sys::idx_t;
                let made = (api.duckdb_create_struct_type)(
                    types.as_mut_ptr(),
                    pointers.as_mut_ptr(),
                    count,
                );
                (api.duckdb_destroy_logical_type)(&mut text);
                made
            }
        }
    };
    with(made);
    // SAFETY: it was made above.
    unsafe { (api.duckdb_destroy_logical_type)(&mut made) };
}

/// Releases what a function held.
unsafe extern "C" fn release(held: *mut c_void) {
    // SAFETY: DuckDB calls this once with what `register` gave it.
    drop(unsafe { Box::from_raw(held.cast::<Function>()) });
}

/// A call. A panic becomes an error, since it must not pass through DuckDB.
unsafe extern "C" fn run(
    info: sys::duckdb_function_info,
    chunk: sys::duckdb_data_chunk,
    result: sys::duckdb_vector,
) {
    let Some(api) = API.get() else { return };
    // SAFETY: DuckDB gives back what `register` gave it, and keeps it while calls run.
    let function =
        unsafe { &*(api.duckdb_scalar_function_get_extra_info)(info).cast::<Function>() };
    let call = || {
        // SAFETY: both are those of this call.
        let (input, output) = unsafe { (Input::all(api, chunk), Output::new(api, result)) };
        function.call(&input, output)
    };
    let error = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(_) => "an internal error of the uriscan extension".to_owned(),
    };
    let text = CString::new(error).unwrap_or_else(|_| CString::from(<&CStr>::default()));
    // SAFETY: DuckDB copies the text.
    unsafe { (api.duckdb_scalar_function_set_error)(info, text.as_ptr()) };
}

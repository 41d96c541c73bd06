//! The functions of DuckDB that are called, by pointers that it hands over when it loads the extension.
//!
//! Only functions that have been stable since version 1.2.0 are named, and only they are read from the table of pointers,
//! which is longer in later versions: one binary serves all of them.

use core::ffi::{c_char, c_void};
use core::ptr;

use libduckdb_sys as sys;

/// The version of the interface that this extension asks for.
pub(crate) const VERSION: &core::ffi::CStr = c"v1.2.0";

macro_rules! api {
    ($($name:ident: fn($($type:ty),*) $(-> $result:ty)?;)*) => {
        /// Pointers to the functions of DuckDB.
        #[derive(Clone, Copy)]
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
        }

        impl Api {
            /// Reads the pointers that are used from `table`; `None` if one of them is missing.
            ///
            /// # Safety
            /// `table` points to what DuckDB gave for [`VERSION`].
            unsafe fn read(table: *const sys::duckdb_ext_api_v1) -> Option<Api> {
                // SAFETY: the fields that are read were in the table of the first version that had one; each is read by
                // itself, since the table may be shorter than the type.
                unsafe { Some(Api { $($name: ptr::addr_of!((*table).$name).read()?,)* }) }
            }
        }
    };
}

api! {
    duckdb_connect: fn(sys::duckdb_database, *mut sys::duckdb_connection) -> sys::duckdb_state;
    duckdb_disconnect: fn(*mut sys::duckdb_connection);
    duckdb_free: fn(*mut c_void);
    duckdb_create_logical_type: fn(sys::duckdb_type) -> sys::duckdb_logical_type;
    duckdb_create_struct_type: fn(*mut sys::duckdb_logical_type, *mut *const c_char, sys::idx_t) -> sys::duckdb_logical_type;
    duckdb_destroy_logical_type: fn(*mut sys::duckdb_logical_type);
    duckdb_get_type_id: fn(sys::duckdb_logical_type) -> sys::duckdb_type;
    duckdb_struct_type_child_count: fn(sys::duckdb_logical_type) -> sys::idx_t;
    duckdb_struct_type_child_name: fn(sys::duckdb_logical_type, sys::idx_t) -> *mut c_char;
    duckdb_data_chunk_get_column_count: fn(sys::duckdb_data_chunk) -> sys::idx_t;
    duckdb_data_chunk_get_size: fn(sys::duckdb_data_chunk) -> sys::idx_t;
    duckdb_data_chunk_get_vector: fn(sys::duckdb_data_chunk, sys::idx_t) -> sys::duckdb_vector;
    duckdb_vector_get_column_type: fn(sys::duckdb_vector) -> sys::duckdb_logical_type;
    duckdb_vector_get_data: fn(sys::duckdb_vector) -> *mut c_void;
    duckdb_vector_get_validity: fn(sys::duckdb_vector) -> *mut u64;
    duckdb_vector_ensure_validity_writable: fn(sys::duckdb_vector);
    duckdb_vector_assign_string_element_len: fn(sys::duckdb_vector, sys::idx_t, *const c_char, sys::idx_t);
    duckdb_list_vector_get_child: fn(sys::duckdb_vector) -> sys::duckdb_vector;
    duckdb_struct_vector_get_child: fn(sys::duckdb_vector, sys::idx_t) -> sys::duckdb_vector;
    duckdb_create_scalar_function: fn() -> sys::duckdb_scalar_function;
    duckdb_destroy_scalar_function: fn(*mut sys::duckdb_scalar_function);
    duckdb_scalar_function_set_name: fn(sys::duckdb_scalar_function, *const c_char);
    duckdb_scalar_function_set_special_handling: fn(sys::duckdb_scalar_function);
    duckdb_scalar_function_add_parameter: fn(sys::duckdb_scalar_function, sys::duckdb_logical_type);
    duckdb_scalar_function_set_return_type: fn(sys::duckdb_scalar_function, sys::duckdb_logical_type);
    duckdb_scalar_function_set_extra_info: fn(sys::duckdb_scalar_function, *mut c_void, sys::duckdb_delete_callback_t);
    duckdb_scalar_function_set_function: fn(sys::duckdb_scalar_function, sys::duckdb_scalar_function_t);
    duckdb_scalar_function_get_extra_info: fn(sys::duckdb_function_info) -> *mut c_void;
    duckdb_scalar_function_set_error: fn(sys::duckdb_function_info, *const c_char);
    duckdb_create_scalar_function_set: fn(*const c_char) -> sys::duckdb_scalar_function_set;
    duckdb_destroy_scalar_function_set: fn(*mut sys::duckdb_scalar_function_set);
    duckdb_add_scalar_function_to_set: fn(sys::duckdb_scalar_function_set, sys::duckdb_scalar_function) -> sys::duckdb_state;
    duckdb_register_scalar_function_set: fn(sys::duckdb_connection, sys::duckdb_scalar_function_set) -> sys::duckdb_state;
}

impl Api {
    /// Asks DuckDB for its functions; `None` if it does not have this version, which it then reports itself.
    ///
    /// # Safety
    /// `info` and `access` are what DuckDB passed to the entry point.
    pub(crate) unsafe fn of(
        info: sys::duckdb_extension_info,
        access: &sys::duckdb_extension_access,
    ) -> Option<Api> {
        // SAFETY: called as DuckDB asks for it; what it returns lives as long as the entry point runs.
        unsafe {
            let table = access.get_api?(info, VERSION.as_ptr()).cast::<sys::duckdb_ext_api_v1>();
            if table.is_null() { None } else { Api::read(table) }
        }
    }
}

//! Arrays of DataFusion's arrow as arrays of uriscan's arrow, and back: two versions of one crate, which meet in the
//! C data interface. Nothing is copied.

use std::mem;

use datafusion_common::Result;

/// The same array, by uriscan's arrow.
pub(crate) fn to_uriscan(array: &dyn arrow::array::Array) -> Result<arrow_array::ArrayRef> {
    let (array, schema) = arrow::ffi::to_ffi(&array.to_data())?;
    // SAFETY: both are the `ArrowArray` and `ArrowSchema` of the C data interface, `repr(C)` with its fields in its order,
    // whatever the version of the crate. The originals are moved out of, so each is released once, by the one who takes it.
    let (array, schema) = unsafe {
        (
            mem::transmute::<arrow::ffi::FFI_ArrowArray, arrow_array::ffi::FFI_ArrowArray>(array),
            mem::transmute::<arrow::ffi::FFI_ArrowSchema, arrow_array::ffi::FFI_ArrowSchema>(
                schema,
            ),
        )
    };
    // SAFETY: they were made from a valid array just now.
    let data = unsafe { arrow_array::ffi::from_ffi(array, &schema) };
    let data = data.map_err(|error| datafusion_common::DataFusionError::External(error.into()))?;
    Ok(arrow_array::make_array(data))
}

/// The same array, by DataFusion's arrow.
pub(crate) fn to_datafusion(array: &dyn arrow_array::Array) -> Result<arrow::array::ArrayRef> {
    let made = arrow_array::ffi::to_ffi(&array.to_data());
    let (array, schema) =
        made.map_err(|error| datafusion_common::DataFusionError::External(error.into()))?;
    // SAFETY: as in `to_uriscan`.
    let (array, schema) = unsafe {
        (
            mem::transmute::<arrow_array::ffi::FFI_ArrowArray, arrow::ffi::FFI_ArrowArray>(array),
            mem::transmute::<arrow_array::ffi::FFI_ArrowSchema, arrow::ffi::FFI_ArrowSchema>(
                schema,
            ),
        )
    };
    // SAFETY: they were made from a valid array just now.
    let data = unsafe { arrow::ffi::from_ffi(array, &schema)? };
    Ok(arrow::array::make_array(data))
}

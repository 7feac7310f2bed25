//! The host's callbacks: called by plugins, from any thread. None of them unwinds.

use std::ffi::{c_char, c_void};
use std::panic::catch_unwind;

use crate::abi::code::{level_from, put_error};
use crate::abi::{self, Text};
use crate::{Configuration, Error};

/// The host's table, the same for every plugin.
pub(super) static HOST: abi::Host = abi::Host {
    size: size_of::<abi::Host>(),
    log_enabled: Some(log_enabled),
    log: Some(log),
};

unsafe extern "C" fn log_enabled(instance: u64, level: u32, target: Text) -> u8 {
    // SAFETY: the plugin's text is valid for this call.
    let target = unsafe { target.lossy() };
    catch_unwind(|| super::log::enabled(instance, level_from(level), &target))
        .unwrap_or(false)
        .into()
}

unsafe extern "C" fn log(instance: u64, level: u32, target: Text, message: Text) {
    // SAFETY: the plugin's texts are valid for this call.
    let (target, message) = unsafe { (target.lossy(), message.lossy()) };
    // A subscriber that panics must not end the flight.
    let _ = catch_unwind(|| super::log::message(instance, level_from(level), &target, &message));
}

/// The configuration in its ABI form. It borrows all of `configuration`, which must outlive the plugin's use of it.
pub(super) fn lend(configuration: &Configuration, instance: u64) -> abi::Configuration {
    abi::Configuration {
        size: size_of::<abi::Configuration>(),
        text: Text::new(configuration.text),
        vehicle: Text::new(configuration.vehicle),
        rate_hz: configuration.rate_hz,
        seed: configuration.seed,
        armed: u8::from(configuration.armed),
        instance,
        context: std::ptr::from_ref(configuration).cast_mut().cast(),
        resolve_path: Some(resolve_path),
    }
}

unsafe extern "C" fn resolve_path(
    context: *mut c_void,
    offset: usize,
    path: Text,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut abi::Error,
) -> i32 {
    use std::os::unix::ffi::OsStrExt;
    let result = catch_unwind(|| {
        // SAFETY: the context that `lend` gave, during the call that it was given to; null if the plugin lost it.
        let configuration = unsafe { context.cast::<Configuration>().as_ref() };
        // SAFETY: the plugin's text is valid for this call.
        let path = unsafe { path.lossy() };
        configuration
            .ok_or_else(|| Error::usage("resolve_path without its context"))?
            .resolve_path(offset, &path)
    });
    let resolved = match result {
        Ok(Ok(path)) => path,
        Ok(Err(ours)) => {
            // SAFETY: the plugin passes a valid error or null.
            unsafe { put_error(error, &ours) };
            return abi::FLY_FAILED;
        }
        Err(_) => return abi::FLY_FAILED,
    };
    let bytes = resolved.as_os_str().as_bytes();
    if length.is_null() || (buffer.is_null() && capacity > 0) {
        return abi::FLY_FAILED;
    }
    // SAFETY: not null, and the plugin's to be written.
    unsafe { length.write(bytes.len()) };
    if bytes.len() > capacity {
        return abi::FLY_NOTHING;
    }
    if !buffer.is_null() {
        // SAFETY: not null, and `bytes.len() <= capacity` bytes of it are the plugin's to be written.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.cast(), bytes.len()) };
    }
    abi::FLY_OK
}

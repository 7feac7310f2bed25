//! The plugin's side: the functions that [`export_backend!`](crate::export_backend) generates from a [`Backend`].

mod groups;

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use tracing::dispatcher::{self, Dispatch};

use super::code::{class_code, clock_code, put_error, reference_code, request_from};
use super::growth::{self, Grows};
use super::{code::ErrorRoom, forward, types as c};
use groups::Groups;

use crate::{
    Backend, Class, Configuration, Deadline, Description, Emergency, Error, ErrorKind, FrameMut,
    GroupStatus, Progress, ReadOutcome,
};

/// Exports a [`Backend`] from a crate of type `cdylib`: `fly_hal::export_backend!(MyBackend);`, once per library.
///
/// The plugin's `tracing` messages reach the host's log. A plugin must unwind on panic, so that the host survives; with
/// `panic = "abort"` the macro does not compile.
#[macro_export]
macro_rules! export_backend {
    ($backend:ty) => {
        #[cfg(panic = "abort")]
        ::core::compile_error!(
            "a plugin must be built with panic = \"unwind\": aborting would end the process that flies the vehicle"
        );

        const _: () = {
            static TABLE: $crate::abi::Plugin = $crate::abi::export::table::<$backend>();

            #[unsafe(no_mangle)]
            pub extern "C" fn fly_plugin() -> *const $crate::abi::Plugin {
                &TABLE
            }
        };
    };
}

/// The function table of a backend.
pub const fn table<B: Backend>() -> c::Plugin {
    c::Plugin {
        magic: c::FLY_MAGIC,
        major: c::FLY_ABI_MAJOR,
        minor: c::FLY_ABI_MINOR,
        size: size_of::<c::Plugin>(),
        name: c::Text::new(B::INFO.name),
        version: c::Text::new(B::INFO.version),
        summary: c::Text::new(B::INFO.summary),
        signals: c::Text::new(B::INFO.signals),
        clock: clock_code(B::INFO.clock),
        init: Some(init),
        configure: Some(configure::<B>),
        describe: Some(describe::<B>),
        start: Some(start::<B>),
        read: Some(read::<B>),
        write: Some(write::<B>),
        stop: Some(stop::<B>),
        arm: Some(arm::<B>),
        disarm: Some(disarm::<B>),
        request: Some(request::<B>),
        report: Some(report::<B>),
        destroy: Some(destroy::<B>),
        poll: Some(poll::<B>),
        emergency: Some(emergency),
        take_off: Some(take_off::<B>),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Configured,
    Started,
    Stopped,
    /// A panic left the backend in an unknown state; it is not used any more.
    Dead,
}

/// The target of the host's instance pointer.
struct Exported<B> {
    state: State,
    commands: usize,
    backend: B,
    /// Where the messages of its threads go.
    messages: Option<Dispatch>,
    /// Owned here so that the arrays below point to memory that cannot move or change.
    _description: Box<Description>,
    signals: Vec<c::Signal>,
    groups: Vec<c::Text>,
    /// Status of the frame's groups during a read.
    statuses: Vec<GroupStatus>,
    wants_reference: u32,
    configuration: c::Text,
    starts_in_motion: bool,
    control_began: Option<i64>,
}

impl<B: Backend> Exported<B> {
    fn new(backend: B, messages: Option<Dispatch>) -> Self {
        let description = Box::new(backend.description().clone());
        let signals = description
            .signals
            .iter()
            .map(|signal| c::Signal {
                name: c::Text::new(&signal.name),
                unit: c::Text::new(&signal.unit),
                class_: class_code(signal.class),
                group: signal
                    .group
                    .and_then(|group| u32::try_from(group).ok())
                    .unwrap_or(c::FLY_NO_GROUP),
            })
            .collect();
        Self {
            state: State::Configured,
            commands: description
                .signals
                .iter()
                .filter(|signal| signal.class == Class::Command)
                .count(),
            backend,
            messages,
            signals,
            statuses: vec![GroupStatus::default(); description.groups.len()],
            groups: description
                .groups
                .iter()
                .map(|group| c::Text::new(group))
                .collect(),
            wants_reference: reference_code(description.wants_reference),
            configuration: c::Text::new(description.configuration.as_deref().unwrap_or_default()),
            starts_in_motion: description.starts_in_motion,
            control_began: description.control_began,
            _description: description,
        }
    }

    #[inline]
    fn expect_started(&self, doing: &str) -> Result<(), Error> {
        if self.state == State::Started {
            Ok(())
        } else {
            Err(self.not_started(doing))
        }
    }

    #[cold]
    fn not_started(&self, doing: &str) -> Error {
        let when = if self.state == State::Configured {
            "before start"
        } else {
            "after stop"
        };
        Error::usage(format!("{doing} {when}"))
    }

    /// Stops the backend if it is running.
    fn stop(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.state, State::Stopped) == State::Started {
            return self.backend.stop();
        }
        Ok(())
    }
}

/// Converts a backend to the instance pointer that the table of `B` expects.
pub(crate) fn own<B: Backend>(backend: B) -> NonNull<c_void> {
    NonNull::from(Box::leak(Box::new(Exported::new(backend, None)))).cast()
}

/// Runs one entry. No panic leaves it; after a panic the instance is dead.
///
/// # Safety
/// `instance` came from [`configure`] of the same `B`, was not destroyed, and nothing else uses it during the call;
/// `error` is valid for [`put_error`].
#[inline]
unsafe fn enter<B: Backend>(
    instance: *mut c_void,
    error: *mut c::Error,
    entry: impl FnOnce(&mut Exported<B>) -> Result<i32, Error>,
) -> i32 {
    // SAFETY: the caller vouches for the pointer and for its being the only one.
    let Some(exported) = (unsafe { instance.cast::<Exported<B>>().as_mut() }) else {
        // SAFETY: the caller vouches for `error`.
        return unsafe { failed(error, &Error::usage("no instance was given")) };
    };
    if exported.state == State::Dead {
        let dead = Error::new(
            ErrorKind::Panic,
            "the plugin panicked before; this instance can no longer be used",
        );
        // SAFETY: the caller vouches for `error`.
        return unsafe { failed(error, &dead) };
    }
    let result = catch_unwind(AssertUnwindSafe(|| entry(exported)));
    match result {
        Ok(Ok(status)) => status,
        // SAFETY: the caller vouches for `error`.
        Ok(Err(ours)) => unsafe { failed(error, &ours) },
        Err(payload) => {
            exported.state = State::Dead;
            // SAFETY: the caller vouches for `error`.
            unsafe { failed(error, &panicked(payload)) }
        }
    }
}

/// # Safety
/// `error` is valid for [`put_error`].
#[cold]
unsafe fn failed(error: *mut c::Error, ours: &Error) -> i32 {
    // SAFETY: the caller vouches for it.
    unsafe { put_error(error, ours) };
    c::FLY_FAILED
}

#[cold]
fn panicked(payload: Box<dyn Any + Send>) -> Error {
    let message = payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".into());
    // Dropping the payload could panic again.
    std::mem::forget(payload);
    Error::new(ErrorKind::Panic, format!("the plugin panicked: {message}"))
}

unsafe extern "C" fn init(host: *const c::Host) {
    // SAFETY: the host passes a table that lives for ever, or null; `size` is its first field in every version.
    let Some(size) = (unsafe { host.cast::<usize>().as_ref() }) else {
        return;
    };
    if *size >= c::Host::FIRST {
        // SAFETY: as large as it says.
        let host = unsafe { growth::read(host, *size) };
        // A failure here only means that nothing is logged.
        let _ = catch_unwind(|| forward::install(host));
    }
}

unsafe extern "C" fn configure<B: Backend>(
    configuration: *const c::Configuration,
    instance: *mut *mut c_void,
    error: *mut c::Error,
) -> i32 {
    let result = catch_unwind(|| {
        // SAFETY: the host passes a configuration that is valid for this call, or null; `size` is its first field in
        // every version, and no more of it is looked at before that.
        let (Some(size), false) = (
            unsafe { configuration.cast::<usize>().as_ref() },
            instance.is_null(),
        ) else {
            return Err(Error::usage("no configuration was given"));
        };
        expect_size::<c::Configuration>("configuration", *size)?;
        // SAFETY: not null, valid, and as large as it says.
        let given = &unsafe { growth::read(configuration, *size) };
        let text = |text: c::Text| {
            // SAFETY: the host's texts are valid for this call.
            std::str::from_utf8(unsafe { text.bytes() })
                .map_err(|error| Error::configuration(error.to_string()))
        };
        let resolve = |offset: usize, path: &str| resolve_path(given, offset, path);
        let messages = forward::dispatch(given.instance);
        let _current = messages.as_ref().map(dispatcher::set_default);
        let backend = B::configure(&Configuration {
            text: text(given.text)?,
            vehicle: text(given.vehicle)?,
            rate_hz: given.rate_hz,
            seed: given.seed,
            armed: given.armed != 0,
            resolve: &resolve,
        })?;
        Ok(Box::into_raw(Box::new(Exported::new(
            backend,
            messages.clone(),
        ))))
    });
    let ours = match result {
        Ok(Ok(made)) => {
            // SAFETY: not null, checked above, and the host's to be written.
            unsafe { instance.write(made.cast()) };
            return c::FLY_OK;
        }
        Ok(Err(ours)) => ours,
        Err(payload) => panicked(payload),
    };
    // SAFETY: the host passes a valid error or null.
    unsafe { failed(error, &ours) }
}

// SAFETY: the pointers in it are the host's, which allows its callback to be called from any thread during `configure`.
unsafe impl Sync for c::Configuration {}

fn resolve_path(given: &c::Configuration, offset: usize, path: &str) -> Result<PathBuf, Error> {
    let Some(resolve) = given.resolve_path else {
        return Err(Error::unsupported("this host resolves no paths"));
    };
    let mut room = ErrorRoom::new();
    let mut buffer = vec![0_u8; 4096];
    for _ in 0..2 {
        let mut length = 0;
        let path = c::Text::new(path);
        // SAFETY: the host's function with the host's context; all else is ours and large enough.
        let status = unsafe {
            resolve(
                given.context,
                offset,
                path,
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                &raw mut length,
                room.lend(),
            )
        };
        match status {
            c::FLY_OK => {
                use std::os::unix::ffi::OsStrExt;
                buffer.truncate(length);
                return Ok(std::ffi::OsStr::from_bytes(&buffer).into());
            }
            c::FLY_NOTHING => buffer.resize(length, 0),
            status => return Err(room.take(status)),
        }
    }
    Err(Error::internal(
        "the host reports a different length of the path at every call",
    ))
}

unsafe extern "C" fn describe<B: Backend>(
    instance: *mut c_void,
    description: *mut c::Description,
    error: *mut c::Error,
) -> i32 {
    let entry = |exported: &mut Exported<B>| {
        // SAFETY: the host passes a description to be filled in, or null; `size` is its first field in every version.
        let size = *unsafe { description.cast::<usize>().as_ref() }
            .ok_or_else(|| Error::usage("no description was given"))?;
        expect_size::<c::Description>("description", size)?;
        let ours = c::Description {
            size,
            signals: exported.signals.as_ptr(),
            signal_count: exported.signals.len(),
            signal_size: size_of::<c::Signal>(),
            groups: exported.groups.as_ptr(),
            group_count: exported.groups.len(),
            wants_reference: exported.wants_reference,
            configuration: exported.configuration,
            starts_in_motion: exported.starts_in_motion.into(),
            control_began: exported.control_began.unwrap_or_default(),
            has_control_began: exported.control_began.is_some().into(),
        };
        // SAFETY: not null, the host's to be written, and as large as it says.
        unsafe { growth::write(&ours, description, size) };
        Ok(c::FLY_OK)
    };
    // SAFETY: the host passes its instance and error.
    unsafe { enter::<B>(instance, error, entry) }
}

unsafe extern "C" fn start<B: Backend>(instance: *mut c_void, error: *mut c::Error) -> i32 {
    let entry = |exported: &mut Exported<B>| {
        if exported.state != State::Configured {
            return Err(Error::usage("started twice"));
        }
        let _current = exported.messages.as_ref().map(dispatcher::set_default);
        exported.backend.start()?;
        exported.state = State::Started;
        if let Some(emergency) = exported.backend.emergency() {
            emergencies().insert(std::ptr::from_mut(exported).addr(), Arc::new(emergency));
        }
        Ok(c::FLY_OK)
    };
    // SAFETY: the host passes its instance and error.
    unsafe { enter::<B>(instance, error, entry) }
}

unsafe extern "C" fn read<B: Backend>(
    instance: *mut c_void,
    deadline: i64,
    frame: *mut c::Frame,
    error: *mut c::Error,
) -> i32 {
    let entry = |exported: &mut Exported<B>| {
        exported.expect_started("read")?;
        // SAFETY: the host passes a frame of its own, or null; `size` is its first field in every version.
        let size = *unsafe { frame.cast::<usize>().as_ref() }
            .ok_or_else(|| Error::usage("no frame was given"))?;
        expect_size::<c::Frame>("frame", size)?;
        // SAFETY: not null, valid, and as large as it says.
        let mut given = unsafe { growth::read(frame, size) };
        let groups = Groups::of(&given, exported.statuses.len())?;
        groups.fetch(&mut exported.statuses);
        let outcome = exported.backend.read(
            Deadline(deadline),
            &mut FrameMut {
                time: &mut given.time,
                // SAFETY: the host's array has this length, holds valid values and may be used during this call.
                values: unsafe { slice_mut(given.values, given.value_count) },
                groups: &mut exported.statuses,
            },
        );
        groups.store(&exported.statuses);
        // SAFETY: as above.
        unsafe { growth::write(&given, frame, size) };
        Ok(match outcome? {
            ReadOutcome::Fresh => c::FLY_OK,
            ReadOutcome::None => c::FLY_NOTHING,
            ReadOutcome::End => c::FLY_END,
        })
    };
    // SAFETY: the host passes its instance and error.
    unsafe { enter::<B>(instance, error, entry) }
}

unsafe extern "C" fn write<B: Backend>(
    instance: *mut c_void,
    time: i64,
    commands: *const f64,
    count: usize,
    error: *mut c::Error,
) -> i32 {
    let entry = |exported: &mut Exported<B>| {
        exported.expect_started("write")?;
        if count != exported.commands || (commands.is_null() && count > 0) {
            return Err(wrong_count(exported.commands, count));
        }
        let commands = match count {
            0 => &[],
            // SAFETY: not null, and the host's array has that length and may be used during this call.
            _ => unsafe { std::slice::from_raw_parts(commands, count) },
        };
        if let Some(index) = commands.iter().position(|command| !command.is_finite()) {
            return Err(not_finite(index, commands[index]));
        }
        exported.backend.write(time, commands)?;
        Ok(c::FLY_OK)
    };
    // SAFETY: the host passes its instance and error.
    unsafe { enter::<B>(instance, error, entry) }
}

/// Checks that a structure of the host has at least the fields of the first version.
fn expect_size<T: Grows>(what: &str, found: usize) -> Result<(), Error> {
    if found < T::FIRST {
        return Err(Error::usage(format!(
            "expected a {what} of at least {} bytes, found {found}",
            T::FIRST
        )));
    }
    Ok(())
}

#[cold]
fn wrong_count(expected: usize, found: usize) -> Error {
    Error::usage(format!("expected {expected} commands, found {found}"))
}

#[cold]
fn not_finite(index: usize, value: f64) -> Error {
    Error::usage(format!(
        "expected finite commands, found {value} for command {index}"
    ))
}

unsafe extern "C" fn stop<B: Backend>(instance: *mut c_void, error: *mut c::Error) -> i32 {
    // SAFETY: the host passes its instance and error.
    unsafe {
        enter::<B>(instance, error, |exported| {
            exported.stop().map(|()| c::FLY_OK)
        })
    }
}

unsafe extern "C" fn arm<B: Backend>(instance: *mut c_void, error: *mut c::Error) -> i32 {
    let entry = |exported: &mut Exported<B>| {
        exported.expect_started("arm")?;
        exported.backend.arm().map(|()| c::FLY_OK)
    };
    // SAFETY: the host passes its instance and error.
    unsafe { enter::<B>(instance, error, entry) }
}

unsafe extern "C" fn take_off<B: Backend>(
    instance: *mut c_void,
    height: f64,
    error: *mut c::Error,
) -> i32 {
    let entry = |exported: &mut Exported<B>| {
        exported.expect_started("take off")?;
        if !(height.is_finite() && height > 0.0) {
            return Err(Error::usage(format!(
                "expected a height above 0 m to take off to, found {height}"
            )));
        }
        exported.backend.take_off(height).map(|()| c::FLY_OK)
    };
    // SAFETY: the host passes its instance and error.
    unsafe { enter::<B>(instance, error, entry) }
}

unsafe extern "C" fn disarm<B: Backend>(instance: *mut c_void, error: *mut c::Error) -> i32 {
    let entry = |exported: &mut Exported<B>| {
        exported.expect_started("disarm")?;
        exported.backend.disarm().map(|()| c::FLY_OK)
    };
    // SAFETY: the host passes its instance and error.
    unsafe { enter::<B>(instance, error, entry) }
}

unsafe extern "C" fn request<B: Backend>(
    instance: *mut c_void,
    request: u32,
    error: *mut c::Error,
) -> i32 {
    let entry = |exported: &mut Exported<B>| {
        exported.expect_started("request")?;
        let request = request_from(request)
            .ok_or_else(|| Error::unsupported(format!("request {request} is unknown")))?;
        exported.backend.request(request).map(|()| c::FLY_OK)
    };
    // SAFETY: the host passes its instance and error.
    unsafe { enter::<B>(instance, error, entry) }
}

unsafe extern "C" fn report<B: Backend>(
    instance: *mut c_void,
    sink: *const c::ReportSink,
    error: *mut c::Error,
) -> i32 {
    let entry = |exported: &mut Exported<B>| {
        // SAFETY: the host passes a sink of its own, or null.
        if let Some(c::ReportSink {
            context,
            line: Some(line),
        }) = unsafe { sink.as_ref() }
        {
            for (name, value) in exported.backend.report() {
                // SAFETY: the host's function with the host's context; the texts outlive the call.
                unsafe { line(*context, c::Text::new(&name), c::Text::new(&value)) };
            }
        }
        Ok(c::FLY_OK)
    };
    // SAFETY: the host passes its instance and error.
    unsafe { enter::<B>(instance, error, entry) }
}

unsafe extern "C" fn poll<B: Backend>(instance: *mut c_void, error: *mut c::Error) -> i32 {
    let entry = |exported: &mut Exported<B>| {
        exported.expect_started("poll")?;
        Ok(match exported.backend.poll()? {
            Progress::Done => c::FLY_OK,
            Progress::Underway => c::FLY_NOTHING,
        })
    };
    // SAFETY: the host passes its instance and error.
    unsafe { enter::<B>(instance, error, entry) }
}

/// The instances' emergency functions, by instance address. They are kept outside the instances, which are in use by
/// another thread when an emergency function is needed.
static EMERGENCIES: Mutex<BTreeMap<usize, Arc<Emergency>>> = Mutex::new(BTreeMap::new());

fn emergencies() -> MutexGuard<'static, BTreeMap<usize, Arc<Emergency>>> {
    EMERGENCIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How often the functions are looked for while another instance starts or ends: some microseconds.
const ATTEMPTS: u32 = 10_000;

/// The same as [`emergencies`], which does not wait for long: `None` if they stay in use.
fn emergencies_at_once() -> Option<MutexGuard<'static, BTreeMap<usize, Arc<Emergency>>>> {
    (0..ATTEMPTS).find_map(|_| match EMERGENCIES.try_lock() {
        Ok(all) => Some(all),
        Err(TryLockError::Poisoned(all)) => Some(all.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::hint::spin_loop();
            None
        }
    })
}

unsafe extern "C" fn emergency(instance: *mut c_void, request: u32) -> i32 {
    // A signal may have interrupted the thread that holds the lock, which then never comes free.
    let emergency = emergencies_at_once().and_then(|all| all.get(&instance.addr()).cloned());
    let (Some(emergency), Some(request)) = (emergency, request_from(request)) else {
        return c::FLY_FAILED;
    };
    match catch_unwind(AssertUnwindSafe(|| emergency(request))) {
        Ok(true) => c::FLY_OK,
        Ok(false) | Err(_) => c::FLY_FAILED,
    }
}

unsafe extern "C" fn destroy<B: Backend>(instance: *mut c_void) {
    if instance.is_null() {
        return;
    }
    drop(emergencies().remove(&instance.addr()));
    // SAFETY: it came from `Box::into_raw` in `configure`, and the host destroys it once.
    let mut exported = unsafe { Box::from_raw(instance.cast::<Exported<B>>()) };
    // No channel remains on which to report a failure.
    let stopped =
        exported.state == State::Dead || catch_unwind(AssertUnwindSafe(|| exported.stop())).is_ok();
    if !stopped {
        exported.state = State::Dead;
    }
    let _ = catch_unwind(AssertUnwindSafe(|| drop(exported)));
}

/// # Safety
/// `data` is null or points to `length` values to which the caller has exclusive access for `'a`.
#[inline]
unsafe fn slice_mut<'a, T>(data: *mut T, length: usize) -> &'a mut [T] {
    if data.is_null() {
        return &mut [];
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { std::slice::from_raw_parts_mut(data, length) }
}

#[cfg(test)]
mod tests;

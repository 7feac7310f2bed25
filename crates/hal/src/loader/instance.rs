//! A configured instance of a plugin.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use super::calls::Under;
use super::log::Listener;
use super::{PluginInfo, host};
use crate::abi::code::{ErrorRoom, class_from, reference_from, request_code};
use crate::abi::growth::{self, Grows};
use crate::abi::{self, Text};
use crate::{
    Backend, Class, Clock, Configuration, Deadline, Description, Error, Frame, GroupStatus,
    Progress, ReadOutcome, Request, Signal,
};

/// A configured instance of a plugin: the host's end of a [`Backend`], with the same functions.
///
/// Its `tracing` messages, from any of its threads, go to the subscriber that was current when it was configured or
/// when [`listen`](Self::listen) was last called. Dropping it ends it, whether or not it was stopped.
#[derive(Debug)]
pub struct Instance {
    table: Arc<abi::Plugin>,
    info: Arc<PluginInfo>,
    armed: bool,
    /// `None` for a backend of this program, whose messages go to the caller's subscriber.
    listener: Option<Listener>,
    handle: NonNull<c_void>,
    description: Description,
    values: usize,
    /// Status of the frame's groups during a read.
    groups: Vec<abi::GroupStatus>,
    errors: ErrorRoom,
    emergency: Arc<Line>,
}

// SAFETY: the ABI allows an instance to be used from any thread, one at a time, which `&mut` ensures.
unsafe impl Send for Instance {}

/// Calls an entry that exists, which `open` has checked, or an optional one.
macro_rules! call {
    ($self:ident.$entry:ident($($argument:expr),*)) => {
        call!($self.$entry($($argument),*), abi::FLY_OK)
    };
    // With the largest status that the entry returns if it does not fail.
    ($self:ident.$entry:ident($($argument:expr),*), $most:expr) => {{
        let _call = Under::call($self.info.name.as_bytes());
        match $self.table.$entry {
            // SAFETY: an entry of the plugin's table, with the live instance that its `configure` made, and arguments
            // of ours that outlive the call.
            Some(entry) => match unsafe { entry($self.handle.as_ptr(), $($argument,)* $self.errors.lend()) } {
                status if (abi::FLY_OK..=$most).contains(&status) => Ok(status),
                status if status < 0 => Err($self.errors.take(status)),
                status => Err(no_status(stringify!($entry), status)),
            },
            None => Err(Error::unsupported(concat!("the plugin has no function `", stringify!($entry), "`"))),
        }
    }};
}

impl Instance {
    pub(super) fn configure(
        table: Arc<abi::Plugin>,
        info: Arc<PluginInfo>,
        configuration: &Configuration,
    ) -> Result<Self, Error> {
        let mut errors = ErrorRoom::new();
        let listener = Listener::new();
        let given = host::lend(configuration, listener.instance());
        let mut handle = std::ptr::null_mut();
        let Some(entry) = table.configure else {
            return Err(Error::internal("the plugin cannot be configured"));
        };
        let call = Under::call(info.name.as_bytes());
        // SAFETY: an entry of the plugin's table; all arguments are ours and outlive the call.
        let status = unsafe { entry(&raw const given, &raw mut handle, errors.lend()) };
        drop(call);
        if status < 0 {
            return Err(errors.take(status));
        }
        if status != abi::FLY_OK {
            return Err(no_status("configure", status));
        }
        let handle =
            NonNull::new(handle).ok_or_else(|| Error::internal("the plugin gave no instance"))?;
        Self {
            table,
            info,
            armed: configuration.armed,
            listener: Some(listener),
            handle,
            description: Description::default(),
            values: 0,
            groups: Vec::new(),
            errors,
            emergency: Arc::default(),
        }
        .described()
    }

    /// Creates an instance of a backend that is part of this program: the same lifecycle checks, without a library.
    ///
    /// # Errors
    /// The backend's description has sizes, classes or indices that cannot be; [`Description::faults`] tells wrong names and units.
    pub fn of<B: Backend + 'static>(backend: B) -> Result<Self, Error> {
        Self {
            table: Arc::new(abi::export::table::<B>()),
            info: Arc::new(PluginInfo::of::<B>()),
            armed: false,
            listener: None,
            handle: abi::export::own(backend),
            description: Description::default(),
            values: 0,
            groups: Vec::new(),
            errors: ErrorRoom::new(),
            emergency: Arc::default(),
        }
        .described()
    }

    /// From now on, its messages go to the subscriber that is current at this call.
    pub fn listen(&self) {
        if let Some(listener) = &self.listener {
            listener.listen();
        }
    }

    /// The same instance, allowed to arm and command a real vehicle.
    #[must_use]
    pub fn armed(mut self) -> Self {
        self.armed = true;
        self
    }

    fn described(mut self) -> Result<Self, Error> {
        self.emergency = Arc::new(Line {
            live: Mutex::new(Some(Live {
                table: Arc::clone(&self.table),
                handle: self.handle,
            })),
            ..Line::default()
        });
        self.description = self.describe()?;
        self.values = self.description.frame_signals().count();
        self.groups = vec![abi::GroupStatus::default(); self.description.groups.len()];
        Ok(self)
    }

    /// Reads the description and checks its numbers, so that no index can be out of range later.
    fn describe(&mut self) -> Result<Description, Error> {
        let mut given = abi::Description {
            size: size_of::<abi::Description>(),
            signals: std::ptr::null(),
            signal_count: 0,
            signal_size: 0,
            groups: std::ptr::null(),
            group_count: 0,
            wants_reference: abi::FLY_REFERENCE_CONFIGURED,
            configuration: Text::new(""),
            starts_in_motion: 0,
            control_began: 0,
            has_control_began: 0,
        };
        call!(self.describe(&raw mut given))?;
        expect_array("signals", given.signals, given.signal_count)?;
        expect_array("groups", given.groups, given.group_count)?;
        let size = given.signal_size;
        expect_size(
            "signals",
            size,
            abi::Signal::FIRST,
            align_of::<abi::Signal>(),
        )?;
        // SAFETY: what the plugin fills in lives until `destroy`; the arrays are there and of a possible size, the elements of the
        // size that the plugin says.
        let (signals, groups) = unsafe {
            (
                (0..given.signal_count).map(|index| {
                    growth::read(growth::element(given.signals.cast_mut(), index, size), size)
                }),
                slice(given.groups, given.group_count),
            )
        };
        let signals = signals.map(|signal| {
            // SAFETY: as above.
            let (name, unit) = unsafe {
                (
                    signal.name.lossy().into_owned(),
                    signal.unit.lossy().into_owned(),
                )
            };
            let class = class_from(signal.class_).ok_or_else(|| {
                Error::internal(format!(
                    "the plugin's signal `{name}` has class {}",
                    signal.class_
                ))
            })?;
            let group = (signal.group != abi::FLY_NO_GROUP).then_some(signal.group as usize);
            match group {
                Some(group) if group >= groups.len() => Err(Error::internal(format!(
                    "the plugin's signal `{name}` is in group {group} of {}",
                    groups.len()
                ))),
                None if class != Class::Command => Err(Error::internal(format!(
                    "the plugin's signal `{name}` is in no group"
                ))),
                group => Ok(Signal {
                    name,
                    unit,
                    class,
                    group,
                }),
            }
        });
        Ok(Description {
            signals: signals.collect::<Result<_, _>>()?,
            // SAFETY: as above.
            groups: groups
                .iter()
                .map(|name: &Text| unsafe { name.lossy() }.into_owned())
                .collect(),
            wants_reference: reference_from(given.wants_reference).ok_or_else(|| {
                Error::internal(format!(
                    "unknown reference source {}; expected 0 to {}",
                    given.wants_reference,
                    abi::FLY_REFERENCE_RECORDED
                ))
            })?,
            // SAFETY: as above.
            configuration: Some(unsafe { given.configuration.lossy() }.into_owned())
                .filter(|text| !text.is_empty()),
            starts_in_motion: given.starts_in_motion != 0,
            control_began: (given.has_control_began != 0).then_some(given.control_began),
        })
    }

    /// Name, version and clock of the plugin.
    pub fn info(&self) -> &PluginInfo {
        &self.info
    }

    /// Its clock.
    pub fn clock(&self) -> Clock {
        self.info.clock
    }

    /// Whether the user allowed a real vehicle to be armed and commanded.
    pub fn is_armed(&self) -> bool {
        self.armed
    }

    /// The signals; they never change.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Opens links and waits for the vehicle.
    ///
    /// # Errors
    /// The vehicle or its recording cannot be reached, or it was started before.
    pub fn start(&mut self) -> Result<(), Error> {
        call!(self.start()).map(drop)
    }

    /// Waits for the next tick, at most until the deadline, and fills in new data. Allocates only on failure.
    ///
    /// # Errors
    /// The plugin's own, or the frame's size differs from this instance's.
    pub fn read(&mut self, deadline: Deadline, frame: &mut Frame) -> Result<ReadOutcome, Error> {
        // The plugin writes to these arrays, so their sizes are checked whatever the caller passes.
        if frame.values.len() != self.values || frame.groups.len() != self.description.groups.len()
        {
            return Err(self.wrong_frame(frame));
        }
        for (ours, status) in self.groups.iter_mut().zip(&frame.groups) {
            *ours = abi::GroupStatus {
                stamp: status.stamp,
                valid: u8::from(status.valid),
            };
        }
        let mut given = abi::Frame {
            size: size_of::<abi::Frame>(),
            time: frame.time,
            values: frame.values.as_mut_ptr(),
            value_count: frame.values.len(),
            groups: self.groups.as_mut_ptr(),
            group_count: self.groups.len(),
            group_size: size_of::<abi::GroupStatus>(),
        };
        let status = call!(self.read(deadline.0, &raw mut given), abi::FLY_END);
        for (status, ours) in frame.groups.iter_mut().zip(&self.groups) {
            *status = GroupStatus {
                stamp: ours.stamp,
                valid: ours.valid != 0,
            };
        }
        frame.time = given.time;
        match status? {
            abi::FLY_OK => Ok(ReadOutcome::Fresh),
            abi::FLY_END => Ok(ReadOutcome::End),
            _ => Ok(ReadOutcome::None),
        }
    }

    /// Sends the commands for the frame at that time. Does not allocate unless it fails.
    ///
    /// # Errors
    /// The plugin's own: wrong number of commands, a command that is not finite, or a broken link.
    pub fn write(&mut self, time: i64, commands: &[f64]) -> Result<(), Error> {
        call!(self.write(time, commands.as_ptr(), commands.len())).map(drop)
    }

    /// Releases the vehicle. A second call does nothing.
    ///
    /// # Errors
    /// The vehicle could not be released.
    pub fn stop(&mut self) -> Result<(), Error> {
        call!(self.stop()).map(drop)
    }

    /// Begins to arm the vehicle; [`poll`](Self::poll) returns the progress. A plugin without `poll` returns when it is
    /// done.
    ///
    /// # Errors
    /// The vehicle refused, or there is nothing to arm.
    pub fn arm(&mut self) -> Result<(), Error> {
        call!(self.arm()).map(drop)
    }

    /// Begins to climb to `height` m above the armed vehicle's position on the ground, and to hold there.
    ///
    /// # Errors
    /// The vehicle refused or cannot take off by itself, or the height is not above 0.
    pub fn take_off(&mut self, height: f64) -> Result<(), Error> {
        call!(self.take_off(height)).map(drop)
    }

    /// Begins to disarm the vehicle.
    ///
    /// # Errors
    /// The vehicle refused, or there is nothing to disarm.
    pub fn disarm(&mut self) -> Result<(), Error> {
        call!(self.disarm()).map(drop)
    }

    /// Begins to ask the vehicle to carry out an action by itself.
    ///
    /// # Errors
    /// The vehicle refused, or cannot do this.
    pub fn request(&mut self, request: Request) -> Result<(), Error> {
        call!(self.request(request_code(request))).map(drop)
    }

    /// Progress of the last [`arm`](Self::arm), [`take_off`](Self::take_off), [`disarm`](Self::disarm) or
    /// [`request`](Self::request).
    ///
    /// # Errors
    /// The vehicle refused.
    pub fn poll(&mut self) -> Result<Progress, Error> {
        if self.table.poll.is_none() {
            return Ok(Progress::Done);
        }
        Ok(match call!(self.poll(), abi::FLY_NOTHING)? {
            abi::FLY_OK => Progress::Done,
            _ => Progress::Underway,
        })
    }

    /// Returns a line that reaches the vehicle from another thread while a call hangs; `None` if the plugin has none.
    pub fn emergency(&self) -> Option<EmergencyLine> {
        self.table.emergency?;
        Some(EmergencyLine(Arc::clone(&self.emergency)))
    }

    /// Whether the vehicle was asked to land over an [emergency line](Self::emergency): it is to be sent no more
    /// commands.
    pub fn is_landing_in_an_emergency(&self) -> bool {
        self.emergency.is_landing.load(Ordering::Acquire)
    }

    /// From now on no [emergency line](Self::emergency) of this instance reaches the vehicle: another pilot or program
    /// has control of it. Does not wait for a request that is under way.
    pub fn release_control(&self) {
        self.emergency.is_released.store(true, Ordering::Release);
    }

    /// Lines for the summary after a flight; empty if the plugin has none or fails.
    pub fn report(&mut self) -> Vec<(String, String)> {
        let mut lines: Vec<(String, String)> = Vec::new();
        let sink = abi::ReportSink {
            context: (&raw mut lines).cast(),
            line: Some(take_line),
        };
        if self.table.report.is_some()
            && let Err(error) = call!(self.report(&raw const sink))
        {
            tracing::warn!(%error, "the plugin's report failed");
        }
        lines
    }

    #[cold]
    fn wrong_frame(&self, frame: &Frame) -> Error {
        Error::usage(format!(
            "expected a frame of {} values and {} groups, found {} and {}",
            self.values,
            self.description.groups.len(),
            frame.values.len(),
            frame.groups.len()
        ))
    }
}

/// Reaches the vehicle of an [`Instance`] from another thread while a call of the instance hangs.
#[derive(Debug, Clone)]
pub struct EmergencyLine(Arc<Line>);

#[derive(Debug, Default)]
struct Line {
    /// Whether no more requests are to be sent.
    is_released: AtomicBool,
    /// Whether the vehicle was asked to land.
    is_landing: AtomicBool,
    /// Locked during a request; `None` once the instance is destroyed.
    live: Mutex<Option<Live>>,
}

/// An instance that has not been destroyed.
#[derive(Debug)]
struct Live {
    table: Arc<abi::Plugin>,
    handle: NonNull<c_void>,
}

// SAFETY: only `emergency` is called with the handle, which the ABI allows from any thread.
unsafe impl Send for Live {}

impl EmergencyLine {
    /// Asks the vehicle to carry out an action by itself. Returns whether the request was sent.
    pub fn request(&self, request: Request) -> bool {
        let live = self.0.live.lock();
        self.send(
            live.unwrap_or_else(PoisonError::into_inner).as_ref(),
            request,
        )
    }

    /// The same without blocking, for handlers that may interrupt the very thread that uses the line. Returns false if
    /// the line is in use.
    pub fn try_request(&self, request: Request) -> bool {
        let live = match self.0.live.try_lock() {
            Ok(live) => live,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        self.send(live.as_ref(), request)
    }

    /// The caller holds the lock.
    fn send(&self, live: Option<&Live>, request: Request) -> bool {
        let live = live.filter(|_| !self.0.is_released.load(Ordering::Acquire));
        let is_sent = live.is_some_and(|live| live.request(request));
        if is_sent && request == Request::Land {
            self.0.is_landing.store(true, Ordering::Release);
        }
        is_sent
    }
}

/// How often and how long a line that is closed waits for a request to return.
const WAITS: u32 = 100;
const WAIT: Duration = Duration::from_millis(10);

impl Line {
    /// Takes the handle away. Returns false if a request that is under way does not return.
    fn close(&self) -> bool {
        self.is_released.store(true, Ordering::Release);
        for _ in 0..WAITS {
            match self.live.try_lock() {
                Ok(mut live) => {
                    live.take();
                    return true;
                }
                Err(TryLockError::Poisoned(error)) => {
                    error.into_inner().take();
                    return true;
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT),
            }
        }
        false
    }
}

impl Live {
    /// Returns whether the request was sent. The caller holds the lock.
    fn request(&self, request: Request) -> bool {
        let Some(entry) = self.table.emergency else {
            return false;
        };
        // SAFETY: an entry of the plugin's table with an instance that is not destroyed while the lock is held.
        unsafe { entry(self.handle.as_ptr(), request_code(request)) == abi::FLY_OK }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // From now on nothing else has the handle.
        if !self.emergency.close() {
            let name = &self.info.name;
            tracing::error!(
                "the plugin `{name}` does not return from an emergency and is left as it is"
            );
            return;
        }
        if let Some(destroy) = self.table.destroy {
            let _call = Under::call(self.info.name.as_bytes());
            // SAFETY: an entry of the plugin's table with the instance that its `configure` made, for the last time.
            unsafe { destroy(self.handle.as_ptr()) };
        }
    }
}

unsafe extern "C" fn take_line(context: *mut c_void, name: Text, value: Text) {
    // SAFETY: the context is the vector in `report`, which nobody else uses while the plugin reports.
    if let Some(lines) = unsafe { context.cast::<Vec<(String, String)>>().as_mut() } {
        // SAFETY: the plugin's texts are valid for this call.
        let (name, value) = unsafe { (name.lossy().into_owned(), value.lossy().into_owned()) };
        lines.push((name, value));
    }
}

/// More signals than any vehicle has; a larger number indicates uninitialised memory.
const MOST: usize = 1 << 16;

/// A plugin that returns an `errno`, for instance, has not done what it was asked.
fn no_status(entry: &str, status: i32) -> Error {
    Error::internal(format!(
        "`{entry}` returned {status}, which means nothing: expected `FLY_OK` (0), or `FLY_FAILED` (-1) with an error"
    ))
}

/// Checks length and pointer of an array before the pointer is used.
fn expect_array<T>(what: &str, data: *const T, length: usize) -> Result<(), Error> {
    if length > MOST {
        return Err(Error::internal(format!(
            "the plugin describes {length} {what}, expected at most {MOST}"
        )));
    }
    if length > 0 && (data.is_null() || !data.is_aligned()) {
        return Err(Error::internal(format!(
            "the plugin describes {length} {what}, but its array of them is {}",
            if data.is_null() {
                "null"
            } else {
                "not aligned"
            }
        )));
    }
    Ok(())
}

/// Checks the size of an array's elements before iterating over it.
fn expect_size(what: &str, found: usize, first: usize, align: usize) -> Result<(), Error> {
    if found < first || !found.is_multiple_of(align) || found > MOST {
        return Err(Error::internal(format!(
            "the plugin describes {what} of {found} bytes each, expected at least {first} in steps of {align}"
        )));
    }
    Ok(())
}

/// # Safety
/// `data` is null or points to `length` values that nobody changes for `'a`.
unsafe fn slice<'a, T>(data: *const T, length: usize) -> &'a [T] {
    if data.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { std::slice::from_raw_parts(data, length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_that_cannot_be_there_are_refused() {
        let one = [0_u64; 2];
        let check = |data, length| {
            expect_array::<u64>("signals", data, length).map_err(|error| error.message)
        };
        assert_eq!(check(one.as_ptr(), 2), Ok(()));
        assert_eq!(check(std::ptr::null(), 0), Ok(()));
        for (data, length, expected) in [
            (
                std::ptr::null(),
                2,
                "the plugin describes 2 signals, but its array of them is null",
            ),
            (
                one.as_ptr().wrapping_byte_add(1),
                1,
                "the plugin describes 1 signals, but its array of them is not aligned",
            ),
            (
                one.as_ptr(),
                65537,
                "the plugin describes 65537 signals, expected at most 65536",
            ),
        ] {
            assert_eq!(check(data, length), Err(expected.to_owned()));
        }
    }

    #[test]
    fn elements_of_an_impossible_size_are_refused() {
        for (found, fits) in [
            (40, true),
            (48, true),
            (39, false),
            (0, false),
            (44, false),
            (usize::MAX, false),
        ] {
            assert_eq!(
                expect_size("signals", found, 40, 8).is_ok(),
                fits,
                "{found}"
            );
        }
    }
}

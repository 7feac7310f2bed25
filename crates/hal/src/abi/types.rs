//! The types and constants of the ABI. The C header is made from this file.

use std::ffi::{c_char, c_void};

/// First eight bytes of every table.
pub const FLY_MAGIC: [u8; 8] = *b"FLYPLUG\0";
/// Major version of this ABI: plugins of another one are refused.
pub const FLY_ABI_MAJOR: u32 = 3;
/// Grows with every addition to the end of a structure.
pub const FLY_ABI_MINOR: u32 = 4;
/// Name of the function that a plugin exports: `const FlyPlugin *fly_plugin(void)`.
pub const FLY_SYMBOL: &str = "fly_plugin";

/// Done; of `read`: the frame is fresh.
pub const FLY_OK: i32 = 0;
/// Of `read`: a tick passed without new data.
pub const FLY_NOTHING: i32 = 1;
/// Of `read`: there will be no more frames.
pub const FLY_END: i32 = 2;
/// It failed and the error is filled in. Every other negative status means the same.
pub const FLY_FAILED: i32 = -1;

/// `FlyPlugin.clock`: time advances when the backend is read.
pub const FLY_CLOCK_STEPPED: u32 = 0;
/// `FlyPlugin.clock`: wall-clock time, a read waits until its deadline.
pub const FLY_CLOCK_REAL_TIME: u32 = 1;

/// `FlySignal.class_`: from the vehicle, enters the state.
pub const FLY_CLASS_MEASUREMENT: u32 = 0;
/// `FlySignal.class_`: to the vehicle.
pub const FLY_CLASS_COMMAND: u32 = 1;
/// `FlySignal.class_`: from the backend, not used by the control law.
pub const FLY_CLASS_AUXILIARY: u32 = 2;
/// `FlySignal.group` of a command.
pub const FLY_NO_GROUP: u32 = u32::MAX;

/// `FlyDescription.wants_reference`: the reference comes from the configuration.
pub const FLY_REFERENCE_CONFIGURED: u32 = 0;
/// `FlyDescription.wants_reference`: the reference comes from the backend's `setpoint.*` signals.
pub const FLY_REFERENCE_RECORDED: u32 = 1;

/// `FlyError.kind`: anything else.
pub const FLY_ERROR_INTERNAL: u32 = 0;
/// `FlyError.kind`: the configuration or the vehicle is invalid.
pub const FLY_ERROR_CONFIGURATION: u32 = 1;
/// `FlyError.kind`: not supported by this backend.
pub const FLY_ERROR_UNSUPPORTED: u32 = 2;
/// `FlyError.kind`: called at the wrong time or with the wrong sizes.
pub const FLY_ERROR_USAGE: u32 = 3;
/// `FlyError.kind`: a file, port or socket failed.
pub const FLY_ERROR_IO: u32 = 4;
/// `FlyError.kind`: timeout.
pub const FLY_ERROR_TIMEOUT: u32 = 5;
/// `FlyError.kind`: the peer violated the protocol.
pub const FLY_ERROR_PROTOCOL: u32 = 6;
/// `FlyError.kind`: the vehicle refused.
pub const FLY_ERROR_REFUSED: u32 = 7;
/// `FlyError.kind`: the plugin panicked; only `destroy` may follow.
pub const FLY_ERROR_PANIC: u32 = 8;

/// `FlyError.text`: the error has no location in a text.
pub const FLY_TEXT_NONE: u32 = 0;
/// `FlyError.text`: the location is in `FlyConfiguration.text`.
pub const FLY_TEXT_CONFIGURATION: u32 = 1;
/// `FlyError.text`: the location is in `FlyConfiguration.vehicle`.
pub const FLY_TEXT_VEHICLE: u32 = 2;

/// `request`: land where it is. (0 was to take off, which has been a function of its own since 3.2.)
pub const FLY_REQUEST_LAND: u32 = 1;
/// `request`: hold position and attitude.
pub const FLY_REQUEST_HOLD: u32 = 2;
/// `request`: stop the motors at once.
pub const FLY_REQUEST_TERMINATE: u32 = 3;

/// Level of a log message: something failed.
pub const FLY_LEVEL_ERROR: u32 = 1;
/// Level of a log message: something is not as it should be.
pub const FLY_LEVEL_WARN: u32 = 2;
/// Level of a log message: what the user wants to know.
pub const FLY_LEVEL_INFO: u32 = 3;
/// Level of a log message: what a developer wants to know.
pub const FLY_LEVEL_DEBUG: u32 = 4;
/// Level of a log message: everything.
pub const FLY_LEVEL_TRACE: u32 = 5;

/// UTF-8 text, owned by the side that passes it; not terminated by a zero.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Text {
    /// Its first byte; may be null where `length` is 0.
    pub data: *const c_char,
    /// Its length in bytes.
    pub length: usize,
}

/// Status of the signals of one group in a frame.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupStatus {
    /// When it was measured, ns, on the clock of the frame's time; never later than that.
    pub stamp: i64,
    /// Whether the values are valid, 0 or 1: 0 until the first measurement and while the sensor is known to be lost. Whatever is
    /// not 0 counts as 1.
    pub valid: u8,
}

/// One tick's values. The memory belongs to the host and is valid during the call. It holds what the last
/// read left there; what is not new stays as it is.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Size of this structure in bytes, as the host knows it.
    pub size: usize,
    /// Time of the tick, ns.
    pub time: i64,
    /// Values of the measurements and auxiliary signals, in declared order.
    pub values: *mut f64,
    /// How many: always as many as were declared.
    pub value_count: usize,
    /// Status of each group, in declared order, `group_size` bytes apart.
    pub groups: *mut GroupStatus,
    /// How many: always as many as were declared.
    pub group_count: usize,
    /// Size of a `FlyGroupStatus` in bytes, as the host knows it.
    pub group_size: usize,
}

/// Where a function says why it failed. The host fills in `buffer` and `capacity`, the function everything else, and
/// only when it fails. It may be null: then the error is dropped.
#[repr(C)]
#[derive(Debug)]
pub struct Error {
    /// One of `FLY_ERROR_*`.
    pub kind: u32,
    /// The text of the location: one of `FLY_TEXT_*`.
    pub text: u32,
    /// First byte of the location in that text.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// Where the message goes, and right after it the help: UTF-8, without terminating zeros.
    pub buffer: *mut c_char,
    /// Size of the buffer in bytes. What does not fit is cut off.
    pub capacity: usize,
    /// Bytes of the message: what was expected, what was found.
    pub message_length: usize,
    /// Bytes of the help: what the user may try. May be 0.
    pub help_length: usize,
}

/// A signal: one number that the backend measures or takes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Signal {
    /// Canonical name, such as `pose.position.x`.
    pub name: Text,
    /// Unit, such as `m/s`; `1` where there is none.
    pub unit: Text,
    /// One of `FLY_CLASS_*`.
    pub class_: u32,
    /// Index of its group; `FLY_NO_GROUP` for commands.
    pub group: u32,
}

/// The signals of a configured instance. The plugin fills it in, but for `size`; what it points to lives until `destroy`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// Size of this structure in bytes, as the host knows it: nothing is written beyond it.
    pub size: usize,
    /// All signals, `signal_size` bytes apart. A frame's values are the measurements and auxiliary signals in this order, a
    /// write's values the commands in this order.
    pub signals: *const Signal,
    /// How many.
    pub signal_count: usize,
    /// Size of a `FlySignal` in bytes, as the plugin knows it.
    pub signal_size: usize,
    /// Names of the groups: the name of a signal without its last component, but `recorded` for all recorded commands.
    pub groups: *const Text,
    /// How many.
    pub group_count: usize,
    /// The source of the reference: one of `FLY_REFERENCE_*`.
    pub wants_reference: u32,
    /// The configuration of a recorded flight, as a TOML document; empty where there is none.
    pub configuration: Text,
    /// Since 3.3. Whether the vehicle moves already when the flight begins, 0 or 1: its actuators do what the first commands ask from
    /// the start, while those of a vehicle at rest still have to spin up. Whatever is not 0 counts as 1.
    pub starts_in_motion: u8,
    /// Since 3.4. When control of the recorded flight began, ns on the clock of the frames, if that is not its first frame: the reference of
    /// the configuration is evaluated from then on, not from the first command, and frames before then are not controlled. Only beside a
    /// `configuration`.
    pub control_began: i64,
    /// Since 3.4. Whether `control_began` is set, 0 or 1. Whatever is not 0 counts as 1.
    pub has_control_began: u8,
}

/// The configuration of an instance. Valid during `configure`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Configuration {
    /// Size of this structure in bytes, as the host knows it.
    pub size: usize,
    /// The plugin's own table as a TOML document.
    pub text: Text,
    /// The vehicle as a TOML document.
    pub vehicle: Text,
    /// Rate of the control loop, Hz.
    pub rate_hz: f64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Whether the user allowed a real vehicle to be armed and commanded: 0 or 1.
    pub armed: u8,
    /// What the host calls the instance that is being made: to be handed to `FlyHost.log`. Never 0.
    pub instance: u64,
    /// Argument of `resolve_path`.
    pub context: *mut c_void,
    /// Finds the file that a path in `text` means; `offset` is where in the text the path stands. Writes the absolute
    /// path (not terminated) into `buffer` and its length into `length`. Where the buffer is too small it returns
    /// `FLY_NOTHING` and sets `length` to what is needed. Only valid during `configure`, from any thread.
    pub resolve_path: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            offset: usize,
            path: Text,
            buffer: *mut c_char,
            capacity: usize,
            length: *mut usize,
            error: *mut Error,
        ) -> i32,
    >,
}

/// What the host does for plugins. Lives for ever; its functions may be called from any thread, never unwind and
/// return soon.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Host {
    /// Size of this structure in bytes, as the host knows it.
    pub size: usize,
    /// Whether anybody wants messages of that level (`FLY_LEVEL_*`) and target (a dotted or `::` path, such as the
    /// plugin's name): 0 or 1. `instance` is `FlyConfiguration.instance`, or 0 for the one that is being called.
    pub log_enabled: Option<unsafe extern "C" fn(instance: u64, level: u32, target: Text) -> u8>,
    /// Takes a message of an instance for the log of its flight.
    pub log: Option<unsafe extern "C" fn(instance: u64, level: u32, target: Text, message: Text)>,
}

/// Receives the lines of a report: one call each.
#[repr(C)]
#[derive(Debug)]
pub struct ReportSink {
    /// Argument of `line`.
    pub context: *mut c_void,
    /// Takes one line, a name and a value.
    pub line: Option<unsafe extern "C" fn(context: *mut c_void, name: Text, value: Text)>,
}

/// The table that a plugin exports. All functions return a status: `FLY_OK`, of `read` also `FLY_NOTHING` and
/// `FLY_END`, of `poll` also `FLY_NOTHING`, or `FLY_FAILED` with the error filled in. Any other status, such as an `errno`, is
/// a failure. `instance` is what `configure` gave.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Plugin {
    /// `FLY_MAGIC`. This field and the next two are the same in every version of the ABI.
    pub magic: [u8; 8],
    /// `FLY_ABI_MAJOR` that the plugin was built with.
    pub major: u32,
    /// `FLY_ABI_MINOR` that the plugin was built with.
    pub minor: u32,
    /// Size of this table in bytes, as the plugin knows it.
    pub size: usize,

    /// Name of the backend, as in `[backend] plugin = "name"`.
    pub name: Text,
    /// Version of the plugin.
    pub version: Text,
    /// One-line summary.
    pub summary: Text,
    /// Patterns of the signals that it may have, separated by spaces.
    pub signals: Text,
    /// Its clock: one of `FLY_CLOCK_*`.
    pub clock: u32,

    /// Called once after loading, before everything else. May be null.
    pub init: Option<unsafe extern "C" fn(host: *const Host)>,
    /// Makes an instance. Accesses nothing but the files that the texts name.
    pub configure: Option<
        unsafe extern "C" fn(
            configuration: *const Configuration,
            instance: *mut *mut c_void,
            error: *mut Error,
        ) -> i32,
    >,
    /// Describes the signals; they never change.
    pub describe: Option<
        unsafe extern "C" fn(
            instance: *mut c_void,
            description: *mut Description,
            error: *mut Error,
        ) -> i32,
    >,
    /// Opens links and waits for the vehicle. Called at most once.
    pub start: Option<unsafe extern "C" fn(instance: *mut c_void, error: *mut Error) -> i32>,
    /// Waits for the next tick, never past `deadline` (ns of `CLOCK_MONOTONIC`), and fills in what is new. Refused
    /// before `start` and after `stop`.
    pub read: Option<
        unsafe extern "C" fn(
            instance: *mut c_void,
            deadline: i64,
            frame: *mut Frame,
            error: *mut Error,
        ) -> i32,
    >,
    /// Takes the commands that answer the frame of that time, in declared order. Refused before `start`, after `stop`,
    /// and when `count` is not the number of commands.
    pub write: Option<
        unsafe extern "C" fn(
            instance: *mut c_void,
            time: i64,
            commands: *const f64,
            count: usize,
            error: *mut Error,
        ) -> i32,
    >,
    /// Releases the vehicle. May be called twice and without `start`; the second call does nothing.
    pub stop: Option<unsafe extern "C" fn(instance: *mut c_void, error: *mut Error) -> i32>,
    /// Arms the vehicle. May be null: nothing to arm.
    pub arm: Option<unsafe extern "C" fn(instance: *mut c_void, error: *mut Error) -> i32>,
    /// Disarms the vehicle. May be null: nothing to disarm.
    pub disarm: Option<unsafe extern "C" fn(instance: *mut c_void, error: *mut Error) -> i32>,
    /// Asks the vehicle to do something by itself: one of `FLY_REQUEST_*`. May be null: it cannot.
    pub request:
        Option<unsafe extern "C" fn(instance: *mut c_void, request: u32, error: *mut Error) -> i32>,
    /// Gives lines for the summary after a flight. May be null: none.
    pub report: Option<
        unsafe extern "C" fn(
            instance: *mut c_void,
            sink: *const ReportSink,
            error: *mut Error,
        ) -> i32,
    >,
    /// Ends an instance, stopped or not, failed or not. Nothing follows.
    pub destroy: Option<unsafe extern "C" fn(instance: *mut c_void)>,

    /// Since 3.1; may be null. How far the last `arm`, `take_off`, `disarm` or `request` is, which then only begin what they are asked for: `FLY_OK`
    /// done (of a landing: the vehicle continues by itself from here), `FLY_NOTHING` under way, for some seconds at most, `FLY_FAILED`
    /// refused. Never waits. Without it they return when it is done.
    pub poll: Option<unsafe extern "C" fn(instance: *mut c_void, error: *mut Error) -> i32>,
    /// Since 3.1; may be null. Asks the vehicle to do something by itself, one of `FLY_REQUEST_*`, from another thread while a call of
    /// the same instance does not return, or from the handler of a signal by which the process crashes. Never waits, also not for what that call holds. `FLY_OK` if the request went out.
    pub emergency: Option<unsafe extern "C" fn(instance: *mut c_void, request: u32) -> i32>,
    /// Since 3.2; may be null: it cannot take off by itself. Begins to climb to `height` m above where the armed vehicle stands, and to
    /// hold there until commands come; `poll` tells when it is there.
    pub take_off:
        Option<unsafe extern "C" fn(instance: *mut c_void, height: f64, error: *mut Error) -> i32>,
}

// SAFETY: a table is constant data: functions, numbers and pointers to constant text.
unsafe impl Sync for Plugin {}
// SAFETY: as above.
unsafe impl Send for Plugin {}

/* The boundary between fly and its plugins.
 *
 * A plugin is a shared library that exports one function, `const FlyPlugin *fly_plugin(void)`, which returns a constant
 * table. crates/hal/README.md explains how to write one; crates/hal/tests/c_backend/point_mass.c is one.
 *
 * Generated from crates/hal/src/abi/types.rs by `cargo xtask generate`: do not edit. */

#ifndef FLY_PLUGIN_H
#define FLY_PLUGIN_H


#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `FlyPlugin.magic`. */
#define FLY_MAGIC { 'F', 'L', 'Y', 'P', 'L', 'U', 'G', 0 }


/**
 * Major version of this ABI: plugins of another one are refused.
 */
#define FLY_ABI_MAJOR 3

/**
 * Grows with every addition to the end of a structure.
 */
#define FLY_ABI_MINOR 4

/**
 * Done; of `read`: the frame is fresh.
 */
#define FLY_OK 0

/**
 * Of `read`: a tick passed without new data.
 */
#define FLY_NOTHING 1

/**
 * Of `read`: there will be no more frames.
 */
#define FLY_END 2

/**
 * It failed and the error is filled in. Every other negative status means the same.
 */
#define FLY_FAILED -1

/**
 * `FlyPlugin.clock`: time advances when the backend is read.
 */
#define FLY_CLOCK_STEPPED 0

/**
 * `FlyPlugin.clock`: wall-clock time, a read waits until its deadline.
 */
#define FLY_CLOCK_REAL_TIME 1

/**
 * `FlySignal.class_`: from the vehicle, enters the state.
 */
#define FLY_CLASS_MEASUREMENT 0

/**
 * `FlySignal.class_`: to the vehicle.
 */
#define FLY_CLASS_COMMAND 1

/**
 * `FlySignal.class_`: from the backend, not used by the control law.
 */
#define FLY_CLASS_AUXILIARY 2

/**
 * `FlySignal.group` of a command.
 */
#define FLY_NO_GROUP UINT32_MAX

/**
 * `FlyDescription.wants_reference`: the reference comes from the configuration.
 */
#define FLY_REFERENCE_CONFIGURED 0

/**
 * `FlyDescription.wants_reference`: the reference comes from the backend's `setpoint.*` signals.
 */
#define FLY_REFERENCE_RECORDED 1

/**
 * `FlyError.kind`: anything else.
 */
#define FLY_ERROR_INTERNAL 0

/**
 * `FlyError.kind`: the configuration or the vehicle is invalid.
 */
#define FLY_ERROR_CONFIGURATION 1

/**
 * `FlyError.kind`: not supported by this backend.
 */
#define FLY_ERROR_UNSUPPORTED 2

/**
 * `FlyError.kind`: called at the wrong time or with the wrong sizes.
 */
#define FLY_ERROR_USAGE 3

/**
 * `FlyError.kind`: a file, port or socket failed.
 */
#define FLY_ERROR_IO 4

/**
 * `FlyError.kind`: timeout.
 */
#define FLY_ERROR_TIMEOUT 5

/**
 * `FlyError.kind`: the peer violated the protocol.
 */
#define FLY_ERROR_PROTOCOL 6

/**
 * `FlyError.kind`: the vehicle refused.
 */
#define FLY_ERROR_REFUSED 7

/**
 * `FlyError.kind`: the plugin panicked; only `destroy` may follow.
 */
#define FLY_ERROR_PANIC 8

/**
 * `FlyError.text`: the error has no location in a text.
 */
#define FLY_TEXT_NONE 0

/**
 * `FlyError.text`: the location is in `FlyConfiguration.text`.
 */
#define FLY_TEXT_CONFIGURATION 1

/**
 * `FlyError.text`: the location is in `FlyConfiguration.vehicle`.
 */
#define FLY_TEXT_VEHICLE 2

/**
 * `request`: land where it is. (0 was to take off, which has been a function of its own since 3.2.)
 */
#define FLY_REQUEST_LAND 1

/**
 * `request`: hold position and attitude.
 */
#define FLY_REQUEST_HOLD 2

/**
 * `request`: stop the motors at once.
 */
#define FLY_REQUEST_TERMINATE 3

/**
 * Level of a log message: something failed.
 */
#define FLY_LEVEL_ERROR 1

/**
 * Level of a log message: something is not as it should be.
 */
#define FLY_LEVEL_WARN 2

/**
 * Level of a log message: what the user wants to know.
 */
#define FLY_LEVEL_INFO 3

/**
 * Level of a log message: what a developer wants to know.
 */
#define FLY_LEVEL_DEBUG 4

/**
 * Level of a log message: everything.
 */
#define FLY_LEVEL_TRACE 5

/**
 * UTF-8 text, owned by the side that passes it; not terminated by a zero.
 */
typedef struct {
  /**
   * Its first byte; may be null where `length` is 0.
   */
  const char *data;
  /**
   * Its length in bytes.
   */
  size_t length;
} FlyText;

/**
 * What the host does for plugins. Lives for ever; its functions may be called from any thread, never unwind and
 * return soon.
 */
typedef struct {
  /**
   * Size of this structure in bytes, as the host knows it.
   */
  size_t size;
  /**
   * Whether anybody wants messages of that level (`FLY_LEVEL_*`) and target (a dotted or `::` path, such as the
   * plugin's name): 0 or 1. `instance` is `FlyConfiguration.instance`, or 0 for the one that is being called.
   */
  uint8_t (*log_enabled)(uint64_t instance, uint32_t level, FlyText target);
  /**
   * Takes a message of an instance for the log of its flight.
   */
  void (*log)(uint64_t instance, uint32_t level, FlyText target, FlyText message);
} FlyHost;

/**
 * Where a function says why it failed. The host fills in `buffer` and `capacity`, the function everything else, and
 * only when it fails. It may be null: then the error is dropped.
 */
typedef struct {
  /**
   * One of `FLY_ERROR_*`.
   */
  uint32_t kind;
  /**
   * The text of the location: one of `FLY_TEXT_*`.
   */
  uint32_t text;
  /**
   * First byte of the location in that text.
   */
  size_t start;
  /**
   * One past its last byte.
   */
  size_t end;
  /**
   * Where the message goes, and right after it the help: UTF-8, without terminating zeros.
   */
  char *buffer;
  /**
   * Size of the buffer in bytes. What does not fit is cut off.
   */
  size_t capacity;
  /**
   * Bytes of the message: what was expected, what was found.
   */
  size_t message_length;
  /**
   * Bytes of the help: what the user may try. May be 0.
   */
  size_t help_length;
} FlyError;

/**
 * The configuration of an instance. Valid during `configure`.
 */
typedef struct {
  /**
   * Size of this structure in bytes, as the host knows it.
   */
  size_t size;
  /**
   * The plugin's own table as a TOML document.
   */
  FlyText text;
  /**
   * The vehicle as a TOML document.
   */
  FlyText vehicle;
  /**
   * Rate of the control loop, Hz.
   */
  double rate_hz;
  /**
   * Seed of all random numbers.
   */
  uint64_t seed;
  /**
   * Whether the user allowed a real vehicle to be armed and commanded: 0 or 1.
   */
  uint8_t armed;
  /**
   * What the host calls the instance that is being made: to be handed to `FlyHost.log`. Never 0.
   */
  uint64_t instance;
  /**
   * Argument of `resolve_path`.
   */
  void *context;
  /**
   * Finds the file that a path in `text` means; `offset` is where in the text the path stands. Writes the absolute
   * path (not terminated) into `buffer` and its length into `length`. Where the buffer is too small it returns
   * `FLY_NOTHING` and sets `length` to what is needed. Only valid during `configure`, from any thread.
   */
  int32_t (*resolve_path)(void *context,
                          size_t offset,
                          FlyText path,
                          char *buffer,
                          size_t capacity,
                          size_t *length,
                          FlyError *error);
} FlyConfiguration;

/**
 * A signal: one number that the backend measures or takes.
 */
typedef struct {
  /**
   * Canonical name, such as `pose.position.x`.
   */
  FlyText name;
  /**
   * Unit, such as `m/s`; `1` where there is none.
   */
  FlyText unit;
  /**
   * One of `FLY_CLASS_*`.
   */
  uint32_t class_;
  /**
   * Index of its group; `FLY_NO_GROUP` for commands.
   */
  uint32_t group;
} FlySignal;

/**
 * The signals of a configured instance. The plugin fills it in, but for `size`; what it points to lives until `destroy`.
 */
typedef struct {
  /**
   * Size of this structure in bytes, as the host knows it: nothing is written beyond it.
   */
  size_t size;
  /**
   * All signals, `signal_size` bytes apart. A frame's values are the measurements and auxiliary signals in this order, a
   * write's values the commands in this order.
   */
  const FlySignal *signals;
  /**
   * How many.
   */
  size_t signal_count;
  /**
   * Size of a `FlySignal` in bytes, as the plugin knows it.
   */
  size_t signal_size;
  /**
   * Names of the groups: the name of a signal without its last component, but `recorded` for all recorded commands.
   */
  const FlyText *groups;
  /**
   * How many.
   */
  size_t group_count;
  /**
   * The source of the reference: one of `FLY_REFERENCE_*`.
   */
  uint32_t wants_reference;
  /**
   * The configuration of a recorded flight, as a TOML document; empty where there is none.
   */
  FlyText configuration;
  /**
   * Since 3.3. Whether the vehicle moves already when the flight begins, 0 or 1: its actuators do what the first commands ask from
   * the start, while those of a vehicle at rest still have to spin up. Whatever is not 0 counts as 1.
   */
  uint8_t starts_in_motion;
  /**
   * Since 3.4. When control of the recorded flight began, ns on the clock of the frames, if that is not its first frame: the reference of
   * the configuration is evaluated from then on, not from the first command, and frames before then are not controlled. Only beside a
   * `configuration`.
   */
  int64_t control_began;
  /**
   * Since 3.4. Whether `control_began` is set, 0 or 1. Whatever is not 0 counts as 1.
   */
  uint8_t has_control_began;
} FlyDescription;

/**
 * Status of the signals of one group in a frame.
 */
typedef struct {
  /**
   * When it was measured, ns, on the clock of the frame's time; never later than that.
   */
  int64_t stamp;
  /**
   * Whether the values are valid, 0 or 1: 0 until the first measurement and while the sensor is known to be lost. Whatever is
   * not 0 counts as 1.
   */
  uint8_t valid;
} FlyGroupStatus;

/**
 * One tick's values. The memory belongs to the host and is valid during the call. It holds what the last
 * read left there; what is not new stays as it is.
 */
typedef struct {
  /**
   * Size of this structure in bytes, as the host knows it.
   */
  size_t size;
  /**
   * Time of the tick, ns.
   */
  int64_t time;
  /**
   * Values of the measurements and auxiliary signals, in declared order.
   */
  double *values;
  /**
   * How many: always as many as were declared.
   */
  size_t value_count;
  /**
   * Status of each group, in declared order, `group_size` bytes apart.
   */
  FlyGroupStatus *groups;
  /**
   * How many: always as many as were declared.
   */
  size_t group_count;
  /**
   * Size of a `FlyGroupStatus` in bytes, as the host knows it.
   */
  size_t group_size;
} FlyFrame;

/**
 * Receives the lines of a report: one call each.
 */
typedef struct {
  /**
   * Argument of `line`.
   */
  void *context;
  /**
   * Takes one line, a name and a value.
   */
  void (*line)(void *context, FlyText name, FlyText value);
} FlyReportSink;

/**
 * The table that a plugin exports. All functions return a status: `FLY_OK`, of `read` also `FLY_NOTHING` and
 * `FLY_END`, of `poll` also `FLY_NOTHING`, or `FLY_FAILED` with the error filled in. Any other status, such as an `errno`, is
 * a failure. `instance` is what `configure` gave.
 */
typedef struct {
  /**
   * `FLY_MAGIC`. This field and the next two are the same in every version of the ABI.
   */
  uint8_t magic[8];
  /**
   * `FLY_ABI_MAJOR` that the plugin was built with.
   */
  uint32_t major;
  /**
   * `FLY_ABI_MINOR` that the plugin was built with.
   */
  uint32_t minor;
  /**
   * Size of this table in bytes, as the plugin knows it.
   */
  size_t size;
  /**
   * Name of the backend, as in `[backend] plugin = "name"`.
   */
  FlyText name;
  /**
   * Version of the plugin.
   */
  FlyText version;
  /**
   * One-line summary.
   */
  FlyText summary;
  /**
   * Patterns of the signals that it may have, separated by spaces.
   */
  FlyText signals;
  /**
   * Its clock: one of `FLY_CLOCK_*`.
   */
  uint32_t clock;
  /**
   * Called once after loading, before everything else. May be null.
   */
  void (*init)(const FlyHost *host);
  /**
   * Makes an instance. Accesses nothing but the files that the texts name.
   */
  int32_t (*configure)(const FlyConfiguration *configuration, void **instance, FlyError *error);
  /**
   * Describes the signals; they never change.
   */
  int32_t (*describe)(void *instance, FlyDescription *description, FlyError *error);
  /**
   * Opens links and waits for the vehicle. Called at most once.
   */
  int32_t (*start)(void *instance, FlyError *error);
  /**
   * Waits for the next tick, never past `deadline` (ns of `CLOCK_MONOTONIC`), and fills in what is new. Refused
   * before `start` and after `stop`.
   */
  int32_t (*read)(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error);
  /**
   * Takes the commands that answer the frame of that time, in declared order. Refused before `start`, after `stop`,
   * and when `count` is not the number of commands.
   */
  int32_t (*write)(void *instance, int64_t time, const double *commands, size_t count, FlyError *error);
  /**
   * Releases the vehicle. May be called twice and without `start`; the second call does nothing.
   */
  int32_t (*stop)(void *instance, FlyError *error);
  /**
   * Arms the vehicle. May be null: nothing to arm.
   */
  int32_t (*arm)(void *instance, FlyError *error);
  /**
   * Disarms the vehicle. May be null: nothing to disarm.
   */
  int32_t (*disarm)(void *instance, FlyError *error);
  /**
   * Asks the vehicle to do something by itself: one of `FLY_REQUEST_*`. May be null: it cannot.
   */
  int32_t (*request)(void *instance, uint32_t request, FlyError *error);
  /**
   * Gives lines for the summary after a flight. May be null: none.
   */
  int32_t (*report)(void *instance, const FlyReportSink *sink, FlyError *error);
  /**
   * Ends an instance, stopped or not, failed or not. Nothing follows.
   */
  void (*destroy)(void *instance);
  /**
   * Since 3.1; may be null. How far the last `arm`, `take_off`, `disarm` or `request` is, which then only begin what they are asked for: `FLY_OK`
   * done (of a landing: the vehicle continues by itself from here), `FLY_NOTHING` under way, for some seconds at most, `FLY_FAILED`
   * refused. Never waits. Without it they return when it is done.
   */
  int32_t (*poll)(void *instance, FlyError *error);
  /**
   * Since 3.1; may be null. Asks the vehicle to do something by itself, one of `FLY_REQUEST_*`, from another thread while a call of
   * the same instance does not return, or from the handler of a signal by which the process crashes. Never waits, also not for what that call holds. `FLY_OK` if the request went out.
   */
  int32_t (*emergency)(void *instance, uint32_t request);
  /**
   * Since 3.2; may be null: it cannot take off by itself. Begins to climb to `height` m above where the armed vehicle stands, and to
   * hold there until commands come; `poll` tells when it is there.
   */
  int32_t (*take_off)(void *instance, double height, FlyError *error);
} FlyPlugin;

/* The status of a group in the host's frame; the host's elements may be longer or shorter than this header's. Write its fields one by
 * one: a whole FlyGroupStatus might be longer than an older host's element. */
static inline FlyGroupStatus *fly_group(const FlyFrame *frame, size_t index) {
  return (FlyGroupStatus *)(void *)((char *)frame->groups + index * frame->group_size);
}

#ifdef __cplusplus
extern "C"
#endif
/* What a plugin exports. */
const FlyPlugin *fly_plugin(void);

#endif /* FLY_PLUGIN_H */

/* The point mass, spoilt in one way: which one is chosen by -D when it is compiled. For the tests of the loader and of
 * the conformance suite. */
#define _GNU_SOURCE
#define fly_plugin proper_plugin
#include "point_mass.c"
#undef fly_plugin

#include <fcntl.h>
#include <time.h>

static FlyPlugin spoilt;

static void pause_ms(long ms) {
    struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&time, NULL);
}

/* The functions that differ; each does nothing wrong but what its name says. */

static inline int32_t late_read(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    pause_ms(150);
    return read_frame(instance, deadline, frame, error);
}

static inline int32_t late_write(void *instance, int64_t time, const double *commands, size_t count, FlyError *error) {
    pause_ms(80);
    return write_commands(instance, time, commands, count, error);
}

/* Returns an errno. */
static inline int32_t errno_write(void *instance, int64_t time, const double *commands, size_t count, FlyError *error) {
    int32_t status = write_commands(instance, time, commands, count, error);
    return status == FLY_OK && time > 8000000 ? 5 : status;
}

static inline int32_t invalid_read(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    int32_t status = read_frame(instance, deadline, frame, error);
    frame->groups[0].valid = frame->groups[1].valid = 0;
    return status;
}

static inline int32_t unstamped_read(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    int32_t status = read_frame(instance, deadline, frame, error);
    frame->groups[0].stamp = frame->groups[1].stamp = 0;
    return status;
}

static inline int32_t millisecond_read(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    int32_t status = read_frame(instance, deadline, frame, error);
    frame->time /= 1000000;
    frame->groups[0].stamp = frame->groups[1].stamp = frame->time;
    return status;
}

static inline int32_t hanging_stop(void *instance, FlyError *error) {
    pause_ms(3600000);
    return stop(instance, error);
}

static inline int32_t nan_read(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    int32_t status = read_frame(instance, deadline, frame, error);
    if (frame->time > 8000000)
        frame->values[5] = NAN;
    return status;
}

static inline int32_t future_read(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    int32_t status = read_frame(instance, deadline, frame, error);
    frame->groups[1].stamp = frame->time + 1;
    return status;
}

static inline int32_t frozen_read(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    int32_t status = read_frame(instance, deadline, frame, error);
    frame->time = frame->groups[0].stamp = frame->groups[1].stamp = 5;
    return status;
}

static inline int32_t eager_read(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    struct point_mass *self = instance;
    self->state = self->state == CONFIGURED ? STARTED : self->state;
    return read_frame(instance, deadline, frame, error);
}

static inline int32_t shared_read(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    static double drift;
    int32_t status = read_frame(instance, deadline, frame, error);
    frame->values[0] = frame->time > 0 ? (drift += 1.0) : (drift = 0.0);
    return status;
}

static inline int32_t random_read(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    static uint64_t state = 1;
    int32_t status = read_frame(instance, deadline, frame, error);
    frame->values[1] = (double)(state = state * 6364136223846793005u + 1442695040888963407u);
    return status;
}

static inline int32_t trusting_write(void *instance, int64_t time, const double *commands, size_t count, FlyError *error) {
    struct point_mass *self = instance;
    if (self->state != STARTED)
        return fail(error, FLY_ERROR_USAGE, "written to, but not started", 0, 0);
    if (count != 1)
        return fail(error, FLY_ERROR_USAGE, "expected 1 command", 0, 0);
    (void)time;
    self->thrust = commands[0];
    return FLY_OK;
}

static inline int32_t careless_write(void *instance, int64_t time, const double *commands, size_t count, FlyError *error) {
    (void)count;
    return write_commands(instance, time, commands, 1, error);
}

static inline int32_t leaking_configure(const FlyConfiguration *configuration, void **instance, FlyError *error) {
    (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
    return configure(configuration, instance, error);
}

static inline int32_t deaf_configure(const FlyConfiguration *configuration, void **instance, FlyError *error) {
    FlyConfiguration empty = *configuration;
    empty.text.length = 0;
    return configure(&empty, instance, error);
}

static inline int32_t void_configure(const FlyConfiguration *configuration, void **instance, FlyError *error) {
    (void)configuration, (void)instance, (void)error;
    return FLY_OK;
}

static inline int32_t mute_start(void *instance, FlyError *error) {
    (void)instance, (void)error;
    return -42;
}

/* The description with another first signal: as many as before, since `read` fills them all. */
static inline int32_t describe_with_first(void *instance, FlyDescription *description, FlyError *error, FlySignal first) {
    static FlySignal signals[16];
    int32_t status = describe(instance, description, error);
    memcpy(signals, description->signals, description->signal_count * sizeof *signals);
    signals[0] = first;
    description->signals = signals;
    return status;
}

static inline int32_t foreign_describe(void *instance, FlyDescription *description, FlyError *error) {
    FlySignal foreign = { TEXT("altitude.ft"), TEXT("ft"), FLY_CLASS_MEASUREMENT, 0 };
    return describe_with_first(instance, description, error, foreign);
}

static inline int32_t stray_describe(void *instance, FlyDescription *description, FlyError *error) {
    FlySignal stray = { TEXT("pose.position.x"), TEXT("m"), FLY_CLASS_MEASUREMENT, 77 };
    return describe_with_first(instance, description, error, stray);
}

static int inits;

static inline void counting_init(const FlyHost *given) {
    inits++;
    init(given);
}

static inline int32_t counting_configure(const FlyConfiguration *configuration, void **instance, FlyError *error) {
    if (inits != 1)
        return fail(error, FLY_ERROR_USAGE, "init was not called once", 0, 0);
    return configure(configuration, instance, error);
}

static inline int32_t empty_describe(void *instance, FlyDescription *description, FlyError *error) {
    int32_t status = describe(instance, description, error);
    description->signals = NULL;
    return status;
}

static inline int32_t endless_describe(void *instance, FlyDescription *description, FlyError *error) {
    int32_t status = describe(instance, description, error);
    description->group_count = SIZE_MAX;
    return status;
}

static inline int32_t odd_read(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    int32_t status = read_frame(instance, deadline, frame, error);
    frame->groups[0].valid = 0xff;
    return status;
}

const FlyPlugin *fly_plugin(void) {
    spoilt = *proper_plugin();
    SPOIL;
    return RESULT;
}

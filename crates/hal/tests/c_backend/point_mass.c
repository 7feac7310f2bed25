/* A backend in C: a point mass that one rotor lifts against gravity, along the world's z axis.
 *
 * Its table takes one key: `mass = 1.5`, in kg, optional.
 *
 *     cc -std=c11 -shared -fPIC -I crates/hal/include point_mass.c -o libfly_plugin_point_mass.so
 */
#include "fly_plugin.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) { literal, sizeof(literal) - 1 }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum state { CONFIGURED, STARTED, STOPPED };

struct point_mass {
    enum state state;
    double mass, rate_hz;
    uint64_t tick;
    int64_t time;
    double height, climb, thrust;
};

static const FlyText groups[] = { TEXT("pose.position"), TEXT("twist.linear") };

static const FlySignal signals[] = {
    { TEXT("pose.position.x"), TEXT("m"), FLY_CLASS_MEASUREMENT, 0 },
    { TEXT("pose.position.y"), TEXT("m"), FLY_CLASS_MEASUREMENT, 0 },
    { TEXT("pose.position.z"), TEXT("m"), FLY_CLASS_MEASUREMENT, 0 },
    { TEXT("twist.linear.x"), TEXT("m/s"), FLY_CLASS_MEASUREMENT, 1 },
    { TEXT("twist.linear.y"), TEXT("m/s"), FLY_CLASS_MEASUREMENT, 1 },
    { TEXT("twist.linear.z"), TEXT("m/s"), FLY_CLASS_MEASUREMENT, 1 },
    { TEXT("rotor.0.thrust"), TEXT("N"), FLY_CLASS_COMMAND, FLY_NO_GROUP },
};

static const FlyHost *host;

/* Fills in an error, with its place in the configuration if it has one. */
static int32_t fail(FlyError *error, uint32_t kind, const char *message, size_t start, size_t end) {
    if (error) {
        size_t length = strlen(message);
        error->kind = kind;
        error->text = end > start ? FLY_TEXT_CONFIGURATION : FLY_TEXT_NONE;
        error->start = start;
        error->end = end;
        error->message_length = length < error->capacity ? length : error->capacity;
        error->help_length = 0;
        memcpy(error->buffer, message, error->message_length);
    }
    return FLY_FAILED;
}

static void init(const FlyHost *given) {
    host = given; /* it lives for ever */
}

static void say(const char *message) {
    const FlyText target = TEXT("point_mass");
    const FlyText text = { message, strlen(message) };
    if (host && host->log && host->log_enabled(0, FLY_LEVEL_INFO, target))
        host->log(0, FLY_LEVEL_INFO, target, text);
}

/* Reads `mass = number`, with blank lines and comments around it. Texts do not end in a zero: hence the copy. */
static int32_t parse(FlyText text, double *mass, FlyError *error) {
    char line[128];
    for (size_t start = 0; start < text.length;) {
        const char *newline = memchr(text.data + start, '\n', text.length - start);
        size_t end = newline ? (size_t)(newline - text.data) : text.length;
        size_t from = start;
        while (from < end && isspace((unsigned char)text.data[from]))
            from++;
        if (from < end && text.data[from] != '#') {
            size_t length = end - from;
            int used = 0;
            double value;
            if (length >= sizeof line)
                return fail(error, FLY_ERROR_CONFIGURATION, "expected `mass = <kg>`, found a long line", from, end);
            memcpy(line, text.data + from, length);
            line[length] = 0;
            if (sscanf(line, "mass = %lf %n", &value, &used) != 1 || (size_t)used != length)
                return fail(error, FLY_ERROR_CONFIGURATION, "expected `mass = <kg>`", from, end);
            if (!(value > 0.0) || !isfinite(value))
                return fail(error, FLY_ERROR_CONFIGURATION, "expected a mass above 0 kg", from, end);
            *mass = value;
        }
        start = end + 1;
    }
    return FLY_OK;
}

static int32_t configure(const FlyConfiguration *configuration, void **instance, FlyError *error) {
    double mass = 1.0;
    if (parse(configuration->text, &mass, error) != FLY_OK)
        return FLY_FAILED;
    if (!(configuration->rate_hz > 0.0) || !isfinite(configuration->rate_hz))
        return fail(error, FLY_ERROR_CONFIGURATION, "expected a rate above 0 Hz", 0, 0);
    struct point_mass *self = calloc(1, sizeof *self);
    if (!self)
        return fail(error, FLY_ERROR_INTERNAL, "out of memory", 0, 0);
    self->mass = mass;
    self->rate_hz = configuration->rate_hz;
    *instance = self;
    say("configured");
    return FLY_OK;
}

static int32_t describe(void *instance, FlyDescription *description, FlyError *error) {
    (void)instance, (void)error;
    description->signals = signals;
    description->signal_count = COUNT(signals);
    description->signal_size = sizeof *signals;
    description->groups = groups;
    description->group_count = COUNT(groups);
    description->wants_reference = FLY_REFERENCE_CONFIGURED;
    return FLY_OK;
}

static int32_t start(void *instance, FlyError *error) {
    struct point_mass *self = instance;
    if (self->state != CONFIGURED)
        return fail(error, FLY_ERROR_USAGE, "started twice", 0, 0);
    self->state = STARTED;
    return FLY_OK;
}

static int32_t read_frame(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    struct point_mass *self = instance;
    (void)deadline; /* a stepped backend never waits */
    if (self->state != STARTED)
        return fail(error, FLY_ERROR_USAGE, "read, but not started", 0, 0);
    int64_t time = (int64_t)llround((double)self->tick++ * 1e9 / self->rate_hz);
    /* Under constant acceleration this is exact. */
    double step = (double)(time - self->time) / 1e9;
    double acceleration = self->thrust / self->mass - 9.81;
    if (time > 0) {
        self->height += step * (self->climb + 0.5 * step * acceleration);
        self->climb += step * acceleration;
    }
    self->time = frame->time = time;
    memset(frame->values, 0, frame->value_count * sizeof *frame->values);
    frame->values[2] = self->height;
    frame->values[5] = self->climb;
    for (size_t group = 0; group < frame->group_count; group++) {
        fly_group(frame, group)->stamp = time;
        fly_group(frame, group)->valid = 1;
    }
    return FLY_OK;
}

static int32_t write_commands(void *instance, int64_t time, const double *commands, size_t count, FlyError *error) {
    struct point_mass *self = instance;
    (void)time;
    if (self->state != STARTED)
        return fail(error, FLY_ERROR_USAGE, "written to, but not started", 0, 0);
    if (count != 1)
        return fail(error, FLY_ERROR_USAGE, "expected 1 command", 0, 0);
    if (!isfinite(commands[0]))
        return fail(error, FLY_ERROR_USAGE, "expected a finite thrust", 0, 0);
    self->thrust = fmin(fmax(commands[0], 0.0), 100.0);
    return FLY_OK;
}

static int32_t stop(void *instance, FlyError *error) {
    struct point_mass *self = instance;
    (void)error;
    self->state = STOPPED;
    return FLY_OK;
}

static int32_t report(void *instance, const FlyReportSink *sink, FlyError *error) {
    const struct point_mass *self = instance;
    const FlyText name = TEXT("final height");
    char text[64];
    (void)error;
    int length = snprintf(text, sizeof text, "%.3f m", self->height);
    sink->line(sink->context, name, (FlyText){ text, (size_t)length });
    return FLY_OK;
}

static const FlyPlugin plugin = {
    .magic = FLY_MAGIC,
    .major = FLY_ABI_MAJOR,
    .minor = FLY_ABI_MINOR,
    .size = sizeof(FlyPlugin),
    .name = TEXT("point_mass"),
    .version = TEXT("1.0.0"),
    .summary = TEXT("a point mass that one rotor lifts"),
    .signals = TEXT("pose.position.* twist.linear.* rotor.0.thrust"),
    .clock = FLY_CLOCK_STEPPED,
    .init = init,
    .configure = configure,
    .describe = describe,
    .start = start,
    .read = read_frame,
    .write = write_commands,
    .stop = stop,
    .report = report,
    .destroy = free,
};

const FlyPlugin *fly_plugin(void) {
    return &plugin;
}

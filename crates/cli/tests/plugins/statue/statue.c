/* A quadcopter that keeps its own clock and never moves: it counts what it is told. For the tests of fly. */
#include "fly_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT(literal) { literal, sizeof(literal) - 1 }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MEASUREMENT(name, unit, group) { TEXT(name), TEXT(unit), FLY_CLASS_MEASUREMENT, group }
#define COMMAND(name) { TEXT(name), TEXT("N"), FLY_CLASS_COMMAND, FLY_NO_GROUP }

struct statue {
    int64_t start;
    unsigned reads, writes, arms, stops, disarms, requests[4];
};

static const FlyText groups[] = {
    TEXT("pose.position"), TEXT("pose.quaternion"), TEXT("twist.linear"), TEXT("twist.angular"),
};

static const FlySignal signals[] = {
    MEASUREMENT("pose.position.x", "m", 0),       MEASUREMENT("pose.position.y", "m", 0),
    MEASUREMENT("pose.position.z", "m", 0),       MEASUREMENT("pose.quaternion.w", "1", 1),
    MEASUREMENT("pose.quaternion.x", "1", 1),     MEASUREMENT("pose.quaternion.y", "1", 1),
    MEASUREMENT("pose.quaternion.z", "1", 1),     MEASUREMENT("twist.linear.x", "m/s", 2),
    MEASUREMENT("twist.linear.y", "m/s", 2),      MEASUREMENT("twist.linear.z", "m/s", 2),
    MEASUREMENT("twist.angular.x", "rad/s", 3),   MEASUREMENT("twist.angular.y", "rad/s", 3),
    MEASUREMENT("twist.angular.z", "rad/s", 3),   COMMAND("rotor.0.thrust"),
    COMMAND("rotor.1.thrust"),                    COMMAND("rotor.2.thrust"),
    COMMAND("rotor.3.thrust"),
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int32_t configure(const FlyConfiguration *configuration, void **instance, FlyError *error) {
    (void)configuration, (void)error;
    *instance = calloc(1, sizeof(struct statue));
    return *instance ? FLY_OK : FLY_FAILED;
}

static int32_t describe(void *instance, FlyDescription *description, FlyError *error) {
    (void)instance, (void)error;
    description->signals = signals;
    description->signal_count = COUNT(signals);
    description->signal_size = sizeof(FlySignal);
    description->groups = groups;
    description->group_count = COUNT(groups);
    description->wants_reference = FLY_REFERENCE_CONFIGURED;
    return FLY_OK;
}

static int32_t start(void *instance, FlyError *error) {
    (void)error;
    ((struct statue *)instance)->start = now();
    return FLY_OK;
}

/* The writes that fail: none, unless the test says otherwise. */
#ifndef DEAF_FROM
#define DEAF_FROM 0
#define DEAF_UNTIL 0
#endif
/* Whether its frames are any good. */
#ifndef SEES
#define SEES true
#endif

/* New data with every deadline. */
static int32_t read_frame(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    struct statue *self = instance;
    struct timespec until = { deadline / 1000000000, deadline % 1000000000 };
    (void)error;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    self->reads++;
    frame->time = now() - self->start;
    memset(frame->values, 0, frame->value_count * sizeof *frame->values);
    frame->values[3] = 1.0;
    for (size_t group = 0; group < frame->group_count; group++)
        *fly_group(frame, group) = (FlyGroupStatus){ .stamp = frame->time, .valid = SEES };
    return FLY_OK;
}

static int32_t write_commands(void *instance, int64_t time, const double *commands, size_t count, FlyError *error) {
    static const char deaf[] = "the line drops everything";
    struct statue *self = instance;
    int write = (int)++self->writes;
    (void)time, (void)commands, (void)count;
    if (write < (DEAF_FROM) || write >= (DEAF_UNTIL))
        return FLY_OK;
    if (error) {
        error->kind = FLY_ERROR_IO;
        memcpy(error->buffer, deaf, sizeof deaf - 1);
        error->message_length = sizeof deaf - 1;
    }
    return FLY_FAILED;
}

static int32_t arm(void *instance, FlyError *error) {
    (void)error;
    ((struct statue *)instance)->arms++;
    return FLY_OK;
}

static int32_t disarm(void *instance, FlyError *error) {
    (void)error;
    ((struct statue *)instance)->disarms++;
    return FLY_OK;
}

static int32_t request(void *instance, uint32_t request, FlyError *error) {
    (void)error;
    ((struct statue *)instance)->requests[request]++;
    return FLY_OK;
}

static int32_t stop(void *instance, FlyError *error) {
    (void)error;
    ((struct statue *)instance)->stops++;
    return FLY_OK;
}

static int32_t report(void *instance, const FlyReportSink *sink, FlyError *error) {
    const struct statue *self = instance;
    const FlyText name = TEXT("calls"), asked = TEXT("asked to");
    char text[128];
    (void)error;
    int length = snprintf(text, sizeof text, "%u writes, armed %u times, stopped %u times, %s", self->writes, self->arms,
                          self->stops, self->reads > 0 ? "read" : "never read");
    sink->line(sink->context, name, (FlyText){ text, (size_t)length });
    length = snprintf(text, sizeof text, "land %u, terminate %u, disarm %u", self->requests[FLY_REQUEST_LAND],
                      self->requests[FLY_REQUEST_TERMINATE], self->disarms);
    sink->line(sink->context, asked, (FlyText){ text, (size_t)length });
    return FLY_OK;
}

static const FlyPlugin plugin = {
    .magic = FLY_MAGIC,
    .major = FLY_ABI_MAJOR,
    .minor = FLY_ABI_MINOR,
    .size = sizeof(FlyPlugin),
    .name = TEXT("statue"),
    .version = TEXT("1.0.0"),
    .summary = TEXT("a quadcopter that never moves"),
    .signals = TEXT("pose.position.* pose.quaternion.* twist.linear.* twist.angular.* rotor.{i}.thrust"),
    .clock = FLY_CLOCK_REAL_TIME,
    .configure = configure,
    .describe = describe,
    .start = start,
    .read = read_frame,
    .write = write_commands,
    .arm = arm,
    .disarm = disarm,
    .request = request,
    .stop = stop,
    .report = report,
    .destroy = free,
};

const FlyPlugin *fly_plugin(void) {
    return &plugin;
}

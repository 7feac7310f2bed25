/* A quadcopter that keeps its own clock and never moves: it counts what it is told. For the tests of fly.
 *
 * $STATUE_FAULT names what goes wrong, half a second after the first command or in the call of that name; $STATUE_FOR how many reads or
 * writes long (for ever, without it). With -DPILOT it tells who controls it and takes off by itself. With -DOLD it is a plugin of 3.0, with -DMUTE one without `emergency`. With -DHEIGHT=1.0 it begins so high, m, and moves up and down as its -DMASS and its thrusts say, down to the ground at 0. $STATUE_JOURNAL is a file to which it writes when (ns of CLOCK_MONOTONIC) it was told what. */
#define _GNU_SOURCE
#include "fly_plugin.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A file that holds the time of the last frame, ns, however the process ends. */
#ifdef TRACE
static void trace(int64_t time) {
    static int file = -1;
    if (file < 0)
        file = open(TRACE, O_CREAT | O_WRONLY, 0600);
    if (pwrite(file, &time, sizeof time, 0) != sizeof time)
        abort();
}
#else
#define trace(time) (void)(time)
#endif

#define TEXT(literal) { literal, sizeof(literal) - 1 }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MEASUREMENT(name, unit, group) { TEXT(name), TEXT(unit), FLY_CLASS_MEASUREMENT, group }
#define COMMAND(name) { TEXT(name), TEXT("N"), FLY_CLASS_COMMAND, FLY_NO_GROUP }

struct statue {
    int64_t start, first_write, last, moved;
    double height, speed, thrust, climb;
    unsigned reads, writes, arms, stops, disarms, requests[4], faults, most, polls;
    const char *fault;
    int journal;
    atomic_bool begun, gone;
};

/* The reads and writes of a fault begin so long after the first command, ns. */
#define CALM 500000000

static const FlyHost *host;

static const FlyText groups[] = {
    TEXT("pose.position"), TEXT("pose.quaternion"), TEXT("twist.linear"), TEXT("twist.angular"),
#ifdef PILOT
    TEXT("vehicle"),
#endif
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
#ifdef PILOT
    { TEXT("vehicle.armed"), TEXT("1"), FLY_CLASS_AUXILIARY, 4 },
    { TEXT("vehicle.control"), TEXT("1"), FLY_CLASS_AUXILIARY, 4 },
#endif
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void note(const struct statue *self, const char *what) {
    char line[64];
    int length = snprintf(line, sizeof line, "%lld %s\n", (long long)now(), what);
    if (self->journal >= 0 && write(self->journal, line, (size_t)length) < 0)
        abort();
}

static bool fault_is(const struct statue *self, const char *fault) {
    return strcmp(self->fault, fault) == 0;
}

/* Whether the fault happens in this read or write; notes its beginning. */
static bool strikes(struct statue *self, const char *fault) {
    if (!fault_is(self, fault) || self->faults == self->most || self->first_write == 0 ||
        now() < self->first_write + CALM)
        return false;
    self->faults++;
    if (!atomic_exchange(&self->begun, true))
        note(self, "fault");
    return true;
}

/* Never returns, unless the fault is meant to end. */
static void hang(struct statue *self) {
    struct timespec while_ = { 0, 300000000 };
    do
        nanosleep(&while_, NULL);
    while (self->most == (unsigned)-1);
}

static void be_late(long milliseconds) {
    struct timespec while_ = { 0, milliseconds * 1000000 };
    nanosleep(&while_, NULL);
}

static void init(const FlyHost *given) {
    host = given;
}

static int32_t configure(const FlyConfiguration *configuration, void **instance, FlyError *error) {
    (void)configuration, (void)error;
    struct statue *self = calloc(1, sizeof(struct statue));
    if (!self)
        return FLY_FAILED;
    const char *journal = getenv("STATUE_JOURNAL"), *most = getenv("STATUE_FOR");
    self->fault = getenv("STATUE_FAULT") ? getenv("STATUE_FAULT") : "";
    self->most = most ? (unsigned)atoi(most) : (unsigned)-1;
    self->journal = journal ? open(journal, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    *instance = self;
    return FLY_OK;
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

/* Moves up and down for the time since the last frame. */
#ifdef HEIGHT
static void move(struct statue *self, int64_t time) {
    double step = self->moved > 0 ? (double)(time - self->moved) * 1e-9 : 0.0;
    if (self->moved == 0)
        self->height = HEIGHT, self->thrust = MASS * 9.81;
    self->moved = time;
    self->speed += step * (self->thrust / MASS - 9.81);
    self->height += step * self->speed;
    if (self->height <= 0.0)
        self->height = 0.0, self->speed = self->speed > 0.0 ? self->speed : 0.0;
}
#else
#define move(self, time) (void)(time)
#endif

/* New data with every deadline. */
/* Needs more of the stack with every call. */
static int recurse(volatile int depth) {
    volatile char room[4096] = { 0 };
    return depth < 0 ? room[0] : recurse(depth + 1) + room[depth % 4096];
}

static int32_t read_frame(void *instance, int64_t deadline, FlyFrame *frame, FlyError *error) {
    struct statue *self = instance;
    struct timespec until = { deadline / 1000000000, deadline % 1000000000 };
    if (strikes(self, "hang in read"))
        hang(self);
    if (strikes(self, "hang in read and emergency"))
        hang(self);
    bool repeated = strikes(self, "frames that repeat at once");
    if (!repeated && !strikes(self, "early reads"))
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    self->reads++;
    if (strikes(self, "abort"))
        abort();
    if (strikes(self, "exit"))
        exit(0);
    if (strikes(self, "endless recursion"))
        recurse(0);
    if (strikes(self, "end of the frames"))
        return FLY_END;
    if (strikes(self, "invalid address"))
        *(volatile int *)8 = 0;
    if (strikes(self, "late calls"))
        be_late(75);
    if (strikes(self, "late reads without a frame")) {
        be_late(20);
        return FLY_NOTHING;
    }
    if (strikes(self, "no frames"))
        return FLY_NOTHING;
    if (strikes(self, "failing reads")) {
        for (size_t i = 0; i < frame->value_count; i++)
            frame->values[i] = 1e6;
        frame->time = INT64_MAX;
        if (error) {
            error->kind = FLY_ERROR_IO;
            error->message_length = 0;
        }
        return FLY_FAILED;
    }
    if (strikes(self, "flood of messages") && host)
        for (int i = 0; i < 100; i++)
            host->log(0, FLY_LEVEL_ERROR, (FlyText)TEXT("statue"),
                      (FlyText)TEXT("a message that nobody takes from the pipe, and not a short one at that"));
    int64_t time = now() - self->start;
    if (repeated || strikes(self, "time stands still"))
        time = self->last;
    self->last = time;
    if (strikes(self, "an hour ahead"))
        time += 3600000000000;
    frame->time = time;
    memset(frame->values, 0, frame->value_count * sizeof *frame->values);
    frame->values[3] = 1.0;
    move(self, now());
    if (strikes(self, "frozen state"))
        frame->values[7] = 0.1;
    frame->values[2] = self->height;
    frame->values[9] = self->speed;
#ifdef PILOT
    if (self->climb > self->height)
        self->height += 0.01;
    frame->values[2] = self->height;
    // It stands, so it has landed at once.
    frame->values[13] = self->arms > 0 && self->disarms == 0 && self->requests[FLY_REQUEST_LAND] == 0;
    bool taken = strikes(self, "taken") || strikes(self, "taken, hang in stop") ||
                 (self->arms > 0 && fault_is(self, "taken while arming")) ||
                 (self->climb > 0.0 && fault_is(self, "taken while taking off"));
    if (taken && !atomic_exchange(&self->gone, true))
        note(self, "taken");
    frame->values[14] = !taken;
#endif
    bool stale = strikes(self, "stale data"), invalid = strikes(self, "invalid data");
    if (strikes(self, "data that is not finite"))
        frame->values[0] = 0.0 / 0.0;
    if (strikes(self, "absurd data"))
        frame->values[10] = 1e200;
    for (size_t group = 0; group < frame->group_count && !stale; group++) {
        fly_group(frame, group)->stamp = frame->time;
        fly_group(frame, group)->valid = (SEES) && !invalid;
    }
    if (fault_is(self, "far from the reference"))
        frame->values[0] = 5.0;
    trace(frame->time);
    return FLY_OK;
}

static int32_t write_commands(void *instance, int64_t time, const double *commands, size_t count, FlyError *error) {
    static const char deaf[] = "the line drops everything";
    struct statue *self = instance;
    int number = (int)++self->writes;
    (void)time;
    self->thrust = 0.0;
    for (size_t i = 0; i < count; i++)
        self->thrust += commands[i];
    if (self->first_write == 0)
        self->first_write = now();
    if (strikes(self, "hang in write"))
        hang(self);
    if (strikes(self, "late calls"))
        be_late(75);
    bool is_deaf = (number >= (DEAF_FROM) && number < (DEAF_UNTIL)) || strikes(self, "failing writes");
    if (!is_deaf) {
        note(self, "write");
        return FLY_OK;
    }
    if (error) {
        error->kind = FLY_ERROR_IO;
        memcpy(error->buffer, deaf, sizeof deaf - 1);
        error->message_length = sizeof deaf - 1;
    }
    return FLY_FAILED;
}

static int32_t arm(void *instance, FlyError *error) {
    struct statue *self = instance;
    (void)error;
    self->arms++;
    note(self, "arm");
    if (fault_is(self, "hang in arm"))
        hang(self);
    return FLY_OK;
}

static int32_t disarm(void *instance, FlyError *error) {
    (void)error;
    struct statue *self = instance;
    char height[32];
    self->disarms++;
    note(self, "disarm");
    snprintf(height, sizeof height, "height %.3f", self->height);
    note(self, height);
    return FLY_OK;
}

static int32_t request(void *instance, uint32_t request, FlyError *error) {
    static const char cannot[] = "there is no autopilot";
    static const char *const names[] = { "take off", "land", "hold", "terminate" };
    struct statue *self = instance;
    if (request == FLY_REQUEST_LAND && fault_is(self, "no landing of its own")) {
        if (error) {
            error->kind = FLY_ERROR_UNSUPPORTED;
            memcpy(error->buffer, cannot, sizeof cannot - 1);
            error->message_length = sizeof cannot - 1;
        }
        return FLY_FAILED;
    }
    self->requests[request]++;
    self->polls = 0;
    note(self, names[request]);
    if (fault_is(self, "hang in request"))
        hang(self);
    return FLY_OK;
}

#ifndef OLD
/* Every answer takes five polls. */
static int32_t poll_progress(void *instance, FlyError *error) {
    struct statue *self = instance;
    (void)error;
    if (fault_is(self, "taken while arming"))
        return FLY_NOTHING;
    if (self->climb > self->height)
        return FLY_NOTHING;
    return ++self->polls % 5 == 0 ? FLY_OK : FLY_NOTHING;
}

#ifdef PILOT
static int32_t take_off(void *instance, double height, FlyError *error) {
    static const char cannot[] = "the pre-flight checks fail";
    struct statue *self = instance;
    char text[32];
    if (fault_is(self, "no take-off")) {
        if (error) {
            error->kind = FLY_ERROR_REFUSED;
            memcpy(error->buffer, cannot, sizeof cannot - 1);
            error->message_length = sizeof cannot - 1;
        }
        return FLY_FAILED;
    }
    snprintf(text, sizeof text, "take off %.3f", height);
    note(self, text);
    self->climb = fault_is(self, "endless take-off") ? 1e9 : self->height + height;
    return FLY_OK;
}
#endif

/* A line of its own to the vehicle: it needs nothing of the instance but the journal. */
#ifdef MUTE
__attribute__((unused))
#endif
static int32_t emergency(void *instance, uint32_t request) {
    if (request != FLY_REQUEST_LAND)
        return FLY_FAILED;
    if (fault_is(instance, "hang in read and emergency"))
        hang(instance);
    note(instance, "land");
    return FLY_OK;
}
#endif

static int32_t stop(void *instance, FlyError *error) {
    struct statue *self = instance;
    (void)error;
    self->stops++;
    note(self, "stop");
    if (fault_is(self, "hang in stop") || fault_is(self, "taken, hang in stop"))
        hang(self);
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
    .init = init,
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
#ifndef OLD
    .poll = poll_progress,
#ifndef MUTE
    .emergency = emergency,
#endif
#ifdef PILOT
    .take_off = take_off,
#endif
#endif
};

const FlyPlugin *fly_plugin(void) {
    return &plugin;
}

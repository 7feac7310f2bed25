/* A host in C: loads the plugin that its argument names, flies ten ticks and prints what it was told. For the test that plugins fly in
 * hosts of other minor versions. */
#define _GNU_SOURCE
#include "fly_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) { literal, sizeof(literal) - 1 }

static char message[256];
static FlyError error = { .buffer = message, .capacity = sizeof message };

static void expect(int32_t status, const char *what) {
    if (status < 0) {
        fprintf(stderr, "%s: %.*s\n", what, (int)error.message_length, message);
        exit(1);
    }
}

static uint8_t log_enabled(uint64_t instance, uint32_t level, FlyText target) {
    (void)instance, (void)level, (void)target;
    return 1;
}

static void take_message(uint64_t instance, uint32_t level, FlyText target, FlyText text) {
    (void)instance, (void)level, (void)target;
    printf("says %.*s\n", (int)text.length, text.data);
}

static const FlyHost host = { .size = sizeof(FlyHost), .log_enabled = log_enabled, .log = take_message };

int main(int count, char **arguments) {
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    const FlyPlugin *(*export)(void) = NULL;
    if (library)
        *(void **)&export = dlsym(library, "fly_plugin");
    if (!export) {
        fprintf(stderr, "no plugin\n");
        return 1;
    }
    /* The table may be shorter than this host's. */
    FlyPlugin plugin = { 0 };
    const FlyPlugin *given = export();
    memcpy(&plugin, given, given->size < sizeof plugin ? given->size : sizeof plugin);
    plugin.init(&host);

    void *instance = NULL;
    const FlyConfiguration configuration = {
        .size = sizeof configuration,
        .text = TEXT(""),
        .vehicle = TEXT(""),
        .rate_hz = 100.0,
        .seed = 1,
        .instance = 1,
    };
    expect(plugin.configure(&configuration, &instance, &error), "configure");
    FlyDescription description = { .size = sizeof description };
    expect(plugin.describe(instance, &description, &error), "describe");
    size_t values = 0, commands = 0;
    for (size_t k = 0; k < description.signal_count; k++) {
        const FlySignal *signal = (const FlySignal *)(const void *)((const char *)description.signals + k * description.signal_size);
        printf("%.*s [%.*s] %u\n", (int)signal->name.length, signal->name.data, (int)signal->unit.length, signal->unit.data, signal->group);
        (*(signal->class_ == FLY_CLASS_COMMAND ? &commands : &values))++;
    }

    FlyFrame frame = {
        .size = sizeof frame,
        .values = calloc(values, sizeof(double)),
        .value_count = values,
        .groups = calloc(description.group_count, sizeof(FlyGroupStatus)),
        .group_count = description.group_count,
        .group_size = sizeof(FlyGroupStatus),
    };
    double *command = calloc(commands, sizeof(double));
    expect(plugin.start(instance, &error), "start");
    for (int tick = 0; tick < 10; tick++) {
        expect(plugin.read(instance, INT64_MAX, &frame, &error), "read");
        printf("%lld", (long long)frame.time);
        for (size_t k = 0; k < values; k++)
            printf(" %.17g", frame.values[k]);
        for (size_t k = 0; k < frame.group_count; k++)
            printf(" %lld/%d", (long long)frame.groups[k].stamp, frame.groups[k].valid);
        printf("\n");
        for (size_t k = 0; k < commands; k++)
            command[k] = 0.1 * tick;
        expect(plugin.write(instance, frame.time, command, commands, &error), "write");
    }
    expect(plugin.stop(instance, &error), "stop");
    plugin.destroy(instance);
    free(frame.values);
    free(frame.groups);
    free(command);
    return 0;
}

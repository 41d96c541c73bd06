/* Measures calls from C: `bench ROUNDS < urls.txt` prints nanoseconds per call for the URLs of a list, the fastest of the rounds.
   Answers are checked; how long they take is not. */

#define _POSIX_C_SOURCE 199309L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "uriscan.h"

static char *list, form[1 << 16];
static size_t *offsets, count;
static uriscan_equivalence *equivalence;
static uriscan_set *set;

static void expect(int is_so, const char *what) {
    if (is_so) return;
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

/* Reads the lines of standard input. */
static void read_list(void) {
    size_t length = 0, room = 1 << 16, read, start = 0, i;
    list = malloc(room);
    while (list && (read = fread(list + length, 1, room - length, stdin)) > 0) {
        length += read;
        if (length == room) list = realloc(list, room *= 2);
    }
    offsets = malloc((length + 2) * sizeof *offsets);
    expect(list && offsets, "no memory");
    for (i = 0; i < length; i++) {
        if (list[i] != '\n') continue;
        offsets[count++] = start;
        start = i + 1;
    }
    offsets[count] = start;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Each calls a function for a URL, and returns something of the answer. */

static size_t normalize(const char *url, size_t length) {
    size_t written = 0;
    return uriscan_normalize(equivalence, url, length, form, sizeof form, &written, NULL) == URISCAN_OK ? written : 0;
}

static size_t key(const char *url, size_t length) {
    uint8_t bytes[16] = {0};
    return uriscan_key(equivalence, url, length, bytes, NULL) == URISCAN_OK ? bytes[0] : 0;
}

static size_t parse(const char *url, size_t length) {
    uriscan_components parts;
    return uriscan_parse(url, length, &parts, NULL) == URISCAN_OK ? parts.path.start : 0;
}

static size_t contains(const char *url, size_t length) {
    uint8_t is_seen = 0;
    return uriscan_set_contains(set, url, length, &is_seen, NULL) == URISCAN_OK ? is_seen : 0;
}

static void measure(const char *name, size_t (*call)(const char *, size_t), int rounds) {
    double fastest = 0;
    size_t answer = 0, i;
    int round;
    for (round = 0; round < rounds; round++) {
        double start = now(), time;
        size_t sum = 0;
        for (i = 0; i < count; i++) sum += call(list + offsets[i], offsets[i + 1] - offsets[i] - 1);
        time = now() - start;
        expect(round == 0 || sum == answer, "an answer changed from round to round");
        answer = sum;
        if (round == 0 || time < fastest) fastest = time;
    }
    printf("%s: %.0f ns\n", name, fastest / (double)count);
}

int main(int argc, char **argv) {
    static const char url[] = "HTTP://Example.COM:80";
    static const uint8_t expected[16] = {0x08, 0xd8, 0xff, 0xf2, 0x7b, 0x79, 0x2b, 0xa7,
                                         0x36, 0xc7, 0x71, 0x81, 0x9e, 0x0d, 0xec, 0x0a};
    uint8_t bytes[16], other[16], result;
    size_t length, bytes_of_list, i;
    int rounds = argc > 1 ? atoi(argv[1]) : 5;

    read_list();
    expect(count > 0 && rounds > 0, "usage: bench ROUNDS < urls.txt");
    expect(uriscan_equivalence_new(NULL, 0, &equivalence, NULL) == URISCAN_OK, "no equivalence");
    expect(uriscan_set_new(equivalence, &set, NULL) == URISCAN_OK, "no set");
    length = normalize(url, strlen(url));
    expect(length == 19 && memcmp(form, "http://example.com/", 19) == 0, "another form of HTTP://Example.COM:80");
    expect(uriscan_key(equivalence, url, strlen(url), bytes, NULL) == URISCAN_OK && memcmp(bytes, expected, 16) == 0,
           "another key of HTTP://Example.COM:80");
    for (i = 0; i < count; i++) {
        /* The key of a URL is that of its form. */
        const char *text = list + offsets[i];
        size_t size = offsets[i + 1] - offsets[i] - 1;
        length = normalize(text, size);
        uriscan_key(equivalence, text, size, bytes, NULL);
        uriscan_key(equivalence, form, length, other, NULL);
        expect(length == 0 || memcmp(bytes, other, 16) == 0, "another key of a form");
        uriscan_set_insert(set, text, size, &result, NULL);
    }
    bytes_of_list = offsets[count];
    printf("%lu URLs of %.1f bytes\n", (unsigned long)count, (double)bytes_of_list / (double)count - 1.0);
    measure("normalize", normalize, rounds);
    measure("key", key, rounds);
    measure("parse", parse, rounds);
    measure("set_contains", contains, rounds);

    uriscan_set_free(set);
    uriscan_equivalence_free(equivalence);
    free(offsets);
    free(list);
    return 0;
}

/* Writes the first URL of each group of equivalent ones: `dedup < urls.txt`, or `dedup SET < urls.txt` to leave out what
   earlier runs with this set on disk have written. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uriscan.h"

static uriscan_error *error;

/* Ends the program if a call failed. */
static void check(int32_t status) {
    char text[1024];
    size_t length = 0;
    if (status == URISCAN_OK) return;
    /* A text that is longer leaves the buffer alone. */
    if (uriscan_error_text(error, text, sizeof text, &length) != URISCAN_OK) length = 0;
    fprintf(stderr, "dedup: code %d: %.*s\n", (int)status, (int)length, text);
    exit(2);
}

int main(int argc, char **argv) {
    static const char options[] = "preset=rfc\non_invalid=drop";
    uriscan_equivalence *equivalence;
    uriscan_set *set;
    char *line = NULL;
    size_t room = 0, length = 0;
    uint64_t added = 0;
    int c;

    error = uriscan_error_new();
    check(uriscan_equivalence_new(options, strlen(options), &equivalence, error));
    if (argc > 1) {
        check(uriscan_set_open(equivalence, argv[1], strlen(argv[1]), URISCAN_UPDATE, &set, error));
    } else {
        check(uriscan_set_new(equivalence, &set, error));
    }

    do {
        c = getchar();
        if (c == '\n' || (c == EOF && length > 0)) {
            uint8_t result;
            check(uriscan_set_insert(set, line, length, &result, error));
            if (result == URISCAN_NEW) {
                fwrite(line, 1, length, stdout);
                putchar('\n');
            }
            length = 0;
        } else if (c != EOF) {
            if (length == room) {
                room = room ? 2 * room : 256;
                line = realloc(line, room);
                if (!line) abort();
            }
            line[length++] = (char)c;
        }
    } while (c != EOF);

    check(uriscan_set_commit(set, &added, error));
    free(line);
    uriscan_set_free(set);
    uriscan_equivalence_free(equivalence);
    uriscan_error_free(error);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}

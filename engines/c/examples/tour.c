/* Calls each function once, and writes what it gives. */

#include <stdio.h>
#include <string.h>

#include "uriscan.h"

#define TEXT(text) (text), strlen(text)

static uriscan_error *error;

/* Writes why a call failed. */
static void report(void) {
    char kind[32], text[512];
    size_t kind_length = 0, text_length = 0;
    uriscan_error_kind(error, kind, sizeof kind, &kind_length);
    uriscan_error_text(error, text, sizeof text, &text_length);
    printf("code %d, kind '%.*s', byte %ld: %.*s\n", (int)uriscan_error_status(error), (int)kind_length, kind,
           (long)uriscan_error_position(error), (int)text_length, text);
}

static void part(const char *name, const char *text, uriscan_span span) {
    if (span.start != URISCAN_NONE) printf("%s '%.*s'\n", name, (int)(span.end - span.start), text + span.start);
}

int main(void) {
    uriscan_equivalence *crawl, *strict;
    uriscan_set *set, *on_disk;
    uriscan_extractor *extractor;
    uriscan_links *links;
    uriscan_components parts;
    const uriscan_link *found;
    const char *url = "HTTP://user@Example.com:80/a/../b?utm_source=x#top";
    const char *page = "<a href='../c?x&amp;y'>c</a> <img src=d.png>";
    static const char texts[] = "http://example.com/bHTTP://EXAMPLE.com:80/bhttp://example.com/c";
    static const size_t offsets[] = {0, 20, 43, 63};
    char buffer[64], *no_buffer = NULL;
    uint8_t key[16], equal, results[3];
    uint64_t count;
    size_t length, i;

    error = uriscan_error_new();
    printf("version %s\n", strlen(uriscan_version()) > 0 ? "known" : "unknown");
    uriscan_equivalence_new(TEXT("preset=crawl"), &crawl, error);
    if (uriscan_equivalence_new(TEXT("level=host"), &strict, error) != URISCAN_OK) report();
    uriscan_equivalence_new(TEXT("on_invalid=error"), &strict, error);

    /* Ask for the length, then for the form. */
    uriscan_normalize(crawl, TEXT(url), no_buffer, 0, &length, error);
    printf("needs %zu bytes\n", length);
    if (uriscan_normalize(crawl, TEXT(url), buffer, sizeof buffer, &length, error) == URISCAN_OK) {
        printf("form %.*s\n", (int)length, buffer);
    }
    if (uriscan_normalize(strict, TEXT("http://h/%zz"), buffer, sizeof buffer, &length, error) != URISCAN_OK) report();

    uriscan_key(strict, TEXT("http://example.com"), key, error);
    printf("key ");
    for (i = 0; i < sizeof key; i++) printf("%02x", key[i]);
    uriscan_is_equal(strict, TEXT("http://h"), TEXT("HTTP://H:80/"), &equal, error);
    printf("\nequal %d\n", equal);

    uriscan_parse(TEXT(url), &parts, error);
    part("scheme", url, parts.scheme);
    part("userinfo", url, parts.userinfo);
    part("host", url, parts.host);
    part("port", url, parts.port);
    part("path", url, parts.path);
    part("query", url, parts.query);
    part("fragment", url, parts.fragment);
    if (uriscan_is_valid(TEXT("../b"), error) != URISCAN_OK) report();

    uriscan_resolve(TEXT("http://h/a/b"), TEXT("../c"), buffer, sizeof buffer, &length, error);
    printf("target %.*s\n", (int)length, buffer);

    uriscan_set_new(strict, &set, error);
    uriscan_set_insert_batch(set, texts, offsets, 3, results, error);
    printf("results %d %d %d\n", results[0], results[1], results[2]);
    uriscan_set_contains_batch(set, texts, offsets, 3, results, error);
    uriscan_set_contains(set, TEXT("http://h"), &equal, error);
    printf("seen %d %d\n", results[0], equal);
    uriscan_set_count(set, &count, error);
    printf("groups %d\n", (int)count);
    uriscan_set_free(set);
    if (uriscan_set_open(strict, TEXT("no.set"), URISCAN_READ, &on_disk, error) == URISCAN_SET) printf("no set\n");

    uriscan_extractor_new(TEXT("base=http://h/a/b"), &extractor, error);
    links = uriscan_links_new();
    uriscan_extract(extractor, TEXT(page), links, &found, &length, error);
    for (i = 0; i < length; i++) {
        printf("%.*s at %zu: %.*s\n", (int)found[i].context_length, found[i].context, found[i].start,
               (int)found[i].uri_length, found[i].uri);
    }
    uriscan_links_free(links);
    uriscan_extractor_free(extractor);
    uriscan_equivalence_free(strict);
    uriscan_equivalence_free(crawl);
    uriscan_error_free(error);
    return 0;
}

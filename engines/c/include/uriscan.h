/*
 The C interface of uriscan: parses, normalizes and deduplicates URLs as RFC 3986 defines equivalence.
 MIT or Apache-2.0. Made by cbindgen from engines/c/src: do not edit.

 Texts are bytes of any value, with a length: they need not be UTF-8 and do not end in NUL. With length 0 their pointer may be
 NULL. Nothing that is passed is kept. White space around a URL is not part of it.

 Results go to memory of the caller. A function that writes bytes takes a buffer and its capacity, and writes their number to
 `length`. If the buffer is too small, it returns URISCAN_TOO_SMALL, and `length` is what is needed; capacity 0 with NULL asks
 for that. Buffers must not overlap texts.

 Handles (equivalence, set, extractor, links, error) are made by a function and freed by another one, once, when no call uses
 them any more. Equivalences, sets and extractors may be used by all threads at the same time; a list of links and an error
 handle by one thread at a time.

 A function returns URISCAN_OK or another code. Details go to the error handle that is passed last; NULL is allowed. Results of
 a call that failed are empty.
*/


#ifndef URISCAN_H
#define URISCAN_H

#include <stddef.h>
#include <stdint.h>

/* No position, row or component: the largest size_t. */
#define URISCAN_NONE SIZE_MAX

/*
 It is done.
 */
#define URISCAN_OK 0

/*
 The text is not valid: `uriscan_error_kind` and `uriscan_error_position` say what is wrong, and where.
 */
#define URISCAN_INVALID 1

/*
 The same, of the base URI.
 */
#define URISCAN_INVALID_BASE 2

/*
 There is no result: the text is invalid, and the equivalence has `on_invalid=drop`.
 */
#define URISCAN_DROPPED 3

/*
 The buffer is too small. Nothing was written to it; the length says how many bytes are needed.
 */
#define URISCAN_TOO_SMALL 4

/*
 A mistake of the caller: a pointer is NULL that may not be, offsets fall, a set that is only read is written to.
 */
#define URISCAN_ARGUMENT 5

/*
 An option does not exist, or cannot have its value. The text names what there is.
 */
#define URISCAN_OPTION 6

/*
 A set on disk cannot be opened, read or written. The text names the file and the cause.
 */
#define URISCAN_SET 7

/*
 A fault in uriscan itself. The handle can be used further; please report the text.
 */
#define URISCAN_PANIC 8



/*
 No authority, hence no host.
 */
#define URISCAN_HOST_NONE 0

/*
 A registered name, possibly empty.
 */
#define URISCAN_HOST_REG_NAME 1

/*
 An IPv4 address.
 */
#define URISCAN_HOST_IPV4 2

/*
 An IPv6 address, in brackets.
 */
#define URISCAN_HOST_IPV6 3

/*
 An address of a later version, in brackets.
 */
#define URISCAN_HOST_IPVFUTURE 4

/*
 No equivalent text was seen before.
 */
#define URISCAN_NEW 0

/*
 An equivalent text was seen before.
 */
#define URISCAN_SEEN 1

/*
 The text is blank, or it is invalid and the equivalence has `on_invalid=drop`: it is not counted.
 */
#define URISCAN_SKIPPED 2

/*
 To look up only.
 */
#define URISCAN_READ 0

/*
 To add, too: the set is made where there is none, and no other process can write to it.
 */
#define URISCAN_UPDATE 1

/*
 When two texts are equivalent. Immutable: all threads may use it at the same time.
 */
typedef struct uriscan_equivalence uriscan_equivalence;

/*
 What the last call that failed had to say. To be used by one thread at a time; calls that succeed leave it as it is.
 */
typedef struct uriscan_error uriscan_error;

/*
 How links are found. Immutable: all threads may use it at the same time.
 */
typedef struct uriscan_extractor uriscan_extractor;

/*
 The links of one text. To be used by one thread at a time, for text after text.
 */
typedef struct uriscan_links uriscan_links;

/*
 What has been seen: 16 bytes a group of equivalent texts, and free room. All threads may use it at the same time.
 */
typedef struct uriscan_set uriscan_set;

/*
 A link. What it points at belongs to the list in which it is.
 */
typedef struct {
  /*
   The byte of the text at which it begins.
   */
  size_t start;
  /*
   The byte after it.
   */
  size_t end;
  /*
   The link as it is to be used: resolved against its base, with character references decoded. Not ended by NUL.
   */
  const char *uri;
  /*
   Bytes of it.
   */
  size_t uri_length;
  /*
   The kind of place in which it was found, such as `href`: the names of `uriscan extract`. Not ended by NUL.
   */
  const char *context;
  /*
   Bytes of it.
   */
  size_t context_length;
} uriscan_link;

/*
 Bytes of a text: from `start`, counted from 0, to before `end`. Of a component that is not there both are `URISCAN_NONE`; one
 that is empty is there.
 */
typedef struct {
  /*
   The first byte.
   */
  size_t start;
  /*
   The byte after the last one.
   */
  size_t end;
} uriscan_span;

/*
 The components of a reference (RFC 3986, section 3), without their delimiters. The path is always there.
 */
typedef struct {
  /*
   Before the first `:`; a relative reference has none.
   */
  uriscan_span scheme;
  /*
   After `//`.
   */
  uriscan_span authority;
  /*
   Before the `@` of the authority.
   */
  uriscan_span userinfo;
  /*
   An IPv6 address with its brackets.
   */
  uriscan_span host;
  /*
   After the `:` of the authority.
   */
  uriscan_span port;
  /*
   May be empty.
   */
  uriscan_span path;
  /*
   After `?`.
   */
  uriscan_span query;
  /*
   After `#`.
   */
  uriscan_span fragment;
  /*
   One of `URISCAN_HOST_*`.
   */
  int32_t host_kind;
} uriscan_components;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The version, such as "0.1.0": a string that ends in NUL and is never freed.
 */
const char *uriscan_version(void);

/*
 Makes an equivalence. `options` are lines `name=value`, with the names and values that the program, Python and SQL have:

 `level` (`string`, `syntax`, `scheme`), `drop_fragment`, `preset` (`rfc`, `crawl`, `log`), `rule`, `rules` (built-in rules files, or
 paths of others), `no_rule`, `iri`, `repair`, `base`, `lenient_scheme`, `suffix_scheme`, `profile`, `hash` (`blake3`, `sha256`),
 `on_invalid` (`pass`, `drop`, `error`).

 Flags are `true` or `false`; `rule`, `rules`, `no_rule` and `repair` are given once for each value. Without options two texts
 are equivalent by RFC 3986, at level `scheme`. `uriscan_equivalence_free` frees it.

 White space around a text is not part of it. A text that is not a URI is kept with `on_invalid=pass`, the default: its own
 bytes are its form. With `drop` functions return `URISCAN_DROPPED` for it, and with `error` `URISCAN_INVALID`.
 */
int32_t uriscan_equivalence_new(const char *options,
                                size_t options_length,
                                uriscan_equivalence **equivalence,
                                uriscan_error *error);

/*
 Frees the handle; NULL is allowed. Sets that were made of it stay.
 */
void uriscan_equivalence_free(uriscan_equivalence *equivalence);

/*
 Writes the canonical form of `text` to `buffer`, and its number of bytes to `length`; with `URISCAN_TOO_SMALL` only that.
 A form may be longer than its text: `http://h` is `http://h/`.
 */
int32_t uriscan_normalize(const uriscan_equivalence *equivalence,
                          const char *text,
                          size_t text_length,
                          char *buffer,
                          size_t capacity,
                          size_t *length,
                          uriscan_error *error);

/*
 Writes the key of `text`, 16 bytes, to `key`: the same as that of `uriscan key`, Python and SQL under the same options.
 Equivalent texts have the same key. A text of more than 64 MiB has none: `URISCAN_INVALID`, of the kind `too-long`.
 */
int32_t uriscan_key(const uriscan_equivalence *equivalence,
                    const char *text,
                    size_t text_length,
                    uint8_t *key,
                    uriscan_error *error);

/*
 Writes 1 to `is_equal` if the two texts are equivalent, otherwise 0.
 */
int32_t uriscan_is_equal(const uriscan_equivalence *equivalence,
                         const char *one,
                         size_t one_length,
                         const char *other,
                         size_t other_length,
                         uint8_t *is_equal,
                         uriscan_error *error);

/*
 Makes an error handle, to be passed to other functions. `uriscan_error_free` frees it. All functions take NULL in its
 place, from callers that need no details.
 */
uriscan_error *uriscan_error_new(void);

/*
 Frees the handle; NULL is allowed.
 */
void uriscan_error_free(uriscan_error *error);

/*
 The code of the last failure; `URISCAN_OK` if there was none, and for NULL.
 */
int32_t uriscan_error_status(const uriscan_error *error);

/*
 The byte of the text, or of the base, at which it is invalid, counted from 0; `URISCAN_NONE` after other failures. Under a
 base or repairs it counts in the text that they make.
 */
size_t uriscan_error_position(const uriscan_error *error);

/*
 Which one of several texts is invalid, counted from 0; `URISCAN_NONE` after other failures.
 */
size_t uriscan_error_row(const uriscan_error *error);

/*
 Writes the kind of what is invalid, such as `percent`: the names of `uriscan check`. Of other failures it is empty.
 */
int32_t uriscan_error_kind(const uriscan_error *error,
                           char *buffer,
                           size_t capacity,
                           size_t *length);

/*
 Writes a sentence in UTF-8 that says what is wrong; it is empty if nothing failed.
 */
int32_t uriscan_error_text(const uriscan_error *error,
                           char *buffer,
                           size_t capacity,
                           size_t *length);

/*
 Makes an extractor. `options` are lines `name=value`: `format` (`auto`, by the content, the default; `text`, `html`, `markdown`,
 `json`, `xml`, `css`, `robots`, `clf`, `warc` and the other names of `uriscan extract --format`), `base` (a URI, for documents that
 name none), `scheme` (`any`, or one that is wanted; given once for each), and the flags `unicode`, `unwrap`, `refang`, `bare_hosts`, `email`
 and `unsplit`. `uriscan_extractor_free` frees it.
 */
int32_t uriscan_extractor_new(const char *options,
                              size_t options_length,
                              uriscan_extractor **extractor,
                              uriscan_error *error);

/*
 Frees the handle; NULL is allowed.
 */
void uriscan_extractor_free(uriscan_extractor *extractor);

/*
 Makes an empty list of links. `uriscan_links_free` frees it.
 */
uriscan_links *uriscan_links_new(void);

/*
 Frees the list; NULL is allowed.
 */
void uriscan_links_free(uriscan_links *links);

/*
 Finds the links of `text`, a whole document or whole lines, of at most 2 GiB. `found` points at the first of `count` links,
 which stay until the list `links` is used again or freed.
 */
int32_t uriscan_extract(const uriscan_extractor *extractor,
                        const char *text,
                        size_t text_length,
                        uriscan_links *links,
                        const uriscan_link **found,
                        size_t *count,
                        uriscan_error *error);

/*
 Writes where the components of `text`, a URI or a relative reference, begin and end. White space around it is not part of
 it; offsets count from its first byte all the same.
 */
int32_t uriscan_parse(const char *text,
                      size_t text_length,
                      uriscan_components *components,
                      uriscan_error *error);

/*
 Returns `URISCAN_OK` if `text` is a URI, otherwise `URISCAN_INVALID`, with kind and position in `error`. A relative reference
 is no URI: its kind is `relative`, and `uriscan_parse` takes it.
 */
int32_t uriscan_is_valid(const char *text,
                         size_t text_length,
                         uriscan_error *error);

/*
 Writes the target of `reference` against `base`, as section 5 of RFC 3986 defines it, to `buffer`. It is not normalized beyond
 that. `URISCAN_INVALID_BASE` if `base` is not a URI.
 */
int32_t uriscan_resolve(const char *base,
                        size_t base_length,
                        const char *reference,
                        size_t reference_length,
                        char *buffer,
                        size_t capacity,
                        size_t *length,
                        uriscan_error *error);

/*
 Makes an empty set in memory. `uriscan_set_free` frees it; the equivalence may be freed before.
 */
int32_t uriscan_set_new(const uriscan_equivalence *equivalence,
                        uriscan_set **set,
                        uriscan_error *error);

/*
 Opens a set on disk, such as `uriscan set` and `uriscan dedup --update` make: a directory, whose `path` is in UTF-8 (on Unix
 any bytes). `mode` is `URISCAN_READ` or `URISCAN_UPDATE`. Its keys must have been made under the same options.
 */
int32_t uriscan_set_open(const uriscan_equivalence *equivalence,
                         const char *path,
                         size_t path_length,
                         int32_t mode,
                         uriscan_set **set,
                         uriscan_error *error);

/*
 Frees the set; NULL is allowed. What was not committed to a set on disk is lost.
 */
void uriscan_set_free(uriscan_set *set);

/*
 Adds `text`, and writes to `result` whether it is `URISCAN_NEW`, `URISCAN_SEEN` or `URISCAN_SKIPPED`. A set on disk keeps it
 in memory until `uriscan_set_commit`.
 */
int32_t uriscan_set_insert(const uriscan_set *set,
                           const char *text,
                           size_t text_length,
                           uint8_t *result,
                           uriscan_error *error);

/*
 Writes to `result` what `uriscan_set_insert` would, and adds nothing.
 */
int32_t uriscan_set_contains(const uriscan_set *set,
                             const char *text,
                             size_t text_length,
                             uint8_t *result,
                             uriscan_error *error);

/*
 Adds `count` texts in order, which stand one after the other in `texts`: number `i` from `offsets[i]` to before
 `offsets[i + 1]`, so there are `count + 1` offsets, which do not fall. Writes a result for each to `results`, an array of
 `count` bytes. If it fails, nothing is added, and nothing is written.
 */
int32_t uriscan_set_insert_batch(const uriscan_set *set,
                                 const char *texts,
                                 const size_t *offsets,
                                 size_t count,
                                 uint8_t *results,
                                 uriscan_error *error);

/*
 Writes to `results` what `uriscan_set_insert` would for each text by itself, and adds nothing.
 */
int32_t uriscan_set_contains_batch(const uriscan_set *set,
                                   const char *texts,
                                   const size_t *offsets,
                                   size_t count,
                                   uint8_t *results,
                                   uriscan_error *error);

/*
 Writes what was added to the set on disk; `added`, unless it is NULL, gets the number of new groups. On return they are on
 disk; if it fails, the set is unchanged, and it may be called again. A set in memory has nothing to write.
 */
int32_t uriscan_set_commit(const uriscan_set *set,
                           uint64_t *added,
                           uriscan_error *error);

/*
 Writes the number of groups in the set to `count`, with those that were not committed.
 */
int32_t uriscan_set_count(const uriscan_set *set, uint64_t *count, uriscan_error *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* URISCAN_H */

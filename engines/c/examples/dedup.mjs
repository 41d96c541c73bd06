// Writes the first URL of each group of equivalent ones, by koffi: URISCAN_C=liburiscan_c.so node dedup.mjs < urls.txt

import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";

const koffi = createRequire(import.meta.url)("koffi");
const library = koffi.load(process.env.URISCAN_C ?? "liburiscan_c.so");
const [OK, NEW] = [0, 0];
const c = {
  errorNew: library.func("void *uriscan_error_new()"),
  errorFree: library.func("void uriscan_error_free(void *error)"),
  errorText: library.func("int uriscan_error_text(void *error, uint8_t *buffer, size_t capacity, _Out_ size_t *length)"),
  equivalenceNew: library.func("int uriscan_equivalence_new(uint8_t *options, size_t length, _Out_ void **equivalence, void *error)"),
  equivalenceFree: library.func("void uriscan_equivalence_free(void *equivalence)"),
  setNew: library.func("int uriscan_set_new(void *equivalence, _Out_ void **set, void *error)"),
  setFree: library.func("void uriscan_set_free(void *set)"),
  insertBatch: library.func(
    "int uriscan_set_insert_batch(void *set, uint8_t *texts, size_t *offsets, size_t count, uint8_t *results, void *error)",
  ),
};
const error = c.errorNew();

function check(status) {
  if (status === OK) return;
  const [buffer, length] = [Buffer.alloc(1024), [0]];
  const fits = c.errorText(error, buffer, buffer.length, length) === OK;
  throw new Error(`code ${status}: ${buffer.toString("utf8", 0, fits ? Number(length[0]) : 0)}`);
}

const made = (call, ...args) => {
  const handle = [null];
  check(call(...args, handle, error));
  return handle[0];
};
const options = Buffer.from("preset=rfc\non_invalid=drop");
const equivalence = made(c.equivalenceNew, options, options.length);
const set = made(c.setNew, equivalence);

// All lines are one batch: their ends are a part of them, as white space around a URL does not count.
const text = readFileSync(0);
const offsets = [0];
for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) offsets.push(at + 1);
if (offsets.at(-1) < text.length) offsets.push(text.length);
const results = Buffer.alloc(offsets.length - 1);
check(c.insertBatch(set, text, BigUint64Array.from(offsets, BigInt), results.length, results, error));

const kept = [];
results.forEach((result, i) => {
  if (result !== NEW) return;
  kept.push(text.subarray(offsets[i], offsets[i + 1]));
  if (text[offsets[i + 1] - 1] !== 10) kept.push(Buffer.from("\n"));
});
const output = Buffer.concat(kept);
for (let at = 0; at < output.length; ) at += writeSync(1, output, at);
c.setFree(set);
c.equivalenceFree(equivalence);
c.errorFree(error);

# %% [markdown]
# # DuckDB
#
# The extension gives SQL the functions of `uri_key` to `uri_surt`. `URISCAN_DUCKDB` names its file, which `engines/duckdb/package`
# makes. A key is an unsigned number of 128 bits there, which groups and joins as fast as a number does; its 32 hexadecimal digits are
# the 16 bytes that the other engines have. Blanks are no records.

# %%
import os
import time

import agree
import dataset
import duckdb
import pyarrow as pa

session = duckdb.connect(config={"allow_unsigned_extensions": "true"})
session.execute(f"LOAD '{os.environ['URISCAN_DUCKDB']}'")

# %%
start = time.perf_counter()
session.execute(
    """CREATE TEMP TABLE kept AS
        SELECT min(id) AS id, uri_key(url) AS uri_key FROM read_parquet(?) WHERE trim(url) <> '' GROUP BY 2""",
    [dataset.files()],
)
seconds = time.perf_counter() - start

# %%
found = session.sql("SELECT id, lpad(lower(hex(uri_key)), 32, '0') AS digits FROM kept").to_arrow_table().combine_chunks()
raw = bytes.fromhex("".join(found["digits"].to_pylist()))
agree.report("DuckDB", found["id"], pa.Array.from_buffers(pa.binary(16), len(found), [None, pa.py_buffer(raw)]), seconds)

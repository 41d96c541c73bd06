# %% [markdown]
# # DuckDB
#
# The extension gives SQL the functions of `uri_key` to `uri_surt`. `URISCAN_DUCKDB` names its file, which `engines/duckdb/package`
# makes. `uri_key_int` gives keys as numbers of 128 bits, which DuckDB groups and joins faster than bytes; `uri_key` gives the 16 bytes
# that the other engines have. Blanks are not records.

# %%
import os
import time

import agree
import dataset
import duckdb

session = duckdb.connect(config={"allow_unsigned_extensions": "true"})
session.execute(f"LOAD '{os.environ['URISCAN_DUCKDB']}'")

# %%
start = time.perf_counter()
session.execute(
    """CREATE TEMP TABLE kept AS
        SELECT min(id) AS id, uri_key_int(url) AS key FROM read_parquet(?) WHERE trim(url) <> '' GROUP BY 2""",
    [dataset.files()],
)
seconds = time.perf_counter() - start

# %%
found = session.sql("SELECT id, unhex(lpad(hex(key), 32, '0')) AS uri_key FROM kept").to_arrow_table().combine_chunks()
agree.report("DuckDB", found["id"], found["uri_key"], seconds)

# %% [markdown]
# # The program
#
# `uriscan dedup` keeps the first row of each group, with all its columns, and `uriscan key` adds the column `uri_key`. Both read and
# write Parquet; `URISCAN_PROGRAM` names the program if it is not on the path.

# %%
import os
import subprocess
import tempfile
import time

import agree
import dataset
import pyarrow.parquet as pq

program = os.environ.get("URISCAN_PROGRAM", "uriscan")
place = tempfile.TemporaryDirectory()
kept, keys = f"{place.name}/kept.parquet", f"{place.name}/keys.parquet"

# %%
start = time.perf_counter()
subprocess.run([program, "dedup", "--quiet", "--column", "url", "-o", kept, *dataset.files()], check=True)
subprocess.run([program, "key", "--quiet", "--column", "url", "-o", keys, kept], check=True)
seconds = time.perf_counter() - start

# %%
rows = pq.read_table(keys, columns=["id", "uri_key"])
agree.report("program", rows["id"], rows["uri_key"], seconds)
place.cleanup()

# %% [markdown]
# # DataFusion, in Rust
#
# `uriscan_datafusion::functions()` gives DataFusion the functions that the extension gives DuckDB, under the same names. The program
# is `engines/datafusion/examples/dedup.rs`; `URISCAN_DATAFUSION` names what `cargo build --release --example dedup` makes of it.

# %%
import os
import subprocess
import tempfile
import time

import agree
import dataset
import pyarrow.parquet as pq

place = tempfile.TemporaryDirectory()
kept = f"{place.name}/kept.parquet"

# %%
start = time.perf_counter()
subprocess.run([os.environ["URISCAN_DATAFUSION"], "url", kept, *dataset.files()], check=True)
seconds = time.perf_counter() - start

# %%
rows = pq.read_table(kept)
agree.report("DataFusion", rows["id"], rows["key"], seconds)
place.cleanup()

# %% [markdown]
# # Columns of pyarrow
#
# `uriscan.is_first` tells of each row whether it is the first of its class, `uriscan.key` gives keys; both take and give columns
# without copying them.

# %%
import time

import agree
import dataset
import pyarrow.parquet as pq

import uriscan

# %%
start = time.perf_counter()
rows = pq.read_table(dataset.files(), columns=["id", "url"])
rows = rows.filter(uriscan.is_first(rows["url"]))
keys = uriscan.key(rows["url"])
seconds = time.perf_counter() - start

# %%
agree.report("pyarrow", rows["id"], keys, seconds)

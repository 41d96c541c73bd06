# %% [markdown]
# # Columns of pyarrow
#
# `uriscan.is_first` returns whether each row is the first of its group, `uriscan.key` returns keys. Columns are read where they are,
# without a copy.

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

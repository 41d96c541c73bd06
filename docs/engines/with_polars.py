# %% [markdown]
# # Polars
#
# `import uriscan.polars` adds the namespace `uri` to expressions, series and lazy frames.

# %%
import time

import agree
import dataset
import polars as pl

import uriscan.polars  # adds the namespace

# %%
start = time.perf_counter()
url = pl.col("url").uri
rows = pl.read_parquet(dataset.files(), columns=["id", "url"]).filter(url.is_first())
rows = rows.select("id", uri_key=url.key())
seconds = time.perf_counter() - start

# %%
agree.report("Polars", rows["id"].to_arrow(), rows["uri_key"].to_arrow(), seconds)

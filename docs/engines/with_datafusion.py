# %% [markdown]
# # DataFusion, from Python
#
# DataFusion's package for Python cannot load functions that are written in Rust, but it takes a function on columns of pyarrow,
# which `uriscan.key` is. Blanks are not records.

# %%
import time

import agree
import dataset
import datafusion
import pyarrow as pa

import uriscan

session = datafusion.SessionContext()
session.register_udf(datafusion.udf(uriscan.key, [pa.string_view()], pa.binary(16), "immutable", name="uri_key"))
session.register_parquet("pages", dataset.tables())

# %%
start = time.perf_counter()
query = "SELECT min(id) AS id, uri_key(url) AS uri_key FROM pages WHERE trim(url) <> '' GROUP BY 2"
rows = pa.Table.from_batches(session.sql(query).collect())
seconds = time.perf_counter() - start

# %%
agree.report("DataFusion in Python", rows["id"], rows["uri_key"], seconds)

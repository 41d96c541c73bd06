# %% [markdown]
# # Ray
#
# `uriscan.ray.dedup` gives a dataset of Ray Data with the rows that are kept, all columns in their order.

# %%
import os
import time

# Ray would send home how it is used, and look for `uv` among the processes above.
os.environ["RAY_USAGE_STATS_ENABLED"] = os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"

import agree
import dataset
import pyarrow as pa
import ray

import uriscan
import uriscan.ray

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 30)
ray.data.DataContext.get_current().enable_progress_bars = False

# %%
start = time.perf_counter()
kept = uriscan.ray.dedup(dataset.files(), column="url", parts=8)
rows = pa.concat_tables(kept.iter_batches(batch_format="pyarrow", batch_size=None))
keys = uriscan.key(rows["url"])
seconds = time.perf_counter() - start

# %%
agree.report("Ray", rows["id"], keys, seconds)
ray.shutdown()

# %% [markdown]
# # Spark
#
# `uriscan.spark.dedup` moves keys and places only, then reads the files again and keeps what won. Here on two threads of one
# process; see [scale.md](../scale.md) for what is moved on a cluster.

# %%
import os
import sys
import time

import agree
import dataset
from pyspark.sql import SparkSession

import uriscan.spark

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "3g")
builder = builder.config("spark.sql.shuffle.partitions", "8").config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
session = builder.getOrCreate()
session.sparkContext.setLogLevel("ERROR")

# %%
start = time.perf_counter()
kept = uriscan.spark.dedup(session.read.parquet(*dataset.files()), "url")
rows = uriscan.spark.key(kept, "url").select("id", "uri_key").toArrow()
seconds = time.perf_counter() - start

# %%
agree.report("Spark", rows["id"], rows["uri_key"], seconds)
session.stop()

"""Spark clusters for tests: processes of their own on this machine."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
import warnings

import pytest


def skip(why):
    """Skips with a message that cannot be overlooked."""
    warnings.warn(f"SPARK IS NOT TESTED: {why}", stacklevel=2)
    pytest.skip(why)


def executors(spark):
    """The names of the executors that have registered with the driver."""
    known = spark.sparkContext._jsc.sc().statusStore().executorList(True)
    return {known.apply(at).id() for at in range(known.size())} - {"driver"}


def await_executors(spark, count, limit=300):
    """Waits for ``count`` executors: a session is there before its processes are, by seconds on a busy machine."""
    end = time.monotonic() + limit
    while len(executors(spark)) < count:
        if time.monotonic() > end:
            pytest.fail(f"only {executors(spark)} of {count} executors came within {limit} seconds")
        time.sleep(0.1)


SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java for processes that end before a better compiler pays."""


def environment():
    """What Spark needs to run with this Python; skips where it cannot run."""
    if shutil.which("java") is None:
        skip("there is no Java; PySpark needs 17 or newer")
    try:
        import pyspark
    except ImportError:
        skip("PySpark is not installed: pip install -r python/requirements-spark.txt")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable


@contextlib.contextmanager
def session(master, count=2, **config):
    """A session with so many executors of one core each besides the driver; its end stops them."""
    environment()
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master(master)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", SHORT_LIVED)
        .config("spark.executor.extraJavaOptions", SHORT_LIVED)
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.files.maxPartitionBytes", os.environ.get("URISCAN_SPARK_SPLIT", "40k"))
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
    )
    for name, value in config.items():
        builder = builder.config(name.replace("__", "."), value)
    spark = builder.getOrCreate()
    try:
        spark.sparkContext.setLogLevel("ERROR")
        await_executors(spark, count)
        yield spark
    finally:
        spark.stop()


@contextlib.contextmanager
def two_hosts(directory):
    """The address of a cluster whose two workers have addresses of their own, as two machines have.

    Of a local-cluster all executors are on one host, and Spark runs no copy of a task on the host that runs it already.
    """
    environment()
    classes = [os.path.join(os.environ["SPARK_HOME"], "bin", "spark-class"), "org.apache.spark.deploy"]
    started = []

    def start(what, host, *arguments):
        own = {**os.environ, "SPARK_LOCAL_IP": host, "SPARK_DAEMON_MEMORY": "256m"}
        log = open(directory / f"{what}-{host}.log", "wb")
        command = [classes[0], f"{classes[1]}.{what}", "--host", host, "--webui-port", "0", *arguments]
        started.append((subprocess.Popen(command, env=own, stdout=log, stderr=subprocess.STDOUT), log))
        return directory / f"{what}-{host}.log"

    try:
        log = start("master.Master", "127.0.0.1", "--port", "0")
        address = _await_line(log, started[0][0], "Starting Spark master at ")
        for host in "127.0.0.2", "127.0.0.3":
            start("worker.Worker", host, "--cores", "1", "--memory", "1g", "--work-dir", str(directory / host), address)
        yield address
    finally:
        for process, log in reversed(started):
            process.terminate()
            process.wait(60)
            log.close()


def _await_line(log, process, start, limit=120):
    """What follows ``start`` in the log of a process."""
    end = time.monotonic() + limit
    while time.monotonic() < end and process.poll() is None:
        for line in log.read_text(errors="replace").splitlines():
            if start in line:
                return line.partition(start)[2].strip()
        time.sleep(0.1)
    pytest.fail(f"{start!r} is not in the log:\n{log.read_text(errors='replace')}")

"""What is not collected for lack of an engine."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("pyspark") else ["python/uriscan/spark"]

"""What is not collected for lack of an engine."""

from importlib.util import find_spec

ENGINES = {"pyspark": "python/uriscan/spark", "ray": "python/uriscan/ray.py"}

collect_ignore = [path for engine, path in ENGINES.items() if find_spec(engine) is None]

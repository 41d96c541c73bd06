"""What is not collected for lack of a package."""

from importlib.util import find_spec

NEEDS = {
    "_keys.py": "numpy",
    "_places.py": "numpy",
    "engines.py": "duckdb",
    "pandas.py": "pandas",
    "polars.py": "polars",
    "ray.py": "ray",
    "spark": "pyspark",
}

collect_ignore = [f"python/uriscan/{path}" for path, package in NEEDS.items() if find_spec(package) is None]

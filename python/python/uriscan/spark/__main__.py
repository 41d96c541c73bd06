"""``python -m uriscan.spark``: deduplicate, normalize and extract on a Spark cluster."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import uriscan.spark

EXAMPLES = """\
examples:
  python -m uriscan.spark dedup -o distinct s3a://crawl/frontier-*.txt
  python -m uriscan.spark dedup --from parquet --column url --keep max --by fetched -o pages s3a://crawl/pages/
  python -m uriscan.spark dedup --from parquet --column url --seen /shared/seen --update -o new s3a://crawl/today/
  spark-submit --master yarn $(python -c 'import uriscan.spark.__main__ as main; print(main.__file__)') dedup ...

--seen names a directory that all machines see, or a URI of object storage as pyarrow knows it (s3://, gs://).
`uriscan set split` makes one of a set; here an empty one is made if there is none. With --update what is written is added to it, once it is written."""


def arguments(given: list[str]) -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(
        prog="python -m uriscan.spark",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    dedup = commands.add_parser("dedup", help="keep a row of every class of equal URIs")
    normalize = commands.add_parser("normalize", help="put canonical forms in the place of URIs")
    extract = commands.add_parser("extract", help="write a row for every link in documents")
    for command in dedup, normalize, extract:
        command.add_argument("inputs", nargs="+", metavar="INPUT", help="files, directories or patterns of them")
        command.add_argument("-o", "--output", required=True, help="the directory to write; must not be there")
        command.add_argument("--from", dest="kind", default="text", help="format that Spark reads [default: text]")
        command.add_argument("--to", help="format that Spark writes [default: that of the input]")
        command.add_argument("--column", help="the column with the URIs or documents [default: the lines of text]")
    for command in dedup, normalize:
        command.add_argument("--rung", choices=["string", "syntax", "scheme"], default="scheme")
        command.add_argument("--preset", help="rules beyond the RFC: crawl or log")
        command.add_argument("--ignore-fragment", action="store_true")
        command.add_argument("--on-invalid", choices=["pass", "null", "error"], default="pass")
    dedup.add_argument("--keep", choices=["first", "last", "min", "max"], default="first")
    dedup.add_argument("--by", metavar="COLUMN", help="the column for --keep min and max")
    dedup.add_argument("--order", action="store_true", help="write rows in the order of the input")
    dedup.add_argument("--seen", metavar="DIR", help="drop what is in this set in pieces, a directory or a URI")
    dedup.add_argument("--scratch", metavar="DIR", help="a directory to make that all machines see, for billions of rows")
    dedup.add_argument("--update", action="store_true", help="add what is written to --seen")
    extract.add_argument("--format", default="text", help="format of the documents, as of uriscan extract")
    extract.add_argument("--into", default="link", help="the column for links [default: link]")
    typed = parser.parse_args(given)
    if typed.kind != "text" and typed.column is None:
        parser.error(f"--from {typed.kind} needs --column")
    if typed.command == "dedup" and typed.update and not typed.seen:
        parser.error("--update needs --seen")
    return typed


def equivalence(typed: argparse.Namespace) -> dict[str, Any]:
    """The keywords for what makes two values one."""
    return {
        "rung": typed.rung,
        "preset": typed.preset,
        "drop_fragment": typed.ignore_fragment,
        "on_invalid": typed.on_invalid,
    }


def read(spark: SparkSession, typed: argparse.Namespace) -> DataFrame:
    """The rows of the inputs."""
    # A line ends in LF, and a CR before it is white space.
    options = {"lineSep": "\n"} if typed.kind == "text" else {}
    return spark.read.options(**options).format(typed.kind).load(typed.inputs)


def open_or_create(path: str, keywords: dict[str, Any]) -> None:
    """Makes sure that there is a set in pieces, of this meaning."""
    try:
        uriscan.SetPieces.open(path, **keywords)
    except FileNotFoundError:
        uriscan.SetPieces.create(path, **keywords)


def main(given: list[str] | None = None) -> None:
    """Does what was typed."""
    typed = arguments(sys.argv[1:] if given is None else given)
    spark = SparkSession.builder.appName(f"uriscan {typed.command}").getOrCreate()
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1 << 16)
    rows, column = read(spark, typed), typed.column or "value"
    if typed.command == "dedup":
        keywords = equivalence(typed)
        if typed.seen:
            open_or_create(typed.seen, keywords)
        choice = {"keep": typed.keep, "by": typed.by, "seen": typed.seen, "order": typed.order, "scratch": typed.scratch}
        made = uriscan.spark.dedup(rows, column, **choice, **keywords)
    elif typed.command == "normalize":
        made = uriscan.spark.normalize(rows, column, **equivalence(typed))
    else:
        made = uriscan.spark.extract(rows, column, into=typed.into, format=typed.format)
        if typed.kind == "text" and typed.to in (None, "text"):
            made = made.select(typed.into)
    output = typed.to or typed.kind
    options = {"lineSep": "\n"} if output == "text" else {}
    made.write.mode("errorifexists").options(**options).format(output).save(typed.output)
    if typed.command == "dedup" and typed.update:
        # Of what was written, which is what was not seen.
        written = spark.read.options(**options).format(output).load(typed.output)
        added = uriscan.spark.add(written, column, typed.seen, **keywords)
        print(f"{added} keys were added to {typed.seen}", file=sys.stderr)


if __name__ == "__main__":
    main()

"""What a wheel is asked before anyone else is: run by scripts/wheels and scripts/test-wheel-aarch64 with the Python that it is for.

    python scripts/test-wheel.py              without other packages
    python scripts/test-wheel.py --columns    also columns of pyarrow
"""

import os
import sys
import tempfile

import uriscan


def values() -> None:
    assert uriscan.normalize("HTTP://Example.com:80/%7Ebob") == "http://example.com/~bob"
    assert uriscan.dedup(["http://h", "HTTP://H/", "http://i"], keep="last", count=True) == (["HTTP://H/", "http://i"], [2, 1])


def tables(place: str) -> None:
    table, out, dupes = (os.path.join(place, name) for name in ("in.csv", "out.parquet", "dupes.csv"))
    with open(table, "w") as file:
        file.write("url\nhttp://h\nHTTP://h/\n")
    assert uriscan.dedup_parquet(table, out, column="url", seen=place + "/s", update=True)["added"] == 1
    uriscan.dedup_parquet(table, out, column="url", dupes=dupes)
    with open(dupes) as file:
        assert f"{table},2,HTTP://h/,,http://h,,scheme," in file.read()


def columns(place: str) -> str:
    import pyarrow
    import pyarrow.parquet

    # Records of all lengths, for the kernels of this machine.
    given = [f"HTTP://H{row % 700}.Example:80/" + "%7E/./" * (row % 41) + f"?q={row % 3}" for row in [*range(7_000), *range(3_000)]]
    column = pyarrow.array([None, "no URI", *given])
    forms = uriscan.normalize(column)
    assert forms.to_pylist() == [None, "no URI", *map(uriscan.normalize, given)]
    assert forms[2].as_py() == "http://h0.example/?q=0" and forms[3].as_py() == "http://h1.example/~/?q=1"
    assert uriscan.key(column).to_pylist()[2:] == [uriscan.key(form) for form in forms.to_pylist()[2:]]
    first = uriscan.is_first(column).to_pylist()
    assert sum(first[2:]) == len(set(forms.to_pylist()[2:])) == 7_000
    table, out = place + "/in.parquet", place + "/out.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"url": column}), table)
    uriscan.dedup_parquet(table, out, column="url", dupes=place + "/dupes.parquet")
    kept, dropped = (pyarrow.parquet.read_table(path).num_rows for path in (out, place + "/dupes.parquet"))
    assert kept == sum(one is True for one in first) and kept + dropped == len(given) + 1
    return f", pyarrow {pyarrow.__version__}"


def main() -> None:
    values()
    with tempfile.TemporaryDirectory() as place:
        tables(place)
        more = columns(place) if "--columns" in sys.argv else ""
    libc = os.confstr("CS_GNU_LIBC_VERSION") if hasattr(os, "confstr") else ""
    print("works:", uriscan.__version__, "Python", sys.version.split()[0] + ",", os.uname().machine + ",", f"{libc}{more}")


if __name__ == "__main__":
    main()

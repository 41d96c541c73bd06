"""What tasks of Spark and Ray do with the keys of a batch."""

import pyarrow

from uriscan import _keys


def test_values_without_a_key_are_kept_apart():
    long = b"http://h/" + b"a" * (64 << 20)
    urls = pyarrow.array([b"http://h", long, b"HTTP://h/", long, b"http://i/"], pyarrow.binary())
    batch = pyarrow.RecordBatch.from_pydict({"url": urls, "place": [3, 5, 8, 13, 21]})
    for keep, expected in ("first", [3, 5, 13, 21]), ("last", [5, 8, 13, 21]):
        # Again, as a task that is tried again.
        one, again = (
            pyarrow.Table.from_batches(_keys.keyed_places(iter([batch]), {}, "blake3", lambda rows: rows["place"], keep))
            for _ in range(2)
        )
        assert sorted(one["place"].to_pylist()) == expected
        assert one.sort_by("place") == again.sort_by("place")

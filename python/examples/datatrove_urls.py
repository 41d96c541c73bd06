"""For datatrove: one document of every URL, over all tasks and over runs.

Two stages, as with datatrove's own deduplication: the first notes the keys of every task in a set of its own, the second keeps
a document if its URL is new in its task, in no set of an earlier task, and in no set of an earlier run:

    LocalPipelineExecutor([reader, UrlKeys("keys")], tasks=8).run()
    LocalPipelineExecutor([reader, UrlDedup("keys", seen="seen.set"), writer], tasks=8).run()
    remember("keys", "seen.set")

The documents that stay are those of one task that reads everything in the order of the ranks, whatever runs when. Keywords
define which URLs are equivalent: `UrlKeys("keys", preset="crawl")`, the same in all places. Nothing is shuffled; a key takes 16
bytes on disk. A task that is run again makes its set anew.
"""

import itertools
import os
import shutil

from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.filters.base_filter import BaseFilter

import uriscan


def _set(folder, rank):
    return os.path.join(folder, f"{rank:05}.set")


def _urls(documents):
    return [document.metadata.get("url") for document in documents]


class UrlKeys(PipelineStep):
    """Notes the keys of the URLs of a task in a set below `folder`."""

    name = "🔑 URL keys"
    type = "🫂 - DEDUPS"

    def __init__(self, folder, batch_size=10_000, **keywords):
        super().__init__()
        self.folder, self.batch_size, self.keywords = folder, batch_size, keywords

    def run(self, data, rank=0, world_size=1):
        os.makedirs(self.folder, exist_ok=True)
        place = _set(self.folder, rank)
        shutil.rmtree(place, ignore_errors=True)
        with uriscan.Set.create(place, **self.keywords).adding() as keys:
            documents = iter(data or ())
            while batch := list(itertools.islice(documents, self.batch_size)):
                with self.track_time("batch"):
                    keys.is_first(_urls(batch))
                self.stat_update("documents", value=len(batch))
                yield from batch


class UrlDedup(BaseFilter):
    """Keeps the first document of every URL: none that is in the sets of earlier tasks, or in the set `seen` of earlier runs.

    Documents without a URL stay.
    """

    name = "🔗 URL dedup"
    type = "🫂 - DEDUPS"

    def __init__(self, folder, seen=None, batch_size=10_000, exclusion_writer=None, **keywords):
        super().__init__(exclusion_writer, batch_size)
        self.folder, self.seen, self.keywords = folder, seen, keywords

    def filter(self, doc):
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch):
        urls = _urls(batch)
        kept = [first is not False for first in self._here.is_first(urls)]
        for earlier in self._earlier:
            kept = [keep and not known for keep, known in zip(kept, earlier.contains(urls))]
        return [keep or (False, "seen_url") for keep in kept]

    def run(self, data, rank=0, world_size=1):
        self._here = uriscan.Deduplicator(**self.keywords)
        places = [_set(self.folder, before) for before in range(rank)]
        places += [self.seen] if self.seen and os.path.exists(self.seen) else []
        self._earlier = [uriscan.Set.open(place, **self.keywords) for place in places]
        yield from super().run(data, rank, world_size)


def remember(folder, seen, **keywords):
    """Adds the sets of all tasks to the set `seen`, for the next run."""
    places = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".set")]
    places += [seen] if os.path.exists(seen) else []
    new = f"{seen}.new"
    uriscan.Set.merge(new, [uriscan.Set.open(place, **keywords) for place in places])
    shutil.rmtree(seen, ignore_errors=True)
    os.rename(new, seen)

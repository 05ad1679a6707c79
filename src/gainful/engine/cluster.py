"""The workers of a Dask cluster: started here, or those of a scheduler that is running already."""

from __future__ import annotations

import atexit
import logging
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from gainful._version import __version__
from gainful.errors import GainfulError, MissingExtraError, setting
from gainful.memory import LEAST, given_limit, limit_memory, memory_limit
from gainful.progress import track

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Done = TypeVar("Done")

# Seconds until a scheduler must have answered, and until the first of its workers must be there.
ANSWER, FIRST_WORKER = 5, 30
# Tasks that a worker gets altogether, as far as there is work: the more, the more evenly it is spread, but each costs
# a millisecond or two. And those that are under way or waiting to be handed on, so that memory is bounded.
_EACH, _AHEAD = 8, 3
# What computes must be the same everywhere, or results are not equal to the last bit.
_PACKAGES = ("numpy", "polars", "scipy", "distributed")

_GUARD = (
    "A script that starts workers is read by each of them: put what it does under if __name__ == '__main__', "
    "or give the scheduler of a cluster that is running"
)


@cache
def versions() -> dict[str, str]:
    """The versions of what computes, in the process that asks."""
    found = {"python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    found["gainful"] = __version__
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


@contextmanager
def open_cluster(scheduler: str | None, workers: int | None) -> Iterator[Cluster]:
    """The workers of a scheduler, or `workers` processes on this machine (one per core if None) that end afterwards."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("dask", setting("engine", "dask")) from None
    if scheduler is None:
        with (
            _started(workers or os.cpu_count() or 1) as local,
            distributed.Client(local, set_as_default=False) as client,
        ):
            yield Cluster(client=client, address="the local cluster")
        return
    with _connected(scheduler) as client:
        _check_workers(client, scheduler)
        yield Cluster(client=client, address=scheduler)


@contextmanager
def _started(number: int) -> Iterator[LocalCluster]:
    """Worker processes on this machine."""
    import dask
    from distributed import LocalCluster
    from distributed.utils import LoopRunner

    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise GainfulError(_GUARD)
    loop = LoopRunner()
    with _interrupts_blocked():
        loop.start()
    # The workers share the cores. Dask would make malloc hand back every array at once: nearly twice the CPU time.
    threads = max(1, (os.cpu_count() or 1) // number)
    environment = {f"{name}_NUM_THREADS": 1 for name in ("OMP", "MKL", "OPENBLAS")} | {"POLARS_MAX_THREADS": threads}
    environment["GAINFUL_MEMORY"] = max(memory_limit() // number, LEAST)
    try:
        with dask.config.set({"distributed.nanny.pre-spawn-environ": environment}):
            cluster = LocalCluster(
                loop=loop.loop,
                n_workers=number,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",  # any port that is free
                silence_logs=logging.CRITICAL,
            )
    except RuntimeError as error:
        loop.stop()
        raise GainfulError(f"{setting('engine', 'dask')}: no workers could be started ({error}). {_GUARD}") from None
    except BaseException:
        _forget()
        raise
    try:
        with cluster:
            yield cluster
    finally:
        loop.stop()


def _forget() -> None:
    """After Ctrl-C while workers start: they end with this process, and Dask need not tell how each of them did."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
    with suppress(ImportError):
        from distributed.deploy.spec import close_clusters

        atexit.unregister(close_clusters)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Threads that start inside, and the processes they start, leave Ctrl-C to the main thread, which ends them all."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    # Nor is a terminal that is closed their concern.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        resource_tracker.ensure_running()  # which would unblock Ctrl-C when the first process is started
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    from distributed import Client
    from distributed.utils import LoopRunner

    try:
        # First, as a client that finds nobody is still closed when it is thrown away, which may take ten seconds.
        LoopRunner().run_sync(_answers, address)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other versions are refused below, where it matters
            client = Client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise GainfulError(
            f"scheduler {address}: expected a Dask scheduler that answers within {ANSWER} seconds, got none ({error}); "
            "start one with 'dask scheduler', which prints its address"
        ) from None
    with _unsaid("distributed.client", "distributed.batched", "tornado.application"), client:
        yield client


@contextmanager
def _unsaid(*names: str) -> Iterator[None]:
    """Inside, these loggers do not tell of connections that were lost: what follows from it is told, and once."""
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


async def _answers(address: str) -> None:
    from distributed import Security
    from distributed.comm import connect

    comm = await connect(address, timeout=ANSWER, **Security().get_connection_args("client"))
    await comm.close()


def _check_workers(client: Client, address: str) -> None:
    """Refuse a cluster without workers, or with workers that compute with something else."""
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER)
    except (TimeoutError, OSError):
        raise GainfulError(
            f"scheduler {address}: expected at least one worker, got none within {FIRST_WORKER} seconds; start some "
            f"with 'dask worker {address}'"
        ) from None
    with _told_if_lost(client, address):
        found: dict[str, Any] = client.run(versions, on_error="return")
    for worker, theirs in found.items():
        if isinstance(theirs, BaseException):
            raise GainfulError(
                f"worker {worker}: expected gainful {versions()['gainful']}, got {type(theirs).__name__}: {theirs}; "
                "install the same gainful for all workers"
            )
        _check_versions(worker, theirs, versions())


def _check_versions(worker: str, theirs: dict[str, str], ours: dict[str, str]) -> None:
    different = [name for name in ours if ours[name] != theirs.get(name)]
    if different:
        expected = ", ".join(f"{name} {ours[name]}" for name in different)
        got = ", ".join(f"{name} {theirs.get(name, 'none')}" for name in different)
        raise GainfulError(
            f"worker {worker}: expected the versions of this process, {expected}, got {got}; install the same ones, "
            "for results equal to the last bit"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The workers that a client of Dask reaches."""

    client: Client
    address: str  # what to call the cluster

    @property
    def at_once(self) -> int:
        """The threads of all workers that are there now."""
        with _told_if_lost(self.client, self.address):
            threads: int = sum(self.client.nthreads().values())
        return max(1, threads)

    def map(
        self, function: Callable[[Shared, Item], Done], items: Iterable[Item], *, shared: Shared, total: int, label: str
    ) -> Iterator[Done]:
        """The results in the order of the items; see `gainful.progress.Apply`."""
        import dask
        from distributed import as_completed

        at_once = self.at_once
        # Workers that were started here know it already, and what they share.
        memory = None if self.client.cluster is not None else given_limit()
        size = max(1, -(-total // (_EACH * at_once)))
        # A task and not `scatter`: what a lost worker held is made again from the task.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
            held = self._submit(_held, shared)
        todo = enumerate(_batches(iter(items), size))
        finished = as_completed(loop=self.client.loop)
        places: dict[Future[list[Done]], int] = {}
        handed_on = 0

        def submit() -> None:
            for place, batch in islice(todo, max(0, _AHEAD * at_once - len(places) - len(done))):
                task = self._submit(_perform, versions(), memory, function, held, batch)
                places[task] = place
                finished.add(task)

        done: dict[int, Future[list[Done]]] = {}
        submit()
        for task in track(finished, -(-total // size), label):
            done[places.pop(task)] = task
            # Errors, too, come in order: the first piece of work that fails is named, not the first to do so.
            while handed_on in done:
                yield from self._result(done.pop(handed_on))
                handed_on += 1
            submit()

    def _submit(self, function: Callable[..., Any], *words: Any) -> Future[Any]:
        with _told_if_lost(self.client, self.address):
            return self.client.submit(function, *words, pure=False)

    def _result(self, task: Future[Any]) -> Any:
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        try:
            return task.result()
        except KilledWorker as error:
            raise GainfulError(
                f"{self.address}: {error.allowed_failures + 1} workers died over the same piece of work, lastly "
                f"{error.last_worker.address}; most often they need more memory: see their logs"
            ) from None
        except (CancelledError, CommClosedError):
            raise _lost(self.address) from None


@contextmanager
def _told_if_lost(client: Client, address: str) -> Iterator[None]:
    """Dask's own calls go inside: how they fail without a scheduler depends on how long ago it was lost."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) or client.status in ("closing", "closed"):
            raise _lost(address) from None
        raise


def _lost(address: str) -> GainfulError:
    return GainfulError(f"{address}: the scheduler was lost before the work was done; see its log, and begin again")


def _held(shared: Shared) -> Shared:
    return shared


def _perform(
    expected: dict[str, str],
    memory: int | None,
    function: Callable[[Shared, Item], Done],
    shared: Shared,
    items: list[Item],
) -> list[Done]:
    """What a worker does: checks itself, since workers may join at any time, then works."""
    limit_memory(memory)
    if versions() != expected:
        from distributed import get_worker

        _check_versions(get_worker().address, versions(), expected)
    return [function(shared, item) for item in items]


def _batches(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while batch := list(islice(items, size)):
        yield batch

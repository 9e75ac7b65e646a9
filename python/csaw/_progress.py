# SPDX-License-Identifier: MIT
"""How calls are stopped by Ctrl-C, and progress of runs: the library calls back on the caller's thread.

Ctrl-C would be raised before a callback of Python's has come to its first line, where ctypes drops it. So a call notes
it, stops where the library next asks, and raises KeyboardInterrupt at its end. An exception in a callback of a run
stops it too, and is raised again when the call is over.
"""
import signal
import threading
from typing import Any, Callable, Optional, Union

from . import _structs as s
from ._lib import check, invalid, lib

ProgressOption = Union[bool, Callable[[int, int], Optional[bool]]]


def _bar(unit):
    """tqdm's bar as a function of (done, total), or None where tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bar = None

    def show(done, total):
        nonlocal bar
        if bar is None:
            bar = tqdm(total=total, unit=unit, unit_scale=True)
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    return show


class Interruptible:
    """Within it Ctrl-C stops a call of the library where that asks, and is raised at the end. What was made is to have
    its owner by then."""

    def __init__(self) -> None:
        self._interrupted = False

    def __enter__(self) -> Any:
        self._handler = None
        if threading.current_thread() is threading.main_thread():
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a program's own handler stays
                self._handler = signal.signal(signal.SIGINT, self._note)
                self._watch: Any = s.WATCH(lambda _user: not self._interrupted)
                lib.csaw_watch(self._watch, None)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._handler is not None:
            lib.csaw_watch(s.WATCH(), None)
            self._watch = None  # it refers to this object
            signal.signal(signal.SIGINT, self._handler)
        if self._interrupted:
            raise KeyboardInterrupt from None

    def _note(self, _signal, _frame):
        self._interrupted = True


class Callbacks(Interruptible):
    """The callbacks of one run. progress: True = tqdm's bar where it is installed; or a function of (done, total),
    which stops the run by returning False."""

    def __init__(self, progress: ProgressOption = False, unit: str = " walks"):
        super().__init__()
        if not isinstance(progress, bool) and progress is not None and not callable(progress):
            raise invalid(f"progress is {progress!r}; it is True, or a function of (done, total)")
        self.error: Optional[BaseException] = None
        self._told = _bar(unit) if progress is True else progress or None
        self.progress: Any = s.PROGRESS(self._progress)

    def __exit__(self, *_: Any) -> None:
        self.progress = None  # it refers to this object
        super().__exit__()

    @property
    def stop(self) -> bool:
        """Whether the run is to end here."""
        return self._interrupted or self.error is not None

    def guard(self, function, *arguments):
        """Calls function; keeps an exception for later and returns None."""
        try:
            return function(*arguments)
        except BaseException as error:  # it would be lost in the library
            self.error = error
            return None

    def _progress(self, _user, done, total):
        def tell():
            return self._told is None or self._told(done, total) is not False

        return bool(not self.stop and self.guard(tell))

    def finish(self, status: int) -> None:
        """Raises what a callback raised, else what the library says of status."""
        if self.error is not None:
            raise self.error
        check(status)

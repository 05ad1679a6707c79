"""Where `gainful` begins: nothing but this is imported before Ctrl-C is heeded."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

INTERRUPTED = 130  # what shells report for a program that SIGINT ended
PIPE_CLOSED = 141  # and for one that SIGPIPE ended


_told: list[int] = []  # the status of what was said already
_heeded: list[int] = []  # the signals that came


class Ended(BaseException):
    """The process was told to end: what is half done is undone on the way out, as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def start() -> int:
    """Run the command line of this process; Ctrl-C ends it quietly while it is still being imported, too.

    Returns 0 when all went well; otherwise the process ends here. After SIGINT, SIGTERM or SIGHUP it ends by that
    signal, which shells report as 130, 143 or 129, so that a loop over many commands ends with the one interrupted.
    """
    try:
        # As gainful/__init__.py has set it, or Python.
        if signal.getsignal(signal.SIGINT) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(signal.SIGINT, _interrupt)
        if _is_limited():
            _supervise()
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has but one of them
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # under nohup, SIGHUP is ignored
                signal.signal(number, _end)
        sys.unraisablehook = _again
        from gainful.cli.main import main, open_streams
        from gainful.memory import watch

        open_streams()  # before somebody else opens a file
        watch(_exhausted)
        status = main()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Ended as end:
        status = 1 if _told else 128 + end.number
    except Exception:  # a signal that somebody dropped left something half done, such as an import
        if not _heeded:
            raise
        status = 1 if _told else 128 + _heeded[-1]
    if status:
        for number in _heeded:  # it may be sent again, see below
            signal.signal(number, signal.SIG_IGN)
        _leave(status)
    return status


def _is_limited() -> bool:
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _supervise() -> None:
    """Go on in a child, and end as it does: a library that gets no memory ends the process it is in, without a word."""
    child = os.fork()
    if not child:
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: os.kill(child, number))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if -code in (signal.SIGABRT, signal.SIGTRAP, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL):
        why = "a library could not go on, most often for want of memory; its address space is limited (ulimit -v)"
        sys.stderr.write(f"gainful: error: {why}: allow more, or take fewer runs and topics at a time\n")
        code = 1
    _leave(128 - code if code < 0 else code)


def _exhausted(error: Exception, goes_on: Callable[[], bool]) -> None:
    """Say that memory is at its limit, and end as after SIGTERM; at once if more is taken before that is heeded."""
    from time import sleep

    from gainful.cli.main import fail
    from gainful.errors import spoken

    spoken.set("shell")
    _told.append(fail(str(error), status=1))
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(200):
        sleep(0.01)
        if goes_on():
            break
    _leave(1)


def _end(number: int, _: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # being told twice must not stop the undoing
    _heeded.append(number)
    raise Ended(number)


def _interrupt(number: int, _: FrameType | None) -> NoReturn:
    _heeded.append(number)
    raise KeyboardInterrupt


def _again(dropped: Any) -> None:
    """Where Python drops exceptions, as in a callback of its own, it drops a signal: it is sent again in a moment."""
    error = dropped.exc_value
    if not isinstance(error, (KeyboardInterrupt, Ended)):
        sys.__unraisablehook__(dropped)
        return
    if sys.is_finalizing():  # the process ends anyway, and no thread can be started
        return
    from _thread import start_new_thread  # threading would wait for the thread, and be interrupted in here
    from time import sleep

    number = error.number if isinstance(error, Ended) else signal.SIGINT
    if isinstance(error, Ended):
        signal.signal(number, _end)

    def send() -> None:
        sleep(0.05)
        if os.name == "posix":
            os.kill(os.getpid(), number)
        else:
            signal.raise_signal(number)

    start_new_thread(send, ())


def _leave(status: int) -> NoReturn:
    """End, by the signal that was heeded if any; threads that still read from somewhere are not waited for."""
    import atexit

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass
    if status > 128 and status != PIPE_CLOSED and os.name == "posix":
        signal.signal(status - 128, signal.SIG_DFL)
        os.kill(os.getpid(), status - 128)
    os._exit(status)

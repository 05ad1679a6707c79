"""Where `gainful` begins: nothing but this is imported before Ctrl-C is heeded."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130  # what shells report for a program that SIGINT ended


class Ended(BaseException):
    """The process was told to end: what is half done is undone on the way out, as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def start() -> int:
    """Run the command line of this process; Ctrl-C ends it quietly while it is still being imported, too.

    Returns
    -------
    int
        The exit status. After SIGINT, SIGTERM or SIGHUP there is none: the process ends by that signal, which shells
        report as 130, 143 or 129, so that a loop over many commands ends with the one that was interrupted.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has but one of them
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # under nohup, SIGHUP is ignored
            signal.signal(number, _end)
    try:
        from gainful.cli.main import main

        status = main()
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Ended as end:
        status = 128 + end.number
    return _by_signal(status) if status > 128 and status != 141 else status


def _end(number: int, _: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # being told twice must not stop the undoing
    raise Ended(number)


def _by_signal(status: int) -> int:
    """End by the signal that was heeded; threads that still read from somewhere are not waited for."""
    import atexit

    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass
    atexit._run_exitfuncs()
    if os.name == "posix":
        signal.signal(status - 128, signal.SIG_DFL)
        os.kill(os.getpid(), status - 128)
    return status

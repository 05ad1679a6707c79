"""Where `gainful` begins: nothing but this is imported before Ctrl-C is heeded."""

INTERRUPTED = 130  # what shells report for a program that SIGINT ended


def start() -> int:
    """Run the command line of this process; Ctrl-C ends it quietly while it is still being imported, too."""
    try:
        from gainful.cli.main import main

        return main()
    except KeyboardInterrupt:
        return INTERRUPTED

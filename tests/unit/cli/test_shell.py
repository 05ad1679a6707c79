from __future__ import annotations

from gainful.cli.shell import parameter_texts, shell_of, summary


def function(a, b, *, c=1):
    """Do it.

    Longer.

    Parameters
    ----------
    a, b
        Two
        lines.
    c
        See: this.

    Returns
    -------
    int
        Nothing.
    """


def test_texts_of_parameters():
    assert parameter_texts(function) == {"a": "Two lines.", "b": "Two lines.", "c": "See: this."}


def test_function_without_parameters():
    assert parameter_texts(lambda: None) == {}
    assert summary(lambda: None) == ""


def test_command_takes_over_and_adds():
    @shell_of(function)
    def command(a, *, c=1, extra=2):
        """Something else.

        Parameters
        ----------
        extra
            Of its own.
        """

    assert summary(command) == "Do it."
    assert parameter_texts(command) == {"a": "Two lines.", "c": "See: this.", "extra": "Of its own."}

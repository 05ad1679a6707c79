"""Every command is made from the function of its name: same parameters, defaults, values and texts."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import shlex
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest

import gainful
from gainful.cli.app import app, register
from gainful.cli.commands import COMMANDS, GROUPS
from gainful.cli.make import headline, load, parameter_texts

README = Path(__file__).parents[2] / "README.md"

# `measures` lists a registry and `demo` runs other commands: there is no function that they are made from.
# `trec_eval` takes another program's options, which are not spelled as parameters are.
WITHOUT_FUNCTION = {"measures", "demo", "trec_eval"}
MADE = [name for name in COMMANDS if name not in WITHOUT_FUNCTION]
# They read files.
READING = [name for name in COMMANDS if name not in ("measures", "demo", "simulate")]
# What stands without an option at the shell, and for one or more parameters in Python.
WORDS = {"source", "collections", "files", "qrels", "others", "runs", "run", "ranker", "data", "folder"}
# A function needs it; the command lists what there is to choose from.
OPTIONAL_AT_THE_SHELL = {("explain", "topic")}


@pytest.fixture(autouse=True, scope="module")
def _all_commands():
    register()


def command(name: str):
    found = app
    for word in name.split():
        found = found[word]
    return found


def public(name: str):
    """The function of a command's name in the package: `gainful study x-y` is gainful.studies.x_y."""
    place = name.replace("study ", "studies ").replace(" ", ".").replace("-", "_")
    return attrgetter(place)(gainful)


def parameters(name: str):
    return inspect.signature(command(name).default_command).parameters


def arguments(name: str):
    collection = command(name).assemble_argument_collection(parse_docstring=True)
    return {argument.field_info.name: argument for argument in collection}


def test_commands_are_those_listed():
    words = [name for name in app if not name.startswith("-")]
    inside = {word: [f"{word} {name}" for name in app[word] if not name.startswith("-")] for word in GROUPS}
    assert sorted(name for word in words for name in inside.get(word, [word])) == sorted(COMMANDS)


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_help_lists_them_in_the_order_of_the_table(group, gainful):
    listed = re.findall(r"^│ ([a-z_]\S*) ", gainful(*group.split(), "--help").out, re.MULTILINE)
    names = [name.removeprefix(group).split()[0] for name in COMMANDS if name.startswith(group)]
    assert listed == list(dict.fromkeys(names))


@pytest.mark.parametrize("name", MADE)
class TestMade:
    def test_it_calls_the_public_function_of_its_name(self, name):
        assert load(COMMANDS[name].function) is public(name)

    def test_every_parameter_is_an_option_with_its_default(self, name):
        options = parameters(name)
        for parameter in inspect.signature(public(name)).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD or parameter.name in WORDS:
                continue
            if dataclasses.is_dataclass(parameter.default):
                usual = dataclasses.asdict(parameter.default)
                assert {key: options[key].default for key in usual} == usual
            elif parameter.name == "measures":
                assert options["measures"].default == ()  # the function's own default holds
            elif (name, parameter.name) not in OPTIONAL_AT_THE_SHELL:
                assert options[parameter.name].default == parameter.default, parameter.name

    def test_texts_are_those_of_the_function(self, name):
        texts = parameter_texts(public(name))
        for parameter, argument in arguments(name).items():
            if parameter in texts and parameter not in WORDS | {"measures", "topic"}:
                assert argument.parameter.help == texts[parameter], parameter

    def test_the_headline_is_that_of_the_function(self, name):
        assert headline(command(name).default_command) == headline(public(name)) != ""


@pytest.mark.parametrize("name", COMMANDS)
class TestEveryCommand:
    def test_options_are_spelled_as_the_parameters(self, name):
        for parameter in parameters(name).values():
            if parameter.kind is parameter.KEYWORD_ONLY:
                assert arguments(name)[parameter.name].names[0] == "--" + parameter.name.replace("_", "-")

    def test_every_parameter_has_help(self, name):
        for parameter, argument in arguments(name).items():
            assert argument.parameter.help, parameter

    def test_help_speaks_of_files(self, name):
        for parameter, argument in arguments(name).items():
            assert not re.search(r"\b(frame|dict|array|None)\b", argument.parameter.help or ""), parameter

    def test_help(self, name, gainful):
        status, out, err = gainful(*name.split(), "--help")
        assert (status, err) == (0, "")
        for parameter in parameters(name).values():
            if parameter.kind is parameter.KEYWORD_ONLY:
                assert "--" + parameter.name.replace("_", "-") in out
        assert not re.search(r"default:\s*[\]()\[]", out.replace("│", ""))

    @pytest.mark.skipif(not README.exists(), reason="no README yet")
    def test_readme_shows_it(self, name):
        assert f"gainful {name}" in README.read_text(encoding="utf-8")


def refused(outcome, status: int, *named: str) -> None:
    """It ends in one line on stderr that names what is wrong, and nothing else."""
    assert (outcome.status, outcome.out) == (status, "")
    assert outcome.err.startswith("gainful: error: ")
    assert outcome.err.count("\n") == 1
    assert any(name in outcome.err for name in named), outcome.err


class TestWrong:
    """The examples of the commands, where something is missing or wrong."""

    @pytest.mark.parametrize("name", READING)
    def test_no_such_file(self, name, gainful, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        words = shlex.split(COMMANDS[name].example)[1:]
        refused(gainful(*words), 1, *(f"{word}: no such file" for word in words))
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", [name for name in READING if " runs/ " in COMMANDS[name].example])
    def test_a_folder_without_runs(self, name, gainful, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("runs").mkdir()
        Path("qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 2\n", encoding="utf-8")
        refused(gainful(*shlex.split(COMMANDS[name].example)[1:]), 1, "runs: expected a folder of runs")

    @pytest.mark.parametrize("name", READING)
    def test_no_such_option(self, name, gainful):
        refused(gainful(*shlex.split(COMMANDS[name].example)[1:], "--nosuch"), 2, "--nosuch")

    @pytest.mark.parametrize("name", [name for name in MADE if COMMANDS[name].prints])
    def test_a_value_that_there_is_not(self, name, gainful):
        refused(gainful(*shlex.split(COMMANDS[name].example)[1:], "--format", "xml"), 2, '"xml" for --format')


@pytest.mark.parametrize("words", [["--help"], *([*name.split(), "--help"] for name in COMMANDS)], ids=" ".join)
def test_help_imports_nothing_heavy(words):
    """What a person waits for: polars takes as long to import as all the rest."""
    code = (
        f"import sys, json; from gainful.cli.main import main; main({words!r});"
        "print(json.dumps([name for name in ('polars', 'numpy', 'scipy', 'torch') if name in sys.modules]),"
        "file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(ended.stderr) == []

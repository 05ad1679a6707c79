"""Every command is the twin of the function of its name."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from dataclasses import asdict, fields, is_dataclass
from operator import attrgetter
from pathlib import Path

import pytest

import gainful
from gainful.cli.inputs import Source
from gainful.cli.main import COMMANDS, GROUPS, app
from gainful.cli.shell import parameter_texts, summary
from gainful.cli.study import Studied

README = Path(__file__).parents[2] / "README.md"

# `measures` lists a registry and `demo` runs other commands: there is no function to be the twin of.
# `trec_eval` takes another program's options, which are not spelled as parameters are.
WITHOUT_TWIN = {"measures", "demo", "trec_eval"}
TWINS = sorted(COMMANDS.keys() - WITHOUT_TWIN)
# A command whose function has a longer name: `gainful topics` is gainful.topics_needed.
FUNCTIONS = {
    "topics": "topics_needed",
    "threshold fit": "fit_threshold",
    "threshold apply": "apply_threshold",
    "threshold curve": "threshold_curve",
    "ltrf train": "ltrf.train",
    "ltrf score": "ltrf.score",
    "ltrf compare": "ltrf.compare",
    "ltrf tune": "ltrf.tune",
    "study negative-labels": "studies.negative_labels",
    "study incomplete-judgments": "studies.incomplete_judgments",
    "study gain-discount": "studies.gain_discount",
    "study forbidden-documents": "studies.forbidden_documents",
}
# What only a command line has: where results go, and how they look there.
OF_THE_SHELL = {"format", "output", "per_topic", "folder", "files", "source", "studied", "shown", "alpha", "movers"}
OF_THE_SHELL |= {"fail_if_worse", "margin", "save"}
# A command reads these from files: see gainful.cli.inputs.Source and gainful.cli.study.Studied.
READ_FROM_FILES = {"scores": ("source", Source), "collections": ("studied", Studied)}
# A function needs it; the command lists what there is to choose from.
OPTIONAL_AT_THE_SHELL = {("explain", "query")}


def command(name: str):
    found = app
    for word in name.split():
        found = found[word]
    return found


def command_function(name: str):
    return command(name).default_command


def twin(name: str):
    return attrgetter(FUNCTIONS.get(name, name))(gainful)


def arguments(name: str):
    collection = command(name).assemble_argument_collection(parse_docstring=True)
    return {argument.field_info.name: argument for argument in collection}


def flags(name: str):
    """The options of a command, those it shares with others (`Source`, `Shown`) included."""
    for parameter in inspect.signature(command_function(name)).parameters.values():
        if is_dataclass(parameter.default):
            yield from (field.name for field in fields(parameter.default))
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            yield parameter.name


def test_commands_are_those_listed():
    words = [name for name in app if not name.startswith("-")]
    inside = {word: [f"{word} {name}" for name in app[word] if not name.startswith("-")] for word in GROUPS}
    assert [name for word in words for name in inside.get(word, [word])] == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_headline_is_that_of_the_docstring(name):
    described = command_function(name) if name in WITHOUT_TWIN else twin(name)
    assert COMMANDS[name] == summary(described)
    assert summary(command_function(name)) == summary(described)


@pytest.mark.parametrize("name", TWINS)
class TestTwins:
    def test_same_parameters(self, name):
        function = inspect.signature(twin(name)).parameters
        command = inspect.signature(command_function(name)).parameters
        assert set(function) - READ_FROM_FILES.keys() <= set(command)
        assert set(command) - set(function) <= OF_THE_SHELL

    def test_same_defaults(self, name):
        command = inspect.signature(command_function(name)).parameters
        for parameter in inspect.signature(twin(name)).parameters.values():
            if parameter.name in READ_FROM_FILES:
                option, kind = READ_FROM_FILES[parameter.name]
                assert isinstance(command[option].default, kind)
            elif (name, parameter.name) in OPTIONAL_AT_THE_SHELL:
                assert command[parameter.name].default is None
            elif is_dataclass(parameter.default):
                assert asdict(command[parameter.name].default) == asdict(parameter.default)
            else:
                assert command[parameter.name].default == parameter.default, parameter.name

    def test_same_help(self, name):
        texts = parameter_texts(twin(name))
        for parameter, argument in arguments(name).items():
            if (
                parameter in texts
                and (name, parameter) not in OPTIONAL_AT_THE_SHELL
                and parameter not in READ_FROM_FILES
            ):
                assert argument.parameter.help == texts[parameter], parameter


@pytest.mark.parametrize("name", COMMANDS)
class TestEveryCommand:
    def test_flags_are_spelled_as_the_parameters(self, name):
        for parameter in flags(name):
            assert arguments(name)[parameter].names[0] == "--" + parameter.replace("_", "-")

    def test_every_parameter_has_help(self, name):
        shared = {"source", "studied", "shown", "settings"}  # stand for several options, each with its own help
        for parameter, argument in arguments(name).items():
            assert argument.parameter.help or parameter in shared, parameter

    def test_help(self, name, gainful):
        status, out, err = gainful(*name.split(), "--help")
        assert (status, err) == (0, "")
        assert COMMANDS[name].split()[0] in out
        for parameter in flags(name):
            assert "--" + parameter.replace("_", "-") in out

    def test_help_reads_well(self, name, gainful):
        for parameter, argument in arguments(name).items():
            assert "\n" not in (argument.parameter.help or ""), parameter
        _, out, _ = gainful(*name.split(), "--help")
        assert not re.search(r"default:\s*[\]()\[]", out.replace("│", ""))

    @pytest.mark.skipif(not README.exists(), reason="no README yet")
    def test_readme_shows_it(self, name):
        assert f"gainful {name}" in README.read_text(encoding="utf-8")


def test_help_imports_nothing_heavy():
    code = (
        "import sys, json; from gainful.cli.main import main; main(['--help']);"
        "print(json.dumps([name for name in ('polars', 'numpy', 'scipy') if name in sys.modules]), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(ended.stderr) == []

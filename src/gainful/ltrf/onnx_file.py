"""An f-ranker as one ONNX file: scores without torch, LightGBM or gainful."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.errors import GainfulError, MissingExtraError
from gainful.io.atomic import write_atomically
from gainful.ltrf.ranker import FRanker
from gainful.ltrf.targets import FloatArray
from gainful.ltrf.weights import quiet

if TYPE_CHECKING:
    from gainful.ltrf.features import Trees
    from gainful.ltrf.text import Encoder

# A file of protocol buffers may be no larger.
_MOST_BYTES = 2**31 - 2**20
_OPSET = 18


def write_onnx(ranker: FRanker, path: Path) -> None:
    """Score and heads per document; gains, threshold and calibration stand in the file's metadata."""
    onnx = _load_onnx()
    from gainful.ltrf.features import Trees

    weights = ranker.scale.head_weights(ranker.loss) if "ordinal" in ranker.loss else None
    model = _of_trees(ranker.model, weights) if isinstance(ranker.model, Trees) else _of_text(ranker.model, weights)
    known = {name: value for name, value in ranker.content().items() if name not in ("validation", "test")}
    onnx.helper.set_model_props(model, {name: json.dumps(value) for name, value in known.items()})
    onnx.checker.check_model(model)
    write_atomically(path, model.SerializeToString())


def _load_onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnxscript  # noqa: F401 (what torch writes the file with)
    except ImportError:
        raise MissingExtraError("onnx", "an export to ONNX") from None
    return onnx


def _of_text(model: Encoder, weights: FloatArray | None) -> Any:
    import onnx
    import torch

    encoder = model.encoder
    size = sum(value.numel() * 4 for value in encoder.parameters())
    if size > _MOST_BYTES:
        raise GainfulError(f"an export to ONNX: expected weights of at most 2 GiB, got {size / 2**30:.1f} GiB")

    class Scored(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = encoder.model
            steps = torch.ones(1) if weights is None else torch.as_tensor(weights, dtype=torch.float32)
            self.register_buffer("steps", steps)

        def forward(
            self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor | None = None
        ) -> tuple[torch.Tensor, torch.Tensor]:
            segments = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
            heads = self.model(input_ids=input_ids, attention_mask=attention_mask, **segments).logits
            chances = heads if weights is None else torch.sigmoid(heads)
            return (chances * self.steps).sum(-1), heads

    with quiet(), warnings.catch_warnings(), TemporaryDirectory() as folder, torch.no_grad():
        warnings.simplefilter("ignore")  # of its own parts, and of names of axes that two inputs share
        features = encoder.preprocess([("query", "a document"), ("query", "another document")])
        names = ("input_ids", "attention_mask", "token_type_ids")
        inputs = {name: features[name].cpu() for name in names if name in features}
        sizes = {0: torch.export.Dim("documents"), 1: torch.export.Dim("tokens")}
        path = Path(folder) / "model.onnx"
        home, talk = encoder.device, logging.getLogger("torch.onnx")
        level = talk.level
        talk.setLevel(logging.ERROR)
        try:
            torch.onnx.export(
                Scored().cpu().eval(),
                tuple(inputs.values()),
                str(path),
                input_names=list(inputs),
                output_names=["score", "heads"],
                dynamic_shapes=(sizes,) * len(inputs),
                opset_version=_OPSET,
                external_data=False,
                dynamo=True,
                verbose=False,
            )
        finally:
            talk.setLevel(level)
            encoder.to(home)
        return onnx.load(str(path))


def _of_trees(trees: Trees, weights: FloatArray | None) -> Any:
    """LightGBM's trees as one node; heads of several trees a round are told apart by its target."""
    from onnx import TensorProto, helper

    dump = trees.booster.dump_model()
    if dump.get("average_output"):
        raise GainfulError("an export to ONNX: expected boosted trees, got a random forest")
    nodes: dict[str, list[Any]] = {name: [] for name in _NODE}
    leaves: dict[str, list[Any]] = {name: [] for name in _LEAF}
    for number, tree in enumerate(dump["tree_info"]):
        for at, node, left, right in _walk(tree["tree_structure"]):
            leaf = "leaf_value" in node
            feature, value, missing = (0, 0.0, 0) if leaf else _split(node)
            row = (number, at, feature, "LEAF" if leaf else "BRANCH_LEQ", value, left, right, missing)
            for name, entry in zip(_NODE, row, strict=True):
                nodes[name].append(entry)
            if leaf:
                for name, entry in zip(_LEAF, (number, at, number % trees.heads, node["leaf_value"]), strict=True):
                    leaves[name].append(entry)
    graph = [
        helper.make_node(
            "TreeEnsembleRegressor",
            ["features"],
            ["heads"],
            domain="ai.onnx.ml",
            n_targets=trees.heads,
            aggregate_function="SUM",
            post_transform="NONE",
            **nodes,
            **leaves,
        )
    ]
    steps = np.ones(trees.heads) if weights is None else weights
    constants = [helper.make_tensor("steps", TensorProto.FLOAT, [trees.heads], steps.astype(np.float32))]
    constants.append(helper.make_tensor("last", TensorProto.INT64, [1], [1]))
    if weights is not None:
        graph.append(helper.make_node("Sigmoid", ["heads"], ["chances"]))
    graph.append(helper.make_node("Mul", ["heads" if weights is None else "chances", "steps"], ["parts"]))
    graph.append(helper.make_node("ReduceSum", ["parts", "last"], ["score"], keepdims=0))
    made = helper.make_graph(
        graph,
        "f-ranker",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["documents", len(trees.names)])],
        [
            helper.make_tensor_value_info("score", TensorProto.FLOAT, ["documents"]),
            helper.make_tensor_value_info("heads", TensorProto.FLOAT, ["documents", trees.heads]),
        ],
        constants,
    )
    sets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(made, opset_imports=sets, ir_version=10, producer_name="gainful")


_NODE = tuple(
    f"nodes_{name}"
    for name in (
        *("treeids", "nodeids", "featureids", "modes", "values"),
        *("truenodeids", "falsenodeids", "missing_value_tracks_true"),
    )
)
_LEAF = ("target_treeids", "target_nodeids", "target_ids", "target_weights")


def _walk(root: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any], int, int]]:
    """All nodes of a tree: number, node, numbers of its children."""
    waiting, made = [(0, root)], 1
    while waiting:
        at, node = waiting.pop()
        if "leaf_value" in node:
            yield at, node, 0, 0
            continue
        left, right = made, made + 1
        made += 2
        waiting += [(right, node["right_child"]), (left, node["left_child"])]
        yield at, node, left, right


def _split(node: dict[str, Any]) -> tuple[int, float, int]:
    """Feature, threshold, and whether a missing value goes where smaller ones go."""
    if node["decision_type"] != "<=" or node["missing_type"] == "Zero":
        kind = "categorical features" if node["decision_type"] != "<=" else "zeros that stand for missing values"
        raise GainfulError(f"an export to ONNX: expected numeric features alone, got {kind}")
    # Features are float32: the largest such number that is not above the threshold splits them the same way.
    value = np.float32(node["threshold"])
    if float(value) > node["threshold"]:
        value = np.nextafter(value, np.float32(-np.inf))
    default = node["default_left"] if node["missing_type"] == "NaN" else node["threshold"] >= 0.0
    return node["split_feature"], float(value), int(default)

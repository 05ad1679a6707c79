"""The losses against plain Python, their gradients against finite differences, LightGBM's objectives against torch."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gainful.errors import DataError, GainfulError  # noqa: E402
from gainful.ltrf.losses import Objective, loss_of  # noqa: E402
from gainful.ltrf.settings import SHARED_LOSSES  # noqa: E402
from gainful.ltrf.targets import LOSSES, Scale, read_scale  # noqa: E402

pytestmark = pytest.mark.slow

GAINS = {-2: -10.0, 0: 0.0, 1: 1.0, 2: 3.0}
SCALE = Scale.of(GAINS)


def plain_bce(logit, target):
    chance = 1 / (1 + math.exp(-logit))
    return -target * math.log(chance) - (1 - target) * math.log(1 - chance)


def plain_loss(loss, queries, cutoff=None, gamma=1.0):
    """Documents are (label, score or scores); written from the formulas, one document after another."""
    ordered = sorted(GAINS, key=GAINS.get)
    total = 0.0
    for documents in queries:
        value = 0.0
        if loss in ("bce", "lambdarank+bce"):
            value += (
                (gamma if "+" in loss else 1.0)
                * sum(plain_bce(score, float(GAINS[label] > 0)) for label, score in documents)
                / len(documents)
            )
        if loss == "mse":
            value += sum((score - GAINS[label]) ** 2 for label, score in documents) / len(documents)
        if "ordinal" in loss:
            for label, scores in documents:
                for i, score in enumerate(scores):
                    weight = GAINS[ordered[i + 1]] - GAINS[ordered[i]] if loss == "weighted-ordinal" else 1.0
                    value += weight * plain_bce(score, float(ordered.index(label) > i)) / len(documents)
        if "lambdarank" in loss:
            k = cutoff or len(documents)

            def discount(rank, k=k):
                return 1 / math.log2(1 + rank) if rank <= k else 0.0

            ranked = sorted(range(len(documents)), key=lambda d: -documents[d][1])
            rank = {d: r for r, d in enumerate(ranked, 1)}
            gains = [GAINS[label] for label, _ in documents]
            best = sum(g * discount(r) for r, g in enumerate(sorted((g for g in gains if g > 0), reverse=True), 1))
            worst = sum(g * discount(r) for r, g in enumerate(sorted(g for g in gains if g < 0), 1))
            for i, gain in enumerate(gains):
                for j, other in enumerate(gains):
                    if gain > other:
                        change = (gain - other) * abs(discount(rank[i]) - discount(rank[j])) / (best - worst)
                        value += change * math.log(1 + math.exp(documents[j][1] - documents[i][1]))
        if loss == "softmax":
            wanted, found = (
                [math.exp(x) for x in column]
                for column in zip(*[(GAINS[label], score) for label, score in documents], strict=True)
            )
            value -= sum(w / sum(wanted) * math.log(f / sum(found)) for w, f in zip(wanted, found, strict=True))
        if loss == "ranknet":
            pairs = [
                math.log(1 + math.exp(other_score - score))
                for label, score in documents
                for other, other_score in documents
                if GAINS[label] > GAINS[other]
            ]
            value += sum(pairs) / max(1, len(pairs))
        total += value
    return total / len(queries)


def random_queries(seed, loss):
    rng = np.random.default_rng(seed)
    heads = SCALE.heads(loss)
    queries = []
    for _ in range(5):
        number = int(rng.integers(1, 6))
        labels = rng.choice([-2, 0, 1, 2], number).tolist()
        scores = rng.normal(size=(number, heads)).tolist()
        queries.append(
            [(label, row if "ordinal" in loss else row[0]) for label, row in zip(labels, scores, strict=True)]
        )
    queries += [[(-2, queries[0][0][1])], [(2, queries[0][0][1])] * 1]  # one document: forbidden, good
    return queries


def padded(queries, *, width=8, junk=math.nan):
    """Scores, grades and mask as tensors, padding full of junk."""
    heads = np.shape(queries[0][0][1])
    scores = torch.full((len(queries), width, *heads), junk, dtype=torch.float64)
    grades = torch.full((len(queries), width), -1)
    mask = torch.zeros((len(queries), width), dtype=torch.bool)
    for q, documents in enumerate(queries):
        for d, (label, score) in enumerate(documents):
            scores[q, d] = torch.tensor(score, dtype=torch.float64)
            grades[q, d] = int(SCALE.grade(label))
            mask[q, d] = True
    return scores, grades, mask


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cutoff", [None, 2])
def test_value_is_that_of_the_formula(loss, seed, cutoff):
    queries = random_queries(seed, loss)
    value = loss_of(loss, SCALE, *padded(queries), cutoff=cutoff, gamma=0.3).item()
    assert value == pytest.approx(plain_loss(loss, queries, cutoff, 0.3), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_is_that_of_finite_differences(loss):
    scores, grades, mask = padded(random_queries(7, loss))
    scores.requires_grad_()
    loss_of(loss, SCALE, scores, grades, mask, cutoff=3).backward()
    assert scores.grad[~mask].abs().max() == 0.0
    step = 1e-6
    flat = scores.detach().clone()
    for at in torch.nonzero(mask).tolist():
        for head in np.ndindex(*scores.shape[2:]):
            index = (*at, *head)
            up, down = flat.clone(), flat.clone()
            up[index] += step
            down[index] -= step
            slope = (
                loss_of(loss, SCALE, up, grades, mask, cutoff=3) - loss_of(loss, SCALE, down, grades, mask, cutoff=3)
            ) / (2 * step)
            assert scores.grad[index].item() == pytest.approx(slope.item(), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_padding_and_order_change_nothing(loss):
    queries = random_queries(3, loss)
    value = loss_of(loss, SCALE, *padded(queries)).item()
    assert loss_of(loss, SCALE, *padded(queries, width=20, junk=1e9)).item() == pytest.approx(value, rel=1e-12)
    turned = [list(reversed(documents)) for documents in reversed(queries)]
    assert loss_of(loss, SCALE, *padded(turned)).item() == pytest.approx(value, rel=1e-12)


def orders(documents):
    """All orders of a query's documents that their scores allow, as lists of places."""
    for order in itertools.permutations(range(len(documents))):
        scores = [documents[place][1] for place in order]
        if scores == sorted(scores, reverse=True):
            yield order


TIES = [
    [(2, 0.0), (-2, 0.0), (0, 0.0), (2, 0.0), (1, 0.0)],  # as in the first round of boosting
    [(1, 0.5), (-2, 0.1), (2, 0.5), (0, 0.1), (0, -1.0), (2, 0.1)],
    [(2, 0.3), (2, 0.3), (-2, 0.7)],
]


@pytest.mark.parametrize("documents", TIES)
@pytest.mark.parametrize("cutoff", [None, 2])
def test_ties_are_the_mean_over_their_orders(documents, cutoff):
    """The plain formula ranks equal scores as they stand: so its mean over all orders that the scores allow."""
    each = [plain_loss("lambdarank", [[documents[place] for place in order]], cutoff) for order in orders(documents)]
    assert len(each) > 1
    value = loss_of("lambdarank", SCALE, *padded([documents]), cutoff=cutoff).item()
    assert value == pytest.approx(sum(each) / len(each), rel=1e-12)


@pytest.mark.parametrize("loss", ["lambdarank", "lambdarank+bce"])
@pytest.mark.parametrize("cutoff", [None, 2])
def test_list_order_changes_nothing_under_ties(loss, cutoff):
    """Value, and the gradient and Hessian of every document, whichever way the documents stand."""
    rng = np.random.default_rng(0)
    value = loss_of(loss, SCALE, *padded(TIES), cutoff=cutoff).item()
    sizes = [len(documents) for documents in TIES]
    labels = np.array([label for documents in TIES for label, _ in documents])
    scores = np.array([score for documents in TIES for _, score in documents])
    gradient, hessian = Objective(loss, SCALE, labels, sizes, cutoff=cutoff)(scores)
    assert np.abs(gradient).min() > 0 or loss == "lambdarank"
    assert np.abs(gradient[:5]).max() > 0  # all scores equal, and there is something to learn
    for _ in range(5):
        parts = [rng.permutation(size) for size in sizes]
        turned = [[documents[place] for place in part] for documents, part in zip(TIES, parts, strict=True)]
        assert loss_of(loss, SCALE, *padded(turned), cutoff=cutoff).item() == pytest.approx(value, rel=1e-12)
        at = np.concatenate([part + start for part, start in zip(parts, np.cumsum([0, *sizes]), strict=False)])
        found = Objective(loss, SCALE, labels[at], sizes, cutoff=cutoff)(scores[at])
        assert found[0] == pytest.approx(gradient[at], abs=1e-14)
        assert found[1] == pytest.approx(hessian[at], abs=1e-14)


@pytest.mark.parametrize("loss", ["lambdarank", "lambdarank+bce"])
def test_objectives_are_the_gradients_under_ties(loss):
    scores, grades, mask = padded(TIES)
    scores.requires_grad_()
    loss_of(loss, SCALE, scores, grades, mask, cutoff=3).backward()
    labels = [label for documents in TIES for label, _ in documents]
    objective = Objective(loss, SCALE, labels, [len(documents) for documents in TIES], cutoff=3)
    gradient, _ = objective(scores.detach()[mask].numpy())
    assert gradient == pytest.approx(scores.grad[mask].numpy() * len(labels), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_query_of_padding_alone_adds_nothing(loss):
    queries = random_queries(5, loss)
    scores, grades, mask = padded(queries)
    value = loss_of(loss, SCALE, scores, grades, mask).item()
    extra = [torch.cat([part, part[:1]]) for part in (scores, grades, mask)]
    extra[2][-1] = False
    assert loss_of(loss, SCALE, *extra).item() == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("documents", [[(-2, 0.4)], [(2, 0.4)], [(-2, 0.4), (-2, 0.1)], [(0, 0.4), (0, 0.1)]])
def test_lambdarank_has_no_pair_to_learn_from(documents):
    assert loss_of("lambdarank", SCALE, *padded([documents])).item() == 0.0
    assert loss_of("lambdarank+bce", SCALE, *padded([documents])).item() > 0.0


@pytest.mark.parametrize("loss", SHARED_LOSSES)
@pytest.mark.parametrize("cutoff", [None, 2])
def test_objectives_are_the_gradients_of_the_losses(loss, cutoff):
    """Gradient: torch's, times the number of documents. Hessian: finite differences of the gradient's own entry."""
    queries = random_queries(11, loss)
    scores, grades, mask = padded(queries)
    scores.requires_grad_()
    loss_of(loss, SCALE, scores, grades, mask, cutoff=cutoff, gamma=0.7).backward()
    labels = [label for documents in queries for label, _ in documents]
    sizes = [len(documents) for documents in queries]
    objective = Objective(loss, SCALE, labels, sizes, cutoff=cutoff, gamma=0.7)
    flat = scores.detach()[mask].numpy()
    gradient, hessian = objective(flat)
    assert gradient == pytest.approx(scores.grad[mask].numpy() * len(labels), rel=1e-10, abs=1e-12)
    step = 1e-6
    for at in np.ndindex(*flat.shape):
        up, down = flat.copy(), flat.copy()
        up[at] += step
        down[at] -= step
        curve = (objective(up)[0][at] - objective(down)[0][at]) / (2 * step)
        assert np.broadcast_to(hessian, flat.shape)[at] == pytest.approx(curve, rel=1e-5, abs=1e-8)


def test_two_labels_make_ordinal_and_bce_the_same():
    """One head: is it the better label? Numbers then come flat, and document scores are probabilities."""
    scale = Scale.of({0: -1.0, 1: 2.0})
    labels, sizes = [0, 1, 1, 0], [3, 1]
    scores = np.array([0.3, -1.0, 2.0, 0.5])
    for loss, weight in (("ordinal", 1.0), ("weighted-ordinal", 3.0)):
        ordinal, binary = Objective(loss, scale, labels, sizes), Objective("bce", scale, labels, sizes)
        for found, expected in zip(ordinal(scores), binary(scores), strict=True):
            assert found == pytest.approx(weight * expected)
        chance = 1 / (1 + np.exp(-scores))
        assert scale.document_score(loss, scores) == pytest.approx(weight * chance)


def test_scale_orders_labels_by_gain():
    scale = Scale.of({"2": 1.0, 0: 1.0, 1: 5.0, -1: -4.0})
    assert scale.labels == (-1.0, 0.0, 2.0, 1.0)
    assert scale.steps.tolist() == [5.0, 0.0, 4.0]
    assert scale.grade([[1, 2], [0, -1]]).tolist() == [[3, 2], [1, 0]]
    assert scale.gain([1, -1]).tolist() == [5.0, -4.0]


def test_document_score_of_ordinal_models():
    logits = [[0.0, math.log(3), -math.log(3)]]  # chances 1/2, 3/4, 1/4
    assert SCALE.document_score("ordinal", logits).tolist() == pytest.approx([1.5])
    assert SCALE.document_score("weighted-ordinal", logits).tolist() == pytest.approx([10 / 2 + 3 / 4 + 2 / 4])
    assert SCALE.document_score("mse", [0.25]).tolist() == [0.25]
    # Equal for trec_eval, which reads scores as float32, is equal here: else ranks would not be those of training.
    one, other = SCALE.document_score("mse", [0.1, 0.1 + 1e-10])
    assert one == other


def test_scale_keeps_labels_whole():
    """Labels that only the seventh digit tells apart are two labels, in the file too."""
    scale = Scale.of({0.1234567: 1.0, 0.1234568: -1.0, 2: 3.0, 1e16: 4.0})
    assert scale.to_dict() == {"0.1234568": -1.0, "0.1234567": 1.0, "2": 3.0, "1e+16": 4.0}
    assert Scale.of({float(label): gain for label, gain in scale.to_dict().items()}) == scale
    assert read_scale(str(scale), []) == scale


@pytest.mark.parametrize(
    ("loss", "outputs", "message"),
    [
        ("ordinal", [[0.0, 1.0]], "heads: expected 3 for the loss ordinal, got a model with 2"),
        ("ordinal", [0.0, 1.0, 2.0], "heads: expected 3 for the loss ordinal, got a model with 1"),
        ("mse", [[0.0, 1.0]], "heads: expected 1 for the loss mse, got a model with 2"),
        ("mse", [0.0, math.nan, 1e39, 2.0], "the model gives no finite number for 2 of 4 documents"),
        ("ordinal", [[0.0, math.inf, 0.0], [0.0, 1.0, 2.0]], "the model gives no finite number for 1 of 2 documents"),
    ],
)
def test_outputs_that_are_refused(loss, outputs, message):
    with pytest.raises(DataError) as caught:
        SCALE.document_score(loss, outputs)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("gains", "message"),
    [
        ({1: 1.0}, "gains: expected the gains of at least 2 labels, got {1: 1.0}"),
        ({0: 1.0, 1: 1.0}, "gains: expected labels of different gains, got {0: 1.0, 1: 1.0}"),
        ({0: 0.0, 1: math.inf}, "gains: expected finite labels and gains, got {0: 0.0, 1: inf}"),
    ],
)
def test_gains_that_are_refused(gains, message):
    with pytest.raises(GainfulError) as caught:
        Scale.of(gains)
    assert str(caught.value) == message


def test_label_without_gain():
    with pytest.raises(DataError) as caught:
        SCALE.grade([0, 5, 3])
    assert str(caught.value) == "expected labels -2, 0, 1, 2, got 3, 5: give every label a gain"

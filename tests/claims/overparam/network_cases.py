"""Cases of the claims about the committee machine, multi-layer perceptrons and convolutional networks."""

from __future__ import annotations

import numpy as np

from tests.claims.cases import Case, Tables, add, below, every, few, only, other_than, put, times

NETWORKS: dict[str, Case] = {}

FBP, SGD = "committee_focusing_bp", "committee_sgd"
solved, error, overlap = {"quantity": "solved"}, {"quantity": "test_error"}, {"quantity": "overlap"}
train, energy = {"quantity": "train_error"}, {"quantity": "noise_train_error"}

NETWORKS["O42"] = Case(
    wrong={
        "SGD much later": put(SGD, "value", 0.0, inv_alpha=below(0.6), **solved),
        "some solve at the smallest N/P": put(FBP, "value", 1.0, inv_alpha=0.2, sample=0, **solved),
    },
    small={
        "three sets": few(FBP),
        "never solved": put(SGD, "value", 0.0, **solved),
        "always solved": put(FBP, "value", 1.0, **solved),
        "no N/P in common": every(only(FBP, inv_alpha=below(0.45)), only(SGD, inv_alpha=lambda x: x > 0.45)),
    },
)


def _bump(*heights):
    """These overlaps at the four N/P where SGD solves."""

    def values(rows):
        means = rows["inv_alpha"].map(dict(zip((0.4, 0.5, 1.0, 2.0), heights, strict=True)))
        return means + 0.002 * (rows["sample"] - 3.5) * (1 + rows["inv_alpha"])

    return values


NETWORKS["O43"] = Case(
    wrong={
        "equal at the threshold": put(SGD, "value", 0.99, inv_alpha=0.4, **overlap),
        "closer with more inputs": add(SGD, "value", 0.3, inv_alpha=2.0, **overlap),
        "slowly closer": put(SGD, "value", _bump(0.6, 0.52, 0.55, 0.58), **overlap),
        "apart again near the threshold": put(SGD, "value", _bump(0.5, 0.7, 0.4, 0.2), **overlap),
        "no fall": put(SGD, "value", _bump(0.5, 0.5, 0.5, 0.5), **overlap),
    },
    small={
        "two sets": few(SGD, samples=2),
        "two N/P": only(SGD, inv_alpha=lambda x: x >= 1),
        "pairs on four sets": put(SGD, "sample", lambda rows: rows["sample"] % 4, **overlap),
        "no pairs": only(SGD, quantity=other_than("overlap")),
    },
    missing={"overlaps": put(SGD, "value", np.nan, inv_alpha=0.4, **overlap)},
)


def _flat(rows):
    return rows["value"] + 0.05 * np.log(rows["inv_alpha"] / 0.25)


NETWORKS["O44"] = Case(
    wrong={
        "SGD better": add(SGD, "value", -0.02, **error),
        "both equal": add(SGD, "value", -0.006, **error),
        "much worse": add(SGD, "value", 0.2, inv_alpha=lambda x: x > 0.45, **error),
        "a rise": add(FBP, "value", 0.2, inv_alpha=2.0, **error),
        "a rise in between": every(*(add(name, "value", 0.06, inv_alpha=1.0, **error) for name in (FBP, SGD))),
        "no fall": every(put(FBP, "value", _flat, **error), put(SGD, "value", _flat, **error)),
    },
    small={"four sets": few(FBP, SGD, samples=4), "one N/P": only(FBP, inv_alpha=below(0.6))},
    missing={"errors": put(SGD, "value", np.nan, **error)},
)
NETWORKS["O45"] = Case(
    wrong={
        "errors at short distance": put(SGD, "value", 0.003, sigma=0.01, inv_alpha=0.5, **energy),
        "sharper far away": times(FBP, "value", 4, inv_alpha=2.0, **energy),
        "both sharper far away": every(*(times(name, "value", 3, inv_alpha=2.0, **energy) for name in (FBP, SGD))),
        "fBP sharper": times(FBP, "value", 3, **energy),
    },
    small={
        "uncertain": put(SGD, "value", lambda rows: rows["value"] * (1 + 3 * (rows["sample"] % 2)), **energy),
        "one N/P": put(SGD, "value", 0.0, inv_alpha=below(1.5), **solved),
        "little noise": only(FBP, sigma=lambda sigma: ~(sigma > 0.2)),
        "no noise": only(FBP, sigma=lambda sigma: sigma.isna()),
    },
    missing={"energies": put(SGD, "value", np.nan, sigma=0.01, **energy)},
)
NETWORKS["O46"] = Case(
    wrong={
        "few inputs": put(SGD, "D", 600),
        "solved from few inputs on": put(SGD, "value", 1.0, inv_alpha=below(0.5), sample=below(4), **solved),
    },
    small={
        "never solved": put(SGD, "value", 0.0, **solved),
        "no few inputs": only(SGD, inv_alpha=lambda x: x > 0.22),
        "three sets": few(FBP),
    },
)
orthogonal, adversarial = {"initialization": "random_orthogonal"}, {"initialization": "adversarial"}
untrained, labels = {"quantity": "overlap_untrained"}, {"quantity": "random_label_error"}
memorised = {"quantity": "random_label_noise_train_error"}
few_at_the_largest_width = {
    "three networks": few("mlp"),
    "never solved": put("mlp", "value", 0.1, **train),
    "adversarial ones never": put("mlp", "value", 0.1, **adversarial, **train),
    "no adversarial starts": only("mlp", initialization=other_than("adversarial")),
}
few_solutions = few_at_the_largest_width | {
    "only the widest solve": put("mlp", "value", 0.1, width=below(50), **train),
    "half at the threshold": put("mlp", "value", 0.1, width=8, sample=below(3), **orthogonal, **train),
}


def _power(scatter):
    """Overlaps that fall like a power of the width, with this scatter of the samples' own parts."""

    def values(rows):
        own = (-1.0) ** rows["sample"] + (-1.0) ** rows["other"]
        return 0.8 * (rows["width"] / 8) ** -0.3 * (1.0 + scatter * own)

    return values


NETWORKS["O47"] = Case(
    wrong={
        "closer in the end": add("mlp", "value", 0.5, width=80, **overlap),
        "one start: closer in the end": add("mlp", "value", 0.5, width=80, **adversarial, **overlap),
        "never growing": put("mlp", "value", lambda rows: 0.6 + 0.01 * (rows["sample"] + rows["other"]), **overlap),
    },
    small=few_solutions,
    missing={"overlaps": put("mlp", "value", np.nan, width=80, **overlap)},
)
NETWORKS["O47b"] = Case(
    wrong={
        "without a limit": put("mlp", "value", _power(1e-3), **overlap),
        "still growing": add("mlp", "value", -0.2, width=80, **overlap),
        "orthogonal": add("mlp", "value", -0.3, **overlap),
    },
    small=few_solutions
    | {
        "no two doublings": only("mlp", width=lambda width: width > 20),
        "without a limit that is seen": put("mlp", "value", _power(0.01), **overlap),
    },
    missing={"overlaps": put("mlp", "value", np.nan, width=80, **overlap)},
)


def _still_falling(rows):
    return 0.07 + 0.5 / rows["width"] + 0.0005 * rows["sample"]


def _around_one(sample):
    return 1.0 + 0.02 * (sample - 2.5)


def _like_a_small_power(rows):
    return (0.07 + 0.06 * rows["width"] ** -0.3) * _around_one(rows["sample"])


def _five_of_the_widest(tables: Tables) -> None:
    rows = tables["mlp"]
    tables["mlp"] = rows[(rows["width"] < 80) | (rows["sample"] < 5)]


same_threshold = every(
    put("mlp", "value", lambda rows: 0.1 * (rows["sample"] < 3), width=below(16), **train),
    put("mlp", "value", 0.1, width=4, **train),
)
NETWORKS["O48"] = Case(
    wrong={
        "the other way": every(
            put("mlp", "value", 0.0, **adversarial, **train), put("mlp", "value", 0.1, width=8, **orthogonal, **train)
        ),
        "the same threshold": same_threshold,
        "the same threshold, and fewer networks of the largest width": every(_five_of_the_widest, same_threshold),
    },
    small={
        "three networks": few("mlp"),
        "never solved": put("mlp", "value", 0.1, **train),
        "all solved": put("mlp", "value", 0.0, **train),
        "not adversarial": put("mlp", "value", 0.2, width=12, **labels),
        "no word of the random labels": only("mlp", quantity=other_than("random_label_error")),
        "no adversarial starts": only("mlp", initialization=other_than("adversarial")),
    },
    missing={"random labels": put("mlp", "value", np.nan, width=80, **labels)},
)
NETWORKS["O48b"] = Case(
    wrong={
        "the same error": add("mlp", "value", -0.02, **adversarial, **error),
        "a smaller error": add("mlp", "value", -0.05, **adversarial, **error),
        "the same error, still falling": put("mlp", "value", _still_falling, **error),
        "a difference that vanishes with the width": every(
            put("mlp", "value", _still_falling, **error),
            put("mlp", "value", lambda rows: _still_falling(rows) + 1.6 / rows["width"], **adversarial, **error),
        ),
    },
    small={
        "three networks": few("mlp"),
        "never solved": put("mlp", "value", 0.1, **train),
        "a difference like a small power": every(
            put("mlp", "value", lambda rows: 0.07 * _around_one(rows["sample"]), **error),
            put("mlp", "value", _like_a_small_power, **adversarial, **error),
        ),
        "a limit that is not known": put(
            "mlp", "value", lambda rows: rows["value"] + 0.03 * (rows["width"] == 40), **adversarial, **error
        ),
        "not adversarial": put("mlp", "value", 0.2, width=20, **labels),
        "no word of the random labels": only("mlp", quantity=other_than("random_label_error")),
        "no adversarial starts": only("mlp", initialization=other_than("adversarial")),
    },
    missing={
        "errors": put("mlp", "value", np.nan, width=80, **adversarial, **error),
        "random labels": put("mlp", "value", np.nan, width=80, **labels),
    },
)
NETWORKS["O49"] = Case(
    wrong={
        "all the same": put("mlp", "value", 1.0, width=8, **overlap),
        "one start: all the same": put("mlp", "value", 1.0, width=12, **adversarial, **overlap),
    },
    small=few_solutions,
    missing={"overlaps": put("mlp", "value", np.nan, width=12, **adversarial, **overlap)},
)
NETWORKS["O49b"] = Case(
    wrong={
        "closer than untrained": add("mlp", "value", -0.1, width=80, **untrained),
        "one start: further apart": add("mlp", "value", 0.1, width=12, **adversarial, **untrained),
    },
    small=few_solutions
    | {"one is odd": put("mlp", "value", lambda rows: rows["value"] + 0.15 * (rows["sample"] == 0), **overlap)},
    missing={"untrained": put("mlp", "value", np.nan, width=12, **adversarial, **untrained)},
)
start = {"quantity": "overlap_start"}
NETWORKS["O49c"] = Case(
    wrong={
        "as far from the start as from each other": add("mlp", "value", -0.4, width=8, **orthogonal, **start),
        "no nearer when wide": put("mlp", "value", lambda rows: 0.95 + 0.001 * rows["sample"], **adversarial, **start),
    },
    small=few_solutions,
    missing={"overlaps": put("mlp", "value", np.nan, width=80, **start)},
)
activations = {"quantity": "activation_change"}
NETWORKS["O49d"] = Case(
    wrong={
        "lazy": times("mlp", "value", 0.3, width=80, **activations),
        "one start: lazy": times("mlp", "value", 0.3, width=80, **adversarial, **activations),
    },
    small=few_at_the_largest_width | {"no activations": only("mlp", quantity=other_than("activation_change"))},
    missing={"changes": put("mlp", "value", np.nan, width=80, **activations)},
)
NETWORKS["O50"] = Case(
    wrong={
        "errors at the least noise": put("mlp", "value", 0.002, sigma=0.001, width=8, **energy),
        "errors at the next": add("mlp", "value", 0.002, sigma=0.002, width=12, **adversarial, **energy),
        "wide ones as sharp": times("mlp", "value", 10, width=80, **energy),
    },
    small=few_solutions | {"little noise": only("mlp", sigma=lambda sigma: ~(sigma > 0.05))},
    missing={"energies": put("mlp", "value", np.nan, width=8, **energy)},
)
hessian = {"quantity": "hessian_trace"}
NETWORKS["O50c"] = Case(
    wrong={
        "as sharp": times("mlp", "value", 10, width=80, **hessian),
        "one start as sharp": times("mlp", "value", 10, width=80, **adversarial, **hessian),
    },
    small=few_solutions | {"no Hessian": only("mlp", quantity=other_than("hessian_trace"))},
    missing={"traces": put("mlp", "value", np.nan, width=80, **hessian)},
)
NETWORKS["O50b"] = Case(
    wrong={
        "as sharp": times("mlp", "value", 20, width=80, **energy),
        "as flat": times("mlp", "value", 0.05, width=80, **memorised),
    },
    small=few_at_the_largest_width | {"labels not learned": put("mlp", "value", 0.01, **labels)},
    missing={"energies": put("mlp", "value", np.nan, width=80, **memorised)},
)
NETWORKS["O56"] = Case(
    wrong={
        "no better in the end": put("mlp", "value", lambda rows: 0.1 + 0.001 * rows["sample"], **error),
        "adversarial ones no better": add("mlp", "value", 0.03, width=80, **adversarial, **error),
    },
    small=few_solutions,
    missing={"errors": put("mlp", "value", np.nan, width=80, **adversarial, **error)},
)
adam = {"optimizer": "adam"}


def _of_equal_sharpness(rows):
    """Energies that differ from sample to sample by a hundredth only."""
    return 0.3 * rows["sigma"] * (1.0 + 0.002 * rows["sample"])


def _unlike(rows):
    return rows["value"] * (1.0 + 0.9 * (-1.0) ** rows["sample"])


first_ones = {"sample": below(3)}
few_networks = {
    "four networks": few("cnn", samples=4),
    "never solved": put("cnn", "value", 0.0, **solved),
    "Adam alone": only("cnn", **adam),
}
only_the_widest = put("cnn", "value", 0.0, width=below(16), **adam, **solved)
NETWORKS["O51"] = Case(
    wrong={
        "Adam never": put("cnn", "value", 0.0, **adam, **solved),
        "most fail at the largest": put("cnn", "value", 0.0, width=16, sample=below(4), **solved),
    },
    small={"half solve": put("cnn", "value", 1.0, **first_ones, **solved), "Adam alone": only("cnn", **adam)},
)


def _slow_rise(rows):
    heights = {2: 0.6, 3: 0.5, 4: 0.4, 6: 0.41, 8: 0.42, 16: 0.43}
    return rows["width"].map(heights) + 0.01 * (rows["sample"] - 1.5)


NETWORKS["O52"] = Case(
    wrong={
        "a rise": add("cnn", "value", 0.1, width=16, **adam, **error),
        "a slow rise": put("cnn", "value", _slow_rise, **adam, **error),
        "no fall": put("cnn", "value", lambda rows: rows["value"] - 0.5 / rows["width"], **error),
    },
    small={"one network": few("cnn", samples=1), "one width": only("cnn", width=8), "Adam alone": only("cnn", **adam)},
    missing={"errors": put("cnn", "value", np.nan, width=16, **adam, **error)},
)
NETWORKS["O53"] = Case(
    wrong={
        "all the same": put("cnn", "value", 1.0, width=6, **overlap),
        "not flat near the threshold": add("cnn", "value", 0.002, sigma=0.002, width=4, **adam, **energy),
        "not flat when wide": add("cnn", "value", 0.002, sigma=0.001, width=16, **energy),
    },
    small=few_networks | {"little noise": only("cnn", sigma=lambda sigma: ~(sigma > 0.05))},
    missing={
        "energies": put("cnn", "value", np.nan, sigma=0.001, width=16, **adam, **energy),
        "overlaps": put("cnn", "value", np.nan, width=4, **adam, **overlap),
    },
)
NETWORKS["O53b"] = Case(
    wrong={
        "Adam much sharper": times("cnn", "value", 3, **adam, **energy),
        "SGD without errors": put("cnn", "value", 0.0, optimizer="sgd", **energy),
    },
    small=few_networks | {"little noise": only("cnn", sigma=lambda sigma: ~(sigma > 0.05))},
    missing={"energies": put("cnn", "value", np.nan, width=16, **adam, **energy)},
)
NETWORKS["O69c"] = Case(
    wrong={
        "a committee's minima alike": every(
            *(put(name, "value", _of_equal_sharpness, inv_alpha=2.0, **energy) for name in (FBP, SGD))
        ),
        "SGD's and Adam's alike": put("cnn", "value", _of_equal_sharpness, width=16, **energy),
    },
    small=few_networks
    | {
        "three sets": few(FBP),
        "one does not solve": put(SGD, "value", 0.0, inv_alpha=2.0, sample=0, **solved),
        "too different": put("cnn", "value", _unlike, **energy),
    },
    missing={"energies": put("cnn", "value", np.nan, width=16, **adam, **energy)},
)
NETWORKS["O53c"] = Case(
    wrong={
        "closer than untrained": add("cnn", "value", 0.1, width=4, **adam, **overlap),
        "further apart when wide": add("cnn", "value", -0.1, width=16, **overlap),
    },
    small=few_networks,
    missing={"untrained": put("cnn", "value", np.nan, width=6, quantity="overlap_untrained")},
)


def _spread(rows):
    """Of so different sharpness that no halving would be seen."""
    return rows["value"] * (1 + 3 * (rows["sample"] % 2))


NETWORKS["O57b"] = Case(
    wrong={
        "as sharp": times("cnn", "value", 3, width=16, **adam, **hessian),
        "sharper": times("cnn", "value", 6, width=16, **hessian),
    },
    small=few_networks
    | {
        "only the widest solve": only_the_widest,
        "no Hessian": only("cnn", quantity=other_than("hessian_trace")),
        "too different": every(
            put("cnn", "value", _spread, **hessian), times("cnn", "value", 1.5, width=16, **hessian)
        ),
    },
    missing={"traces": put("cnn", "value", np.nan, width=16, **adam, **hessian)},
)
NETWORKS["O57"] = Case(
    wrong={
        "as sharp": times("cnn", "value", 3, width=16, **adam, **energy),
        "sharper": times("cnn", "value", 6, width=16, **energy),
    },
    small=few_networks
    | {
        "only the widest solve": only_the_widest,
        "little noise": only("cnn", sigma=lambda sigma: ~(sigma > 0.05)),
        "too different": every(put("cnn", "value", _spread, **energy), times("cnn", "value", 1.5, width=16, **energy)),
    },
    missing={"energies": put("cnn", "value", np.nan, width=16, **adam, **energy)},
)


def _one_leaves(rows):
    return 1.0 - 0.01 * (rows["sample"] == 0)


NETWORKS["O54"] = Case(
    wrong={
        "back to the start": add("cnn", "value", 0.3, epoch=40, layer=4, **start),
        "the first layer most": put("cnn", "layer", lambda rows: 4 - rows["layer"], layer=below(5), **start),
        "the linear layer stays": add("cnn", "value", 0.2, epoch=40, layer=4, **start),
        "the third before the second": put(
            "cnn", "layer", lambda rows: 3 - rows["layer"], layer=lambda layer: layer.isin([1, 2]), **start
        ),
        "no order": put("cnn", "value", lambda rows: 0.9 + 0.001 * rows["sample"] - 0.01 * rows["epoch"], **start),
        "no layer moves": put("cnn", "value", 1.0, **start),
        "the first layer rests": put("cnn", "value", 1.0, layer=0, **start),
        "the first layer rests in all but one": put("cnn", "value", _one_leaves, layer=0, **start),
    },
    small={
        "one network": few("cnn", samples=1),
        "no snapshots": only("cnn", quantity=other_than("overlap_start")),
    },
    missing={"overlaps": put("cnn", "value", np.nan, layer=2, **start)},
)


def _lazy(rows):
    return 1.0 - (1.0 - rows["value"]) * 4 / rows["width"] ** 1.5


def _nearly_lazy(rows):
    return 1.0 - (0.4 + 0.2 * (rows["sample"] % 2)) * 2 / rows["width"]


def _small_power(scatter):
    return lambda rows: 1.0 - (0.4 + scatter * (rows["sample"] - 2)) * rows["width"] ** -0.3


def _no_distance(rows):
    return 1.0 - 1e-4 * (1 + 0.1 * rows["sample"])


whole = {"layer": lambda layer: layer.isna()}
NETWORKS["O55"] = Case(
    wrong={
        "lazy": put("cnn", "value", _lazy, **whole, **start),
        "Adam lazy": put("cnn", "value", _lazy, **whole, **adam, **start),
        "no distance at the largest k": put("cnn", "value", _no_distance, width=16, **whole, **start),
    },
    small={
        "one network": few("cnn", samples=1),
        "four widths": only("cnn", width=below(7)),
        "equal networks": put("cnn", "value", 0.5, **whole, **start),
        "as lazy ones": put("cnn", "value", _nearly_lazy, **whole, **start),
        "like a small power": put("cnn", "value", _small_power(0.002), **whole, **start),
        "like a small power, with errors": put("cnn", "value", _small_power(0.02), **whole, **start),
        "no snapshots": only("cnn", quantity=other_than("overlap_start")),
        "layers alone": only("cnn", layer=lambda layer: layer.notna()),
    },
    missing={"overlaps": put("cnn", "value", np.nan, width=16, **whole, **start)},
)
NETWORKS["O58"] = Case(
    wrong={
        "no further": put("cnn", "value", lambda rows: 0.5 + 0.001 * (rows["sample"] + rows["other"]), **overlap),
        "closer": add("cnn", "value", 0.2, width=16, **adam, **overlap),
    },
    small=few_networks
    | {
        "only the widest solve": only_the_widest,
        "too different": put("cnn", "value", lambda rows: 0.5 + 0.03 * (rows["sample"] + rows["other"]), **overlap),
    },
    missing={"overlaps": put("cnn", "value", np.nan, width=16, **adam, **overlap)},
)
NETWORKS["O59"] = Case(
    wrong={"small networks solve": put("cnn", "value", 1.0, width=below(5), **first_ones, **solved)},
    small={
        "never solved": put("cnn", "value", 0.0, **adam, **solved),
        "large networks only": only("cnn", width=lambda width: width > 3),
        "Adam alone": only("cnn", **adam),
    },
)

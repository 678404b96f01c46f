"""CPU kernel: loss and gradient of an ensemble of MLPs, one network and one block of patterns at a time.

The activations of a block stay in the cache from the forward to the backward pass. The three products of every layer
are cut in 4 × 4 tiles, and the inner loop runs along the patterns: eight loads serve sixteen sums in registers. Up to
widths of about a hundred this is several times faster than the matrix products of a general library.

All matrices have row and column numbers that are multiples of 4 (see `gradient.Packed`).
"""

from __future__ import annotations

import numpy as np

from localentropy.numerics.compiled import REORDERED, kernel, subroutine


@subroutine(fastmath=REORDERED)
def _product(w: np.ndarray, h: np.ndarray, out: np.ndarray) -> None:
    """out = w h, with w [rows, inner], h [inner, patterns]."""
    for i in range(0, w.shape[0], 4):
        o0, o1, o2, o3 = out[i], out[i + 1], out[i + 2], out[i + 3]
        for j in range(0, w.shape[1], 4):
            h0, h1, h2, h3 = h[j], h[j + 1], h[j + 2], h[j + 3]
            w00, w01, w02, w03 = w[i, j], w[i, j + 1], w[i, j + 2], w[i, j + 3]
            w10, w11, w12, w13 = w[i + 1, j], w[i + 1, j + 1], w[i + 1, j + 2], w[i + 1, j + 3]
            w20, w21, w22, w23 = w[i + 2, j], w[i + 2, j + 1], w[i + 2, j + 2], w[i + 2, j + 3]
            w30, w31, w32, w33 = w[i + 3, j], w[i + 3, j + 1], w[i + 3, j + 2], w[i + 3, j + 3]
            if j == 0:
                for b in range(h.shape[1]):
                    x0, x1, x2, x3 = h0[b], h1[b], h2[b], h3[b]
                    o0[b] = w00 * x0 + w01 * x1 + w02 * x2 + w03 * x3
                    o1[b] = w10 * x0 + w11 * x1 + w12 * x2 + w13 * x3
                    o2[b] = w20 * x0 + w21 * x1 + w22 * x2 + w23 * x3
                    o3[b] = w30 * x0 + w31 * x1 + w32 * x2 + w33 * x3
            else:
                for b in range(h.shape[1]):
                    x0, x1, x2, x3 = h0[b], h1[b], h2[b], h3[b]
                    o0[b] += w00 * x0 + w01 * x1 + w02 * x2 + w03 * x3
                    o1[b] += w10 * x0 + w11 * x1 + w12 * x2 + w13 * x3
                    o2[b] += w20 * x0 + w21 * x1 + w22 * x2 + w23 * x3
                    o3[b] += w30 * x0 + w31 * x1 + w32 * x2 + w33 * x3


@subroutine(fastmath=REORDERED)
def _add_outer(d: np.ndarray, h: np.ndarray, gradient: np.ndarray) -> None:
    """gradient += d hᵀ, with d [rows, patterns], h [columns, patterns]."""
    zero = d.dtype.type(0)
    for i in range(0, d.shape[0], 4):
        d0, d1, d2, d3 = d[i], d[i + 1], d[i + 2], d[i + 3]
        for j in range(0, h.shape[0], 4):
            h0, h1, h2, h3 = h[j], h[j + 1], h[j + 2], h[j + 3]
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = zero
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = zero
            for b in range(d.shape[1]):
                y0, y1, y2, y3 = d0[b], d1[b], d2[b], d3[b]
                x0, x1, x2, x3 = h0[b], h1[b], h2[b], h3[b]
                s00 += y0 * x0
                s01 += y0 * x1
                s02 += y0 * x2
                s03 += y0 * x3
                s10 += y1 * x0
                s11 += y1 * x1
                s12 += y1 * x2
                s13 += y1 * x3
                s20 += y2 * x0
                s21 += y2 * x1
                s22 += y2 * x2
                s23 += y2 * x3
                s30 += y3 * x0
                s31 += y3 * x1
                s32 += y3 * x2
                s33 += y3 * x3
            for row, sums in enumerate(
                ((s00, s01, s02, s03), (s10, s11, s12, s13), (s20, s21, s22, s23), (s30, s31, s32, s33))
            ):
                for column, total in enumerate(sums):
                    gradient[i + row, j + column] += total


@subroutine(fastmath=REORDERED)
def _relu(values: np.ndarray) -> None:
    """Set negative values to zero."""
    zero = values.dtype.type(0)
    for i in range(values.shape[0]):
        v = values[i]
        for b in range(values.shape[1]):
            v[b] = max(v[b], zero)


@subroutine(fastmath=REORDERED)
def _gate(values: np.ndarray, activations: np.ndarray) -> None:
    """Set `values` to zero where `activations` are zero: the derivative of ReLU. By a product: a branch is slow."""
    kind = values.dtype.type
    zero = kind(0)
    for i in range(values.shape[0]):
        v, a = values[i], activations[i]
        for b in range(values.shape[1]):
            v[b] *= kind(a[b] > zero)


@kernel(fastmath=REORDERED)
def square_hinge(
    parameters: tuple[np.ndarray, np.ndarray, np.ndarray],
    inputs: np.ndarray,
    labels: np.ndarray,
    margin: float,
    patterns: int,
    begin: int,
    end: int,
    active: np.ndarray,
    gradients: tuple[np.ndarray, np.ndarray, np.ndarray],
    loss: np.ndarray,
    wrong: np.ndarray,
) -> None:
    """Add up mean loss, its gradient and the number of errors over all blocks, for networks begin … end − 1.

    Networks that are not active are left out.

    Args:
        parameters: of the first layer [networks, units, columns], of the other hidden layers
            [networks, layers − 1, units, units], and of the output [networks, 4, units]. Row 0 is the network's output.
        inputs: [blocks, 1 or networks, columns, length].
        labels: ±1, [blocks, 1 or networks, length]; 0 at places without a pattern.
        margin: of the loss.
        patterns: the number by which sums over patterns are divided.
        begin: first network.
        end: one after the last network.
        active: which networks to work on, [networks].
        gradients: like the parameters; added to.
        loss: [networks]; added to.
        wrong: number of errors, [networks]; added to.
    """
    first, hidden, output = parameters
    gradient_first, gradient_hidden, gradient_output = gradients
    units, layers, length = first.shape[1], hidden.shape[1] + 1, inputs.shape[3]
    kind = first.dtype.type
    zero, edge, weight = kind(0), kind(margin), kind(1 / patterns)
    activations = np.empty((layers, units, length), first.dtype)
    delta = np.empty((2, units, length), first.dtype)
    field = np.empty((4, length), first.dtype)

    for block in range(inputs.shape[0]):
        for m in range(begin, end):
            if not active[m]:
                continue
            own = m if inputs.shape[1] > 1 else 0
            x, y = inputs[block, own], labels[block, m if labels.shape[1] > 1 else 0]

            _product(first[m], x, activations[0])
            _relu(activations[0])
            for layer in range(1, layers):
                _product(hidden[m, layer - 1], activations[layer - 1], activations[layer])
                _relu(activations[layer])
            _product(output[m], activations[layers - 1], field)

            total, errors = 0.0, 0
            for b in range(length):
                stability = y[b] * field[0, b]
                # At a place without a pattern the label is 0, and so is the stability.
                slack = edge - stability if y[b] != zero and not stability >= edge else zero
                errors += y[b] != zero and stability <= zero
                total += slack * slack
                field[0, b] = -weight * y[b] * slack
            loss[m] += 0.5 * total / patterns
            wrong[m] += errors

            _add_outer(field, activations[layers - 1], gradient_output[m])
            _product(np.ascontiguousarray(output[m].T), field, delta[0])
            _gate(delta[0], activations[layers - 1])
            for layer in range(layers - 1, 0, -1):
                above, below = delta[(layers - 1 - layer) % 2], delta[(layers - layer) % 2]
                _add_outer(above, activations[layer - 1], gradient_hidden[m, layer - 1])
                _product(np.ascontiguousarray(hidden[m, layer - 1].T), above, below)
                _gate(below, activations[layer - 1])
            _add_outer(delta[(layers - 1) % 2], x, gradient_first[m])

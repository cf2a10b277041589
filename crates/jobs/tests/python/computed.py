"""Computes with numpy what the steps of a job have computed, from its table and the formulas of docs/JOBS.md."""

import json
import sys

import numpy as np

U64 = np.uint64
ROW = np.dtype(
    [("id", "<u8"), ("key", "<u8"), ("day", "<u4"), ("quantity", "<u4"), ("amount", "<i8"), ("x", "<f8", 8)]
    + [("y", "<f8"), ("filler", "<u8", 3)]
)
HEADER = 128


def drawn(seed, places):
    z = U64(seed) + (places.astype(U64) + U64(1)) * U64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
    return z ^ (z >> U64(31))


def centred(seed, count):
    return (drawn(seed, np.arange(count)) >> U64(11)).astype(np.float64) / 2.0**53 - 0.5


def near(what, told, found, relative):
    if not abs(told - found) <= relative * abs(found):
        sys.exit(f"{what}: {told} told, {found} found")


def check_factorisation(told, elements):
    rows = int(told["rows"])
    near("matrices", told["matrices"], 1, 0)
    sign, logarithm = np.linalg.slogdet(elements[: rows * rows].reshape(rows, rows))
    near("log_determinant", told["log_determinant"], logarithm, 1e-9)
    if told["solution_error"] > 1e-8:
        sys.exit(f"solution_error: {told['solution_error']}")


def check_fourier(told, series):
    block = int(told["block_values"])
    padded = np.zeros(-(-len(series) // block) * block)
    padded[: len(series)] = series
    spectra = np.fft.fft(padded.reshape(-1, block))
    near("values", told["values"], len(series), 0)
    near("energy", told["energy"], (np.abs(spectra) ** 2).sum() / block, 1e-10)
    if told["largest_error"] > 1e-9 * np.abs(series).max():
        sys.exit(f"largest_error: {told['largest_error']}")


def main():
    np.seterr(over="ignore")
    with open(sys.argv[1]) as file:
        told = json.load(file)
    found, seeds = [outcome["found"] for outcome in told["outcomes"]], told["seeds"]
    pages = np.fromfile(told["table"], "u1").reshape(-1, told["page_bytes"])
    rows = np.frombuffer(pages[:, HEADER:].tobytes(), ROW)[: told["outcomes"][0]["rows_out"]]

    design = np.column_stack([np.ones(len(rows)), rows["x"]])
    coefficients, squares, _, _ = np.linalg.lstsq(design, rows["y"], rcond=None)
    variance = ((rows["y"] - rows["y"].mean()) ** 2).sum()
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * squares[0] / (len(rows) - 9))
    for name, value, error in zip(["intercept"] + [f"x{number}" for number in range(8)], coefficients, errors):
        near(name, found[1][name], value, 1e-9)
        near(f"{name}_error", found[1][f"{name}_error"], error, 0.5)
    near("r_squared", found[1]["r_squared"], 1 - squares[0] / variance, 1e-9)
    near("rows", found[1]["rows"], len(rows), 0)

    check_factorisation(found[2], rows["x"].reshape(-1) - 0.5)
    size = int(found[3]["rows"]) ** 2
    check_factorisation(found[3], centred(drawn(seeds[3], np.array([0]))[0], size))

    check_fourier(found[4], rows["amount"].astype(np.float64))
    check_fourier(found[5], centred(seeds[5], int(found[5]["values"])))

    expected = 100 * np.exp(0.05)
    if abs(found[6]["mean"] - expected) > 4 * found[6]["standard_error"]:
        sys.exit(f"mean: {found[6]}")

    # Sixteen whole rounds, whose sum does not depend on the order.
    held = int(found[7]["rows"])
    near("operations", found[7]["operations"], 16 * held, 0)
    near("rows_of_input", found[7]["rows_of_input"], held, 0)
    visited = rows["id"][:held] ^ rows["filler"][:held, 2]
    near("checksum", found[7]["checksum"], 16 * int(visited.sum(dtype=U64)) % 2**53, 0)
    print("all the same")


main()

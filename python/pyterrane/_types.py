"""The types of parameters and results, for those who check them (mypy, pyright)."""

import typing
from collections.abc import Sequence

import numpy.typing as npt

Array: typing.TypeAlias = npt.NDArray[typing.Any]
ArrayLike: typing.TypeAlias = npt.ArrayLike
DTypeLike: typing.TypeAlias = npt.DTypeLike
Shape: typing.TypeAlias = typing.SupportsIndex | Sequence[typing.SupportsIndex]
Homes: typing.TypeAlias = str | typing.SupportsIndex | None

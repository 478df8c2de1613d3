"""The layout of matrices in Tensor Memory: D, A, and the metadata with the positions of the elements of a sparse A.

There are four layouts: all lanes are rows; 16 of each warp's lanes are; or 64, or 32, lanes are all rows, and the
columns are in two or four parts, one below the other.

Manual: Data Path Layout Organization; Sparsity selector; Scale Factor A ID; Scale Factor B ID.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptxkit.diagnostics.catalogue import ptx7xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.tensor.instruction_descriptor import InstructionDescriptor, MmaKind
from ptxkit.emulator.tensor.tensor_memory import LANES, CtaTensorMemory, split_address
from ptxkit.syntax.constants import WARP_SIZE

_HALF = 16
IndexArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DataPath:
    """The layout of D: the rows of one CTA, and the parts into which its columns are divided.

    With `uses_half_lanes`, only half of each warp's lanes are used.
    """

    rows: int
    column_parts: int
    uses_half_lanes: bool

    def row_lanes(self, address: int, rows: IndexArray) -> tuple[IndexArray, int]:
        """Returns the lanes of rows, and their first column. Raises ExecutionFault if none exist."""
        lane, column = split_address(address)
        found = rows // _HALF * WARP_SIZE + rows % _HALF + lane if self.uses_half_lanes else rows + lane
        if lane not in ((0, _HALF) if self.uses_half_lanes else (0,)) or found.max() >= LANES:
            raise ExecutionFault(ptx7xx.ROWS_BEYOND_LANES(rows=self.rows, lane=lane, lanes=LANES))
        return found, column

    def element_locations(self, address: int, n: int) -> tuple[IndexArray, IndexArray]:
        """Returns the lane and the column of each element of D."""
        lanes, first = self.row_lanes(address, np.arange(self.rows))
        column, wide = np.arange(n)[None, :], n // self.column_parts
        return lanes[:, None] + column // wide * self.rows, first + column % wide + 0 * lanes[:, None]


def data_path_of(m: int, kind: MmaKind) -> DataPath:
    """Returns the layout of the rows of a multiplication."""
    if kind.is_weight_stationary:
        return DataPath(m, LANES // m, uses_half_lanes=False)
    rows = m // kind.ctas
    if rows == LANES:
        return DataPath(rows, 1, uses_half_lanes=False)
    parted = kind.ctas == 2 and not kind.sparse
    return DataPath(rows, 2 if parted else 1, uses_half_lanes=not parted)


def read_sparse_chunks(
    memory: CtaTensorMemory, address: int, how: InstructionDescriptor, path: DataPath, width: int
) -> Any:
    """Returns the four bits of each chunk of a sparse A, (rows, chunks), and the lanes and columns that were read.

    For elements of 16 and 32 bits, a word has four chunks of a row and four of the row eight below; eight lanes start a
    row, and the next eight continue it. For others, a row's lane has all of it.
    """
    row = np.arange(path.rows)[:, None]
    if width > 8:
        chunk = np.arange(8)[None, :]
        lane, column = path.row_lanes(address, row % 8 + chunk // 4 * 8 + row // 16 * 16)
        columns = np.full_like(lane, column + how.selector)
        shifts = row // 8 % 2 * 16 + chunk % 4 * 4
    else:
        chunk = np.arange(16)[None, :]
        lane, column = path.row_lanes(address, row + 0 * chunk)
        columns = column + chunk // 8 + 0 * lane
        shifts = chunk % 8 * 4 + 0 * lane
    memory.check(np.unique(columns))
    words = memory.words[lane, columns]
    return words >> shifts.astype(np.uint32) & np.uint32(15), (lane, columns)


def read_scale_factors(
    memory: CtaTensorMemory, address: int, count: int, vector: int, first: int, parts: int = 1
) -> tuple[Any, tuple[IndexArray, IndexArray]]:
    """Returns the codes of scale factors of rows of A, or columns of B, (count, vector), and the lanes and columns
    read.

    Thirty-two are one below the other, and the next to the right of them; a word has those along k. They begin at the
    byte `first` of a word. Two `parts` are in the lower half of the lanes and in the upper one.
    """
    lane, column = split_address(address)
    if lane:
        raise ExecutionFault(ptx7xx.SCALE_FACTORS_NOT_AT_LANE_0(lane=lane))
    at = np.arange(count)
    within = at % (count // parts)
    lanes, columns = within % WARP_SIZE + at // (count // parts) * (LANES // 2), column + within // WARP_SIZE
    memory.check(np.unique(columns))
    shifts = (first + np.arange(vector, dtype=np.uint32)) * np.uint32(8)
    return memory.words[lanes, columns][:, None] >> shifts & np.uint32(255), (np.arange(LANES), columns)

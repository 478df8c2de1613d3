from __future__ import annotations

from ptxkit.emulate.order import Order


class Clocks(Order):
    pass

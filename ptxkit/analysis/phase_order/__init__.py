"""The order of accesses to shared memory by mbarriers, named barriers and waits, in kernels whose threads have roles.

`PhaseOrder` explores one schedule of the roles, for all arguments and data; see docs/design/obligations.md. It may
import the packages of the analysis up to `intervals`.
"""

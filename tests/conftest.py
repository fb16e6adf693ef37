"""What all tests have in common: nothing but that collecting them leaves no rubbish worth looking for."""

import gc

gc.disable()


def pytest_collection_finish() -> None:
    """Modules are there for good: no later collection of garbage has to walk through them."""
    gc.freeze()
    gc.enable()

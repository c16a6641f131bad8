"""What stands on a model of transformers while a pass of ours runs, and is taken off after it.

Modules let their values go through the pass, blocks can be left out, and all attend by our
function. In between the model is as its owner has it, who may copy it, save it or open it again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any

from torch import Tensor, nn

from model.adopted.attention import NAME, running
from model.adopted.watched import first_tensor

TakeOff = Callable[[], object]
Hook = tuple[Callable[[Any], TakeOff], Any]  # what puts it on, and the module or config it is for
WAY = "_attn_implementation_internal"  # where a config says how its modules attend

_LOCK = Lock()
# Of all hooks that are on, how many passes need them: several may run at once, also of one model
# that was opened twice.
_ON: dict[tuple[Any, int], tuple[int, TakeOff]] = {}


@contextmanager
def put_on(hooks: Sequence[Hook]) -> Iterator[None]:
    """Have hooks on while this is open; each does nothing but in passes of ours."""
    with _LOCK:
        for put, owner in hooks:
            n_passes, take_off = _ON.get((put, id(owner))) or (0, put(owner))
            _ON[put, id(owner)] = n_passes + 1, take_off
    try:
        yield
    finally:
        with _LOCK:
            for put, owner in hooks:
                n_passes, take_off = _ON.pop((put, id(owner)))
                if n_passes > 1:
                    _ON[put, id(owner)] = n_passes - 1, take_off
                else:
                    take_off()


def given_through(module: nn.Module) -> TakeOff:
    """Let the first tensor that a module is given go through its role in the pass."""
    return module.register_forward_pre_hook(_entering, with_kwargs=True).remove


def gives_through(module: nn.Module) -> TakeOff:
    """Let the first tensor that a module gives go through its role in the pass."""
    return module.register_forward_hook(_leaving).remove


def can_be_left_out(module: nn.Module) -> TakeOff:
    """Let a module give what it is given in a pass that leaves it out."""
    own, has_own = module.forward, "forward" in vars(module)

    def run(*given: Any, **named: Any) -> Any:  # noqa: ANN401
        now = running()
        if now is None or module not in now.left_out:
            return own(*given, **named)
        return first_tensor((*given, *named.values()))

    module.forward = run
    return partial(setattr, module, "forward", own) if has_own else partial(_forget, module)


def attends_by_ours(config: Any) -> TakeOff:  # noqa: ANN401
    """Let what has this config attend by our function."""
    own = getattr(config, WAY)
    setattr(config, WAY, NAME)
    return partial(setattr, config, WAY, own)


def attending(model: nn.Module) -> list[Hook]:
    """Hooks by which all of a model attends by our function."""
    return [(attends_by_ours, config) for config in _configs(model)]


def can_attend(model: Any) -> bool:  # noqa: ANN401
    """Whether transformers lets a model attend by our function, which it does not from then on."""
    with _LOCK:
        before = [(config, getattr(config, WAY)) for config in _configs(model)]
        try:
            model.set_attn_implementation(NAME)
        except (ValueError, NotImplementedError, AttributeError, KeyError):
            return False
        else:
            return getattr(model.config, WAY) == NAME
        finally:
            for config, own in before:
                setattr(config, WAY, own)


def _configs(model: nn.Module) -> list[Any]:
    """Every config of a model and its parts."""
    found: dict[int, Any] = {}
    waiting: list[Any] = [getattr(module, "config", None) for module in model.modules()]
    while waiting:
        config = waiting.pop()
        if hasattr(config, WAY) and id(config) not in found:
            found[id(config)] = config
            waiting.extend(getattr(config, name, None) for name in config.sub_configs)
    return list(found.values())


def _forget(module: nn.Module) -> None:
    del module.forward


def _entering(
    module: nn.Module, given: tuple[Any, ...], named: dict[str, Any] | None = None
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    now = running()
    role = None if now is None else now.place(now.before, module)
    if now is None or role is None or named is None:
        return None
    values, n = [*given, *named.values()], len(given)
    number = next(i for i, x in enumerate(values) if isinstance(x, Tensor))
    values[number] = role(now, values[number])
    return tuple(values[:n]), dict(zip(named, values[n:], strict=True))


def _leaving(module: nn.Module, _given: Any, gave: Any) -> Any:  # noqa: ANN401
    now = running()
    role = None if now is None else now.place(now.after, module)
    tensor = first_tensor(gave)
    if now is None or role is None or tensor is None:
        return None
    new = role(now, tensor)
    return (new, *gave[1:]) if isinstance(gave, tuple) else new

"""A model that is being opened: in a thread of its own, for all who wait for it."""

import threading
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path

from model.progress import Progress, Stage, Stopped, told_to
from model.sources import converted, places
from viz import runs

_COMING: dict[tuple[Path, str], "Opening"] = {}
_LOCK = threading.Lock()


class Opening:
    """One model on its way, by its folder or file; `n_bytes` is what its files take.

    It goes on as long as one of those who asked for it wants it.
    """

    def __init__(self, place: Path, device: str, *, keeps_copy: bool) -> None:
        self.place = place
        self.device = device
        self.n_bytes = _size(place)
        self.n_of_copy = 0  # bytes of the converted copy that is kept of it then
        self._keeps_copy = keeps_copy
        self._progress = Progress()
        self._end: Future[None] = Future()
        self._n_waiting = 0

    @property
    def stage(self) -> Stage:
        """What is being done."""
        return self._progress.stage

    @property
    def is_over(self) -> bool:
        """Whether it is open, or will not be."""
        return self._end.done()

    @property
    def error(self) -> BaseException | None:
        """Why it could not be opened, once it is over; None where it is open."""
        return self._end.exception()

    def wait(self, seconds: float) -> bool:
        """Whether it is over, at the latest after so long."""
        return bool(wait([self._end], timeout=seconds).done)

    def ask(self) -> None:
        """One more wants it."""
        self._n_waiting += 1

    def leave(self) -> None:
        """One of those who asked does not want it any more; without any it ends."""
        with _LOCK:
            self._n_waiting -= 1
            if not self._n_waiting:
                self._forget()
                self._progress.stop()

    def run(self) -> None:
        """Open it, and then keep a copy of it where one is to be kept."""
        try:
            with told_to(self._progress), places.on_trial(self.place) as name:
                model = runs.opened(runs.handle_of(name, self.device))
        except (Exception, Stopped) as error:
            self._over(error)
        else:
            copied = model if self._keeps_copy and converted.is_to_be_kept(model) else None
            self.n_of_copy = converted.size_of_copy(copied) if copied else 0
            self._over(None)
            if copied:
                with suppress(ValueError):  # the badge offers one, and says why there is none
                    converted.make_room(self.n_of_copy)
                    converted.keep(copied)

    def _over(self, error: BaseException | None) -> None:
        with _LOCK:
            self._forget()
        if error is None:
            self._end.set_result(None)
        else:
            self._end.set_exception(error)

    def _forget(self) -> None:
        if _COMING.get((self.place, self.device)) is self:
            del _COMING[self.place, self.device]


def begin(place: Path, device: str, *, keeps_copy: bool) -> Opening:
    """A model that is being opened for one more, begun where it is not yet.

    keeps_copy: whether a converted copy may be kept of a file in GGUF.
    """
    with _LOCK:
        coming = _COMING.get((place, device))
        is_new = coming is None
        if coming is None:
            coming = _COMING[place, device] = Opening(place, device, keeps_copy=keeps_copy)
        coming.ask()
    if is_new:
        threading.Thread(target=coming.run, name="opening", daemon=True).start()
    return coming


def _size(place: Path) -> int:
    files = [place] if place.is_file() else place.glob("*.safetensors")
    return sum(file.stat().st_size for file in files)

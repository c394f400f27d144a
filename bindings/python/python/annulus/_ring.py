"""A ring, to open more ends of: in this process, and in another one that gets it as an argument."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Union, overload

from . import _annulus
from ._annulus import MismatchError
from ._forms import Asked, Form
from ._frame_rings import FrameSubscriber
from ._handles import BytesConsumer, Consumer, Producer, Publisher, Subscriber, called
from ._services import Client, asked_of
from ._newest import NewestReader
from .schema import SchemaLike

if TYPE_CHECKING:
    import numpy.typing as npt

M = TypeVar("M")
N = TypeVar("N")
Directory = Union[str, "os.PathLike[str]", None]

BROADCASTS = ("lossy", "lossless", "mp_lossy", "mp_lossless")
QUEUES = ("spsc", "mpsc", "mpmc")


class Ring(Generic[M]):
    """A ring, to open more ends of: the attribute ``ring`` of a handle, or ``annulus.Ring(name)``.

    It is no end itself: it keeps no ring open, and takes no seat. A ring with a name can be an argument of
    another process, by ``pickle``, as of ``multiprocessing.Process``; a handle can't.

    ``dtype`` is what the messages are where an end says nothing else: a class of a ``@annulus.message``, for
    example.

    >>> with annulus.publish(None, "f8") as prices, prices.ring.subscribe() as sub:
    ...     prices.send(1.5)
    ...     float(sub.recv(timeout=60))
    1.5
    """

    def __init__(self, name: str, *, dtype: Any = None, directory: Directory = None) -> None:
        self._at: str | _annulus.RawInvitation = name
        self._directory = None if directory is None else os.path.abspath(directory)
        self._dtype = dtype

    @property
    def name(self) -> str | None:
        """The ring's name; ``None`` if it has none: then it is for this process only."""
        return self._at if isinstance(self._at, str) else None

    def __repr__(self) -> str:
        return f"<annulus.Ring of {called(self.name)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.name is None:
            raise TypeError(
                "a ring without a name is for its own process: give it a name to pass it to another one"
            )
        directory = self._directory or os.path.abspath(_annulus.directory_of_user())
        return ring_at, (self.name, directory, self._dtype)

    @overload
    def subscribe(
        self,
        *,
        start: Literal["newest", "oldest"] | int = "newest",
        timeout: float | None = 0,
        awaited: bool = True,
        wait: str = "block",
    ) -> Subscriber[M]: ...
    @overload
    def subscribe(
        self,
        dtype: type[N],
        *,
        start: Literal["newest", "oldest"] | int = "newest",
        timeout: float | None = 0,
        awaited: bool = True,
        wait: str = "block",
    ) -> Subscriber[N]: ...
    @overload
    def subscribe(
        self,
        dtype: npt.DTypeLike | None = None,
        *,
        schema: SchemaLike | None = None,
        message_bytes: int | None = None,
        start: Literal["newest", "oldest"] | int = "newest",
        timeout: float | None = 0,
        awaited: bool = True,
        wait: str = "block",
    ) -> Subscriber[Any]: ...
    def subscribe(
        self,
        dtype: Any = None,
        *,
        schema: SchemaLike | None = None,
        message_bytes: int | None = None,
        start: Literal["newest", "oldest"] | int = "newest",
        timeout: float | None = 0,
        awaited: bool = True,
        wait: str = "block",
    ) -> Subscriber[Any]:
        """Subscribes to a broadcast ring: see :func:`annulus.subscribe`."""
        asked = self._asked(dtype, schema, message_bytes)
        self._check(asked, BROADCASTS, "subscribe")
        raw = _annulus.join_receiver(
            self._at,
            self._directory,
            start,
            asked.expected(),
            asked.message_bytes,
            wait=wait,
            timeout=timeout,
            awaited=awaited,
        )
        return Subscriber(raw, form_of(raw, asked), self._for(asked))

    @overload
    def consume(self, *, timeout: float | None = 0, wait: str = "block") -> Consumer[M]: ...
    @overload
    def consume(self, dtype: type[N], *, timeout: float | None = 0, wait: str = "block") -> Consumer[N]: ...
    @overload
    def consume(
        self,
        dtype: npt.DTypeLike | None = None,
        *,
        schema: SchemaLike | None = None,
        message_bytes: int | None = None,
        timeout: float | None = 0,
        wait: str = "block",
    ) -> Consumer[Any]: ...
    def consume(
        self,
        dtype: Any = None,
        *,
        schema: SchemaLike | None = None,
        message_bytes: int | None = None,
        timeout: float | None = 0,
        wait: str = "block",
    ) -> Consumer[Any]:
        """Becomes the consumer of a queue, or one of several: see :func:`annulus.consume`."""
        asked = self._asked(dtype, schema, message_bytes)
        self._check(asked, QUEUES, "consume")
        raw = _annulus.join_receiver(
            self._at,
            self._directory,
            "newest",
            asked.expected(),
            asked.message_bytes,
            wait=wait,
            timeout=timeout,
        )
        return Consumer(raw, form_of(raw, asked), self._for(asked))

    @overload
    def produce(self, *, timeout: float | None = 0, wait: str = "block") -> Producer[M]: ...
    @overload
    def produce(self, dtype: type[N], *, timeout: float | None = 0, wait: str = "block") -> Producer[N]: ...
    @overload
    def produce(
        self,
        dtype: npt.DTypeLike | None = None,
        *,
        schema: SchemaLike | None = None,
        message_bytes: int | None = None,
        timeout: float | None = 0,
        wait: str = "block",
    ) -> Producer[Any]: ...
    def produce(
        self,
        dtype: Any = None,
        *,
        schema: SchemaLike | None = None,
        message_bytes: int | None = None,
        timeout: float | None = 0,
        wait: str = "block",
    ) -> Producer[Any]:
        """Becomes a producer of a queue that takes several: see :func:`annulus.produce`."""
        asked = self._asked(dtype, schema, message_bytes)
        raw = self._sender(asked, ("mpsc", "mpmc"), "produce", timeout, wait)
        return Producer(raw, form_of(raw, asked), self._for(asked))

    @overload
    def join_publisher(self, *, timeout: float | None = 0, wait: str = "block") -> Publisher[M]: ...
    @overload
    def join_publisher(
        self, dtype: type[N], *, timeout: float | None = 0, wait: str = "block"
    ) -> Publisher[N]: ...
    @overload
    def join_publisher(
        self,
        dtype: npt.DTypeLike | None = None,
        *,
        schema: SchemaLike | None = None,
        message_bytes: int | None = None,
        timeout: float | None = 0,
        wait: str = "block",
    ) -> Publisher[Any]: ...
    def join_publisher(
        self,
        dtype: Any = None,
        *,
        schema: SchemaLike | None = None,
        message_bytes: int | None = None,
        timeout: float | None = 0,
        wait: str = "block",
    ) -> Publisher[Any]:
        """Becomes one more publisher of a ring of several: see :func:`annulus.join_publisher`."""
        asked = self._asked(dtype, schema, message_bytes)
        raw = self._sender(asked, ("mp_lossy", "mp_lossless"), "join_publisher", timeout, wait)
        return Publisher(raw, form_of(raw, asked), self._for(asked))

    def subscribe_frames(
        self,
        *,
        start: Literal["newest", "oldest"] | int = "newest",
        timeout: float | None = 0,
        awaited: bool = True,
        wait: str = "block",
    ) -> FrameSubscriber:
        """Subscribes to a ring of frames: see :func:`annulus.subscribe_frames`."""
        raw = _annulus.join_frames(
            self._at, self._directory, start, wait=wait, timeout=timeout, awaited=awaited
        )
        return FrameSubscriber(raw, ring_at(self._at, self._directory, None))

    @overload
    def read_newest(self, *, timeout: float | None = 0, wait: str = "block") -> NewestReader[M]: ...
    @overload
    def read_newest(
        self, dtype: type[N], *, timeout: float | None = 0, wait: str = "block"
    ) -> NewestReader[N]: ...
    @overload
    def read_newest(
        self,
        dtype: npt.DTypeLike | None = None,
        *,
        schema: SchemaLike | None = None,
        message_bytes: int | None = None,
        timeout: float | None = 0,
        wait: str = "block",
    ) -> NewestReader[Any]: ...
    def read_newest(
        self,
        dtype: Any = None,
        *,
        schema: SchemaLike | None = None,
        message_bytes: int | None = None,
        timeout: float | None = 0,
        wait: str = "block",
    ) -> NewestReader[Any]:
        """Opens newest values: see :func:`annulus.read_newest`."""
        asked = self._asked(dtype, schema, message_bytes)
        self._check(asked, ("watch",), "read_newest")
        raw = _annulus.join_newest(
            self._at, self._directory, asked.expected(), asked.message_bytes, wait=wait, timeout=timeout
        )
        return NewestReader(raw, form_of(raw, asked), self._for(asked))

    def join_service(
        self, question: Any = None, answer: Any = None, *, timeout: float | None = 0, wait: str = "block"
    ) -> Client[Any, Any]:
        """Becomes a client of a service: see :func:`annulus.join_service`."""
        asks, answers = asked_of(question), asked_of(answer)
        raw = _annulus.join_service(
            self._at,
            self._directory,
            asks.expected(),
            asks.message_bytes,
            answers.expected(),
            answers.message_bytes,
            wait=wait,
            timeout=timeout,
        )
        return Client(raw, asks, answers, ring_at(self._at, self._directory, None))

    def consume_bytes(self, *, timeout: float | None = 0, wait: str = "block") -> BytesConsumer:
        """Becomes the consumer of a queue of records: see :func:`annulus.consume_bytes`."""
        raw = _annulus.join_bytes(self._at, self._directory, wait=wait, timeout=timeout)
        return BytesConsumer(raw, ring_at(self._at, self._directory, None))

    def _asked(self, dtype: Any, schema: SchemaLike | None, message_bytes: int | None) -> Asked:
        is_said = not (dtype is None and schema is None and message_bytes is None)
        return Asked(dtype if is_said else self._dtype, schema, message_bytes)

    def _for(self, asked: Asked) -> Ring[Any]:
        """This ring, for more ends with the same messages."""
        return ring_at(self._at, self._directory, asked.of)

    def _sender(
        self, asked: Asked, kinds: tuple[str, ...], verb: str, timeout: float | None, wait: str
    ) -> _annulus.RawSender:
        self._check(asked, kinds, verb)
        return _annulus.join_sender(
            self._at, self._directory, asked.expected(), asked.message_bytes, wait=wait, timeout=timeout
        )

    def _check(self, asked: Asked, kinds: tuple[str, ...], verb: str) -> None:
        """Refuses a ring that does not fit before it is joined: to leave a queue again may close it."""
        try:
            found = _annulus.info(self._at, self._directory)
        except _annulus.RingNotFoundError:
            return  # It is not there yet, so its messages are checked once it is joined.
        if found["kind"] not in kinds:
            others = {"bytes": "consume_bytes", "spsc": "consume", "mpsc": "consume", "mpmc": "consume"}
            others |= {"frames": "subscribe_frames", "lossless_frames": "subscribe_frames"}
            others["service"] = "join_service"
            others |= {"watch": "read_newest"}
            other = others.get(found["kind"], "subscribe")
            hint = f"; annulus.{other} takes it" if verb in ("subscribe", "consume", "read_newest") else ""
            raise MismatchError(
                f"{called(self.name)} is of the kind {found['kind']}, and {verb} is for "
                f"{', '.join(kinds)}{hint}"
            )
        asked.form(called(self.name), found["schema"], found["bytes"])


def form_of(raw: Any, asked: Asked) -> Form[Any]:
    """What messages are in Python for an end that was made or joined now, and is closed if they can't be."""
    try:
        return asked.form(called(raw.about.name), raw.about.schema, raw.about.message_bytes)
    except BaseException:
        raw.close()
        raise


def ring_at(at: str | _annulus.RawInvitation, directory: Directory, dtype: Any) -> Ring[Any]:
    """A ring with a name, or with an invitation in place of one."""
    ring: Ring[Any] = Ring("", dtype=dtype, directory=directory)
    ring._at = at
    return ring

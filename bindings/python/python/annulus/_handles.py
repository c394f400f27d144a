"""The handles: what a program holds of a ring."""

from __future__ import annotations

import enum
import itertools
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar, cast

from . import _annulus, _asyncio, _numpy
from ._annulus import ClosedError
from ._forms import Form, loader
from ._lent import Lent, LentRecord
from .schema import Schema

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    from ._ring import Ring

M = TypeVar("M")
State = Literal["not_yet", "alive", "closed", "dead"]


def whole(what: str, count: int) -> int:
    """``count``, which is no negative number: else the error says of which argument it is."""
    if count < 0:
        raise ValueError(f"{what} is {count}: it is a whole number from 0 on")
    return count


class _Closes:
    """What ends with ``close``, ``with``, or when nothing refers to it."""

    _raw: Any

    @property
    def is_closed(self) -> bool:
        """Whether it is closed, from this side or the other one. What was sent before may still be left to
        receive."""
        return cast(bool, self._raw.is_closed)

    def close(self) -> None:
        """Leaves the ring. Then the other verbs raise :class:`annulus.ClosedError`. A second call does
        nothing."""
        self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise _no_pickle(self)


class _End(_Closes):
    """An end of something that may have a name."""

    _ring: Ring[Any]

    @property
    def name(self) -> str | None:
        """The ring's name; ``None`` if it has none."""
        return cast("str | None", self._raw.about.name)

    @property
    def ring(self) -> Ring[Any]:
        """The ring, to open more ends of it, also in another process: see :class:`annulus.Ring`."""
        return self._ring


class _RingEnd(_End):
    @property
    def kind(self) -> str:
        """Which ring it is: ``lossy``, ``lossless``, ``mp_lossy``, ``mp_lossless``, ``spsc``, ``mpsc``, ``mpmc``,
        ``bytes``, ``frames``, ``lossless_frames``, ``watch``."""
        return cast(str, self._raw.about.kind)

    @property
    def capacity(self) -> int:
        """How many messages the ring holds; of a queue of records, how many bytes; of newest values, how many
        cells; of frames, how many stay for subscribers that come late, or are slow."""
        return cast(int, self._raw.about.capacity)


class _Handle(_RingEnd, Generic[M]):
    """What the handles of rings of messages have. One of several threads at a time uses a handle."""

    _ring: Ring[M]

    def __init__(self, raw: Any, form: Form[M], ring: Ring[M]) -> None:
        self._raw = raw
        self._form = form
        self._ring = ring

    @property
    def ring(self) -> Ring[M]:
        """The ring, to open more ends of it, also in another process: see :class:`annulus.Ring`."""
        return self._ring

    @property
    def message_bytes(self) -> int:
        """How many bytes a message has."""
        return cast(int, self._raw.about.message_bytes)

    @property
    def schema(self) -> Schema | None:
        """What the messages are made of; ``None`` if the ring says only how many bytes they have."""
        return self._form.schema

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the messages. It needs NumPy."""
        if self._form.dtype is None:
            _numpy.numpy()
        assert self._form.dtype is not None
        return self._form.dtype

    @property
    def enums(self) -> dict[str, type[enum.IntEnum]]:
        """The enums of the messages by the path of their field: see :attr:`annulus.Schema.enums`."""
        return self._form.schema.enums if self._form.schema else {}

    def __repr__(self) -> str:
        what = self._form.schema.text if self._form.schema else f"{self._form.size} bytes"
        return f"<annulus.{type(self).__name__} of {called(self.name)}, {self.kind}, messages: {what}>"


class _Polled:
    """What all receiving handles have."""

    _raw: Any

    _awaited = False

    @property
    def state(self) -> State:
        """Whether the process that sends is there, or one of several: ``not_yet``, ``alive``, ``closed``,
        ``dead``."""
        return cast(State, self._raw.state)

    def fileno(self) -> int:
        """A descriptor for ``select``, which is readable when something can be received, after
        :meth:`arm`."""
        return cast(int, self._raw.fileno())

    def arm(self) -> bool:
        """Asks for a wake-up by the descriptor. ``False``: something is there already, so receive it
        first."""
        return cast(bool, self._raw.arm())


class _Sender(_Handle[M]):
    def __init__(self, raw: Any, form: Form[M], ring: Ring[M]) -> None:
        super().__init__(raw, form, ring)
        self._dump = form.dump

    def send(self, message: M, timeout: float | None = None) -> None:
        """Sends a message: a record, an instance of the ring's class, a tuple or a dict of the fields, or
        bytes.

        Waits for room where the ring waits for receivers, at most ``timeout`` seconds.

        Raises :class:`annulus.ClosedError`: no process is left to receive, or the ring is closed;
        :class:`annulus.TimeoutError`; :class:`annulus.MessageError`: a value that no message can have.

        >>> with annulus.publish("doc-send", [("bid", "f8"), ("size", "u4")]) as prices:
        ...     prices.send((1.0921, 300))
        ...     prices.send({"bid": 1.0922, "size": 100})
        ...     prices.send(prices.dtype.type((1.0923, 200), prices.dtype))
        """
        self._raw.send(self._dump(message), timeout)

    def try_send(self, message: M) -> bool:
        """As :meth:`send`, without a wait: ``False`` if there is no room."""
        return cast(bool, self._raw.try_send(self._dump(message)))

    def send_batch(self, messages: Any, timeout: float | None = None) -> int:
        """Sends the items of an array of this ring's dtype, one copy for all, and returns how many were sent:
        all, or fewer if the ``timeout`` ends before there is room for the rest. Bytes, one message behind the
        other, do too.

        The array has one dimension and lies in one piece, in C order; so slices such as ``array[::2]`` are
        refused: pass ``numpy.ascontiguousarray(array[::2])``. Raises what :meth:`send` raises; ``sent`` of a
        :class:`annulus.ClosedError` says how many were sent before.

        >>> import numpy as np
        >>> with annulus.publish("doc-send-batch", "f8") as prices:
        ...     prices.send_batch(np.arange(1000.0))
        1000
        """
        try:
            fits = messages.dtype is self._form.batch and messages.ndim == 1
        except AttributeError:
            fits = False
        try:
            array = messages if fits else _buffer(self._form, messages, "messages", False)
            return cast(int, self._raw.send_batch(array, timeout))
        except BufferError:
            _buffer(self._form, messages, "messages", False)
            raise


class Publisher(_Sender[M]):
    """Sends into a broadcast ring: each subscriber gets each message. :func:`annulus.publish` makes one."""

    def wait_for_subscribers(self, count: int = 1, timeout: float | None = None) -> bool:
        """Waits until a lossless ring has so many subscribers, and returns whether it has: ``False`` if the
        ring is closed. Of other rings, ``True`` at once: they do not know their subscribers."""
        return cast(bool, self._raw.wait_for_subscribers(whole("count", count), timeout))

    @property
    def sequence(self) -> int | None:
        """The number of the next message, from 0; ``None`` in a ring of several publishers."""
        return cast("int | None", self._raw.sequence)


class Producer(_Sender[M]):
    """Sends into a queue: each message goes to the one consumer. :func:`annulus.spsc` and
    :func:`annulus.produce` make one."""

    def reserve(self, most: int, timeout: float | None = None) -> Lent:
        """Lends room for up to ``most`` messages in the ring's memory, for a ``with`` block, to write them
        there without a copy. Waits for room for one, at most ``timeout`` seconds. The room lies in one piece,
        so it may be smaller than what is free: ``len(lent)``.

        When the block ends, all are sent, or the first ``lent.count``. A block that raises sends nothing.
        What was not written has old content: zeros, or messages from before.

        Meanwhile, the other verbs of the handle raise :class:`annulus.LentError`, in each thread. Raises what
        :meth:`send` raises, and :class:`annulus.ClosedError` at the end of the block if nothing was sent,
        because the ring was closed meanwhile. See :class:`annulus.Lent`.

        >>> with annulus.spsc("doc-reserve", "f8") as producer, annulus.consume("doc-reserve") as consumer:
        ...     with producer.reserve(3) as lent:
        ...         lent[:] = [1.5, 2.5, 3.5]
        ...         lent.count = 2
        ...     consumer.recv_batch()
        array([1.5, 2.5])
        """
        if most < 1:
            raise ValueError(f"reserve({most}): room is for one message at least")
        return Lent(self._raw.reserve(most, timeout), self._form)


class _Receiver(_Handle[M], _Polled):
    def __init__(self, raw: Any, form: Form[M], ring: Ring[M]) -> None:
        super().__init__(raw, form, ring)
        self._load = form.load
        if form.load is None:
            if form.scalar is not None:
                raw.make_values_by(form.scalar)
            self._shortcut("recv", raw.recv_value)
            self._shortcut("try_recv", raw.try_recv_value)

    def _shortcut(self, verb: str, raw_verb: Any) -> None:
        """The extension's verb in place of this class's, which would only call it: a call less for each
        message."""
        if getattr(type(self), verb) is getattr(_Receiver, verb):
            self.__dict__[verb] = raw_verb

    def recv(self, timeout: float | None = None) -> M:
        """Receives the next message, and waits for it, at most ``timeout`` seconds. Ctrl-C ends the wait.

        Raises :class:`annulus.ClosedError`: the ring is closed, and nothing is left; ``peer_died`` says
        whether the process that sent has died. :class:`annulus.TimeoutError`: nothing came in that time.

        >>> with annulus.publish("doc-recv", [("bid", "f8"), ("size", "u4")]) as prices:
        ...     sub = annulus.subscribe("doc-recv")
        ...     prices.send((1.0921, 300))
        ...     message = sub.recv(timeout=60)
        >>> float(message["bid"]), int(message["size"])
        (1.0921, 300)
        """
        if self._load is None:
            return cast(M, self._raw.recv_value(timeout))
        return self._load(self._raw.recv_bytes(timeout))

    def try_recv(self) -> M | None:
        """As :meth:`recv`, without a wait: ``None`` if nothing is there."""
        if self._load is None:
            return cast("M | None", self._raw.try_recv_value())
        message = self._raw.try_recv_bytes()
        return None if message is None else self._load(message)

    def latest(self) -> M | None:
        """Receives the newest message that is there, without a wait, and passes those before it, which
        :attr:`total_skipped` counts. ``None`` if nothing has come since the last one.

        >>> with annulus.publish("doc-latest", "u4") as ticks, annulus.subscribe("doc-latest") as sub:
        ...     for number in range(5):
        ...         ticks.send(number)
        ...     int(sub.latest()), sub.latest()
        (4, None)
        """
        if self._load is None:
            return cast("M | None", self._raw.latest_value())
        message = self._raw.latest_bytes()
        return None if message is None else self._load(message)

    def recv_batch(
        self, out: int | npt.NDArray[Any] = 4096, timeout: float | None = None
    ) -> npt.NDArray[Any]:
        """Waits for a message, receives it and those behind it that are there, and returns them as an array:
        one copy out of the ring, and no object for each message.

        ``out`` is at most how many, for a new array, or an array that they go into. That has this ring's
        dtype and one dimension, lies in one piece, and can be written; what is returned is the part of it
        that was written. An empty array: nothing came in ``timeout`` seconds; with 0 there is no wait. Raises
        :class:`annulus.ClosedError`.

        >>> import numpy as np
        >>> with annulus.publish("doc-batch", "f8") as prices, annulus.subscribe("doc-batch") as sub:
        ...     prices.send_batch(np.arange(5.0))
        ...     sub.recv_batch(3), sub.recv_batch(np.empty(100)), sub.recv_batch(timeout=0)
        5
        (array([0., 1., 2.]), array([3., 4.]), array([], dtype=float64))
        """
        array = self._room(out) if isinstance(out, int) else out
        try:
            # The extension refuses most of what is wrong: the rest of the checks is for better words.
            fits = array.dtype is self._form.batch and array.ndim == 1 and array.size
            room = array if fits else _buffer(self._form, array, "out", True)
            return array[: self._raw.recv_batch_into(room, timeout)]
        except (AttributeError, BufferError, ValueError):
            _buffer(self._form, array, "out", True)
            raise

    def _room(self, most: int) -> npt.NDArray[Any]:
        if most < 1:
            raise ValueError(f"recv_batch({most}): it receives at least one message")
        # What waits now, and some more: not all that `most` allows, which the returned array would keep.
        return cast(
            "npt.NDArray[Any]", _numpy.numpy().empty(min(most, max(len(self._raw), 1024)), self.dtype)
        )

    def recv_batch_into(self, buffer: Any, timeout: float | None = None) -> int:
        """As :meth:`recv_batch`, into anything that has the buffer protocol, such as a ``bytearray``, and
        without NumPy. Returns how many messages it received: 0 if nothing came in time."""
        return cast(int, self._raw.recv_batch_into(buffer, timeout))

    def __iter__(self) -> Iterator[M]:
        """The messages as they come, until the ring is closed. If the process that sends has died, the end is
        a :class:`annulus.ClosedError`, not a silent one."""
        messages = self._raw if self._load is None else map(self._load, self._raw)
        return itertools.chain(messages)  # no `close`, which `yield from` would call when a loop ends early

    def __len__(self) -> int:
        """How many messages wait to be received."""
        return len(self._raw)

    def __bool__(self) -> Literal[True]:
        return True

    async def recv_async(self) -> M:
        """As :meth:`recv`, for ``asyncio``: other tasks run while it waits. One task at a time receives.

        >>> import asyncio
        >>> async def main():
        ...     with annulus.publish("doc-async", "u4") as ticks, annulus.subscribe("doc-async") as sub:
        ...         asyncio.get_running_loop().call_later(0.01, ticks.send, 7)
        ...         return int(await sub.recv_async())
        >>> asyncio.run(main())
        7
        """
        while True:
            message = self.try_recv()
            if message is not None:
                return message
            await _asyncio.readable(self)

    async def __aiter__(self) -> AsyncIterator[M]:
        """The messages as they come, as by ``for``: ``async for message in subscriber``."""
        while True:
            try:
                message = await self.recv_async()
            except ClosedError as error:
                if error.peer_died:
                    raise
                return
            yield message

    @property
    def total_skipped(self) -> int:
        """How many messages :meth:`latest` has passed."""
        return cast(int, self._raw.total_skipped)



class Subscriber(_Receiver[M]):
    """Receives each message of a broadcast ring. :func:`annulus.subscribe` makes one.

    It lends no messages in place, as a :class:`Consumer` does: the publisher may overwrite them meanwhile."""

    @property
    def total_lagged(self) -> int:
        """How many messages it has lost because it fell behind: 0 in a lossless ring."""
        return cast(int, self._raw.total_lagged)

    @property
    def cursor(self) -> int | None:
        """The number of the next message that it receives."""
        return cast("int | None", self._raw.cursor)

    @property
    def deadline(self) -> float | None:
        """After how many seconds of silence the publisher is :attr:`overdue`: what it has promised, or what
        :meth:`overdue_after` says. ``None`` if neither is there."""
        return cast("float | None", self._raw.deadline)

    def overdue_after(self, seconds: float) -> None:
        """From now on the publisher is :attr:`overdue` after so many seconds, whatever it has promised."""
        self._raw.overdue_after(seconds)

    @property
    def overdue(self) -> float | None:
        """For how many seconds the publisher has been silent, if that is as long as its :attr:`deadline` or
        longer, nothing waits to be received, and its process is there: so it hangs. Of several, none has
        published. Otherwise ``None``.

        The silence counts from the first wait, or the first look at this, that has found nothing since the
        last message. So a program that waits by the deadline, and asks when that was in vain, is told at
        once.

        >>> with annulus.publish("doc-overdue", "f8", deadline=0.01) as prices:
        ...     sub = annulus.subscribe("doc-overdue")
        ...     try:
        ...         sub.recv(timeout=sub.deadline)
        ...     except annulus.TimeoutError:
        ...         print(sub.overdue >= sub.deadline)
        True
        """
        return cast("float | None", self._raw.overdue)


class Claimed(Generic[M]):
    """A message that a :class:`Consumer` has claimed, and that no other one has. If the process dies before it
    is :meth:`done`, another consumer has it.

    ``with claimed as message:`` is done at the end of the block; a block that raises gives it back. It may be
    kept, and be done by another thread; when nothing refers to it any more, it is given back."""

    def __init__(self, raw: _annulus.RawClaimed, message: M) -> None:
        self._raw = raw
        self.message: M = message
        """The message."""

    def done(self) -> None:
        """The message is received: nobody has it again. :class:`annulus.AnnulusError`: it is done, or was given
        back, before."""
        self._raw.done()

    def give_back(self) -> None:
        """Gives the message back: any consumer has it again, ahead of later ones. Of one that is done it does
        nothing."""
        self._raw.give_back()

    @property
    def is_over(self) -> bool:
        """Whether it is done, or given back."""
        return self._raw.is_over

    @property
    def given_before(self) -> int:
        """How often the message was given before, 15 at most: to consumers that died with it, or gave it
        back. One that kills each consumer would go round for ever: put it aside."""
        return self._raw.given_before

    def __enter__(self) -> M:
        return self.message

    def __exit__(self, error: object, *_: object) -> None:
        if error is not None:
            self.give_back()
        elif not self.is_over:
            self.done()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a claimed message belongs to its process, and can't be pickled: pass its message")

    def __repr__(self) -> str:
        return f"<annulus.Claimed {self.message!r}{', over' if self.is_over else ''}>"


class WorkQueue(_Handle[M]):
    """A queue that several consumers share, as a whole: it neither sends nor receives. :func:`annulus.mpmc`
    makes one. Its ends are made by :func:`annulus.produce` and :func:`annulus.consume`, or by its ``ring``.

    It has the queue's name. Its :meth:`close` takes the name back, and the queue goes on for those that have
    joined."""

    _raw: _annulus.RawQueue

    def __len__(self) -> int:
        """How many messages wait to be received for the first time."""
        return len(self._raw)

    def __bool__(self) -> Literal[True]:
        return True

    @property
    def producers(self) -> int:
        """How many producers are there."""
        return self._raw.producers

    @property
    def consumers(self) -> int:
        """How many consumers are there."""
        return self._raw.consumers

    @property
    def given_again(self) -> int:
        """How many messages were given again so far, of consumers that died with them, or gave them back."""
        return self._raw.given_again

    @property
    def dropped(self) -> int:
        """How many messages of dead consumers were dropped so far."""
        return self._raw.dropped

    def end(self) -> None:
        """Closes the queue, for all processes. What was sent before is received."""
        self._raw.end()


class Consumer(_Receiver[M]):
    """Receives the messages of a queue, of which each comes once. :func:`annulus.consume` and
    :func:`annulus.mpsc` make one."""

    def claim(self, timeout: float | None = None) -> Claimed[M]:
        """Claims the next message of a queue that several consumers share (:func:`annulus.mpmc`), and waits for
        it, at most ``timeout`` seconds: if this process dies before it is done, another consumer has it.

        Raises what :meth:`recv` raises; ``TypeError``: it is another queue.

        >>> with annulus.mpmc("doc-claim", "u4") as queue, annulus.consume("doc-claim") as worker:
        ...     annulus.produce("doc-claim").send(7)
        ...     with worker.claim(timeout=60) as job:
        ...         int(job)
        7
        """
        return self._claimed(self._raw.claim(timeout))

    def try_claim(self) -> Claimed[M] | None:
        """As :meth:`claim`, without a wait: ``None`` if nothing is there."""
        raw = self._raw.try_claim()
        return None if raw is None else self._claimed(raw)

    def _claimed(self, raw: _annulus.RawClaimed) -> Claimed[M]:
        try:
            return Claimed(raw, loader(self._form)(raw.message()))
        except BaseException:
            raw.done()  # what is no message is received, as by `recv`
            raise

    def readable(self, most: int | None = None, timeout: float | None = None) -> Lent:
        """Lends messages where they lie in the ring's memory, for a ``with`` block: up to ``most``, without a
        copy. Waits for the first one, at most ``timeout`` seconds. They lie in one piece, so more may wait
        behind them. The array is read-only.

        When the block ends, all are received, or the first ``lent.count``; the others come again. A block
        that raises receives nothing.

        Meanwhile, the other verbs of the handle raise :class:`annulus.LentError`, in each thread. Raises what
        :meth:`recv` raises. See :class:`annulus.Lent`.

        >>> with annulus.spsc("doc-readable", "f8") as producer, annulus.consume("doc-readable") as consumer:
        ...     for price in 1.5, 2.5, 3.5:
        ...         producer.send(price)
        ...     with consumer.readable(timeout=60) as lent:
        ...         total = float(lent.array.sum())
        ...     total, len(consumer)
        (7.5, 0)
        """
        if most is not None and most < 1:
            raise ValueError(f"readable({most}): it lends at least one message")
        return Lent(self._raw.readable(most, timeout), self._form)


def called(name: str | None) -> str:
    """How texts call a ring."""
    return "a ring without a name" if name is None else repr(name)


def _no_pickle(handle: object) -> TypeError:
    of = type(handle).__name__
    return TypeError(
        f"a {of} belongs to its process, and can't be pickled: pass handle.ring, and open it in the child"
    )


def _buffer(form: Form[Any], array: Any, name: str, is_written: bool) -> Any:
    """The bytes of an array that has the ring's dtype, or an error that says what it has instead."""
    if not hasattr(array, "dtype"):
        if is_written:
            raise TypeError(
                f"{name} is {type(array).__name__}, and it is to be a number or an array of {form.dtype}"
            )
        return array
    dtype = form.dtype
    if dtype is None:
        return array
    base, shape = dtype.subdtype or (dtype, ())
    if array.dtype != base:
        raise TypeError(f"{name} has the dtype {array.dtype}, and the messages of this ring have {dtype}")
    if array.ndim != 1 + len(shape) or array.shape[1:] != shape:
        n = ", ".join(["n", *map(str, shape)]) + ("," if not shape else "")
        raise ValueError(f"{name} has the shape {array.shape}, and it is to be ({n})")
    if not array.flags.c_contiguous:
        raise ValueError(
            f"{name} does not lie in one piece: its strides are {array.strides}, and its items have "
            f"{array.itemsize} bytes; take numpy.ascontiguousarray({name})"
        )
    if is_written and not array.flags.writeable:
        raise ValueError(f"{name} is read-only, and the messages are to be written into it")
    if is_written and not len(array):
        raise ValueError(f"{name} has no room: its shape is {array.shape}")
    if form.batch is not None:
        form.batch = array.dtype  # the next array of it needs no comparison, which takes microseconds
    return array if form.is_buffer else array.view("u1")


class BytesProducer(_RingEnd):
    """Sends records, which are bytes of any length, to one consumer. :func:`annulus.produce_bytes` makes
    one."""

    _raw: _annulus.RawBytesProducer

    def __init__(self, raw: _annulus.RawBytesProducer, ring: Ring[bytes]) -> None:
        self._raw = raw
        self._ring = ring

    def send(self, record: Any, timeout: float | None = None) -> None:
        """Sends a record, and waits for room, at most ``timeout`` seconds. ``ValueError``: it is longer than
        :attr:`max_len`; :class:`annulus.TimeoutError`; :class:`annulus.ClosedError`."""
        self._raw.send(record, timeout)

    def try_send(self, record: Any) -> bool:
        """As :meth:`send`, without a wait: ``False`` if there is no room."""
        return self._raw.try_send(record)

    def reserve(self, max_bytes: int, timeout: float | None = None) -> LentRecord:
        """Lends room for a record of up to so many bytes in the ring's memory, for a ``with`` block, to write
        it there without a copy. When the block ends, the record is sent: all of it, or the first
        ``lent.count`` bytes. A block that raises sends nothing. What was not written has old content. Waits
        and raises as :meth:`send` does; see :class:`annulus.Lent` for views that are left.

        >>> with annulus.produce_bytes("doc-br") as producer, annulus.consume_bytes("doc-br") as consumer:
        ...     with producer.reserve(100) as lent:
        ...         lent.view[:5] = b"hello"
        ...         lent.count = 5
        ...     with consumer.readable(timeout=60) as lent:
        ...         lent.view.tobytes()
        b'hello'
        """
        if max_bytes < 0:
            raise ValueError(f"reserve({max_bytes}): a record has 0 bytes or more")
        return LentRecord(self._raw.reserve(max_bytes, timeout))

    @property
    def max_len(self) -> int:
        """How long a record may be."""
        return self._raw.max_len


class BytesConsumer(_RingEnd, _Polled):
    """Receives records. :func:`annulus.consume_bytes` makes one."""

    _raw: _annulus.RawBytesConsumer

    def __init__(self, raw: _annulus.RawBytesConsumer, ring: Ring[bytes]) -> None:
        self._raw = raw
        self._ring = ring

    def recv(self, timeout: float | None = None) -> bytes:
        """Receives the next record, and waits for it, at most ``timeout`` seconds.
        :class:`annulus.ClosedError`, :class:`annulus.TimeoutError`."""
        return self._raw.recv(timeout)

    def try_recv(self) -> bytes | None:
        """As :meth:`recv`, without a wait: ``None`` if nothing is there."""
        return self._raw.try_recv()

    def readable(self, timeout: float | None = None) -> LentRecord:
        """Lends the next record where it lies in the ring's memory, for a ``with`` block: without a copy,
        read-only. When the block ends, the record is received. A block that raises receives nothing. Waits
        and raises as :meth:`recv` does. See :meth:`BytesProducer.reserve` for an example."""
        return LentRecord(self._raw.readable(timeout))

    def __iter__(self) -> Iterator[bytes]:
        """The records as they come, until the queue is closed. If the producer's process has died, the end is
        a :class:`annulus.ClosedError`."""
        return itertools.chain(self._raw)  # as in _Receiver

    async def recv_async(self) -> bytes:
        """As :meth:`recv`, for ``asyncio``."""
        while True:
            record = self.try_recv()
            if record is not None:
                return record
            await _asyncio.readable(self)


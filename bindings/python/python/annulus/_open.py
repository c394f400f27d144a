"""Rings by name: what makes and joins them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, overload

from . import _annulus
from ._forms import Asked
from ._frame_rings import FramePublisher, FrameSubscriber, Shape
from ._frame_rings import made as _made_frames
from ._handles import BytesConsumer, BytesProducer, Consumer, Producer, Publisher, Subscriber, WorkQueue
from ._newest import NewestReader, NewestSender
from ._ring import Directory, Ring, form_of, ring_at
from ._services import Client, Server, asked_of
from .schema import Schema, SchemaLike

if TYPE_CHECKING:
    import numpy.typing as npt

M = TypeVar("M")
N = TypeVar("N")


class Info(TypedDict):
    """What a ring says of itself."""

    kind: str
    capacity: int
    message_bytes: int
    schema: Schema | None
    process: int


class Entry(TypedDict):
    """A name of a ring."""

    name: str
    state: str
    process: int | None


def info(name: str, *, directory: Directory = None) -> Info:
    """What a ring says of itself, without joining it.

    >>> with annulus.publish("doc-info", "f8", capacity=64):
    ...     found = annulus.info("doc-info")
    >>> found["kind"], found["capacity"], found["message_bytes"], found["schema"]
    ('lossy', 64, 8, Schema('f64'))
    """
    found = _annulus.info(name, directory)
    text = found["schema"]
    return {
        "kind": found["kind"],
        "capacity": found["capacity"],
        "message_bytes": found["bytes"],
        "schema": None if text is None else Schema(text),
        "process": found["creator"],
    }


def names(*, directory: Directory = None) -> list[Entry]:
    """The names of rings, each with its ``name``, the ``state`` of the process that made the ring, and that
    ``process``. ``DirectoryError``: there is no such directory.

    >>> with annulus.publish("doc-names", "f8"):
    ...     [entry["name"] for entry in annulus.names() if entry["name"] == "doc-names"]
    ['doc-names']
    """
    return [
        Entry(name=e["name"], state=e["state"], process=e["process"]) for e in _annulus.entries(directory)
    ]


def _made(asked: Asked, verb: str) -> tuple[str | None, int | None]:
    """The schema's text and the size of the messages of a ring that is made."""
    if not asked.is_said:
        raise TypeError(f"{verb} makes a ring: what are its messages? Give a dtype, schema or message_bytes")
    return (asked.schema.text if asked.schema else None), asked.message_bytes


def _check_directory(name: str | None, directory: Directory) -> None:
    if name is None and directory is not None:
        raise TypeError(f"directory={directory!r} is for the name of a ring, and name is None: leave it out")


def _own_ring(raw: Any, directory: Directory, dtype: Any = None) -> Ring[Any]:
    """The ring that this end has made."""
    return ring_at(raw.invitation if raw.about.name is None else raw.about.name, directory, dtype)


@overload
def publish(
    name: str | None,
    dtype: type[M],
    *,
    capacity: int = 1024,
    lossless: bool = False,
    publishers: int = 1,
    seats: int = 16,
    deadline: float | None = None,
    continuing: bool = False,
    directory: Directory = None,
    wait: str = "block",
) -> Publisher[M]: ...
@overload
def publish(
    name: str | None,
    dtype: npt.DTypeLike | None = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    capacity: int = 1024,
    lossless: bool = False,
    publishers: int = 1,
    seats: int = 16,
    deadline: float | None = None,
    continuing: bool = False,
    directory: Directory = None,
    wait: str = "block",
) -> Publisher[Any]: ...
def publish(
    name: str | None,
    dtype: Any = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    capacity: int = 1024,
    lossless: bool = False,
    publishers: int = 1,
    seats: int = 16,
    deadline: float | None = None,
    continuing: bool = False,
    directory: Directory = None,
    wait: str = "block",
) -> Publisher[Any]:
    """Makes a broadcast ring with this name, and its publisher. Each subscriber gets each message. A ring
    whose name is ``None`` is for threads and tasks of this process: ``publisher.ring`` has its other ends.

    What the messages are, one of these says: ``dtype``, which is a ``@annulus.message`` class, a
    ``numpy.dtype`` or what makes one, or a ``ctypes.Structure``; ``schema``, a :class:`Schema` or its text;
    ``message_bytes``, how many bytes each has, and nothing else.

    - ``capacity``: how many messages the ring holds.
    - ``lossless``: the publisher waits for the slowest subscriber. Otherwise it never waits, and a subscriber
      that falls behind loses the oldest messages, and counts them. A lossless ring has ``seats`` for so many
      subscribers.
    - ``publishers``: more than 1 makes a ring with places for so many, or joins the one that has the name.
    - ``deadline``: a promise to publish at least once in so many seconds. Subscribers see by
      :attr:`Subscriber.overdue` that a publisher does not.
    - ``continuing``: the numbers of the messages (:attr:`Publisher.sequence`, :attr:`Subscriber.cursor`) go on
      where the last publisher of this name stopped, which is kept beside the name. It is for one publisher;
      :class:`annulus.NameTakenError`: another one has the numbers.
    - ``directory``: where the names are; by default, the directory of this user.
    - ``wait``: how it waits, from ``block``, which sleeps, to ``busy-spin``, which takes a core and is
      fastest.

    The ring ends with its publisher, and its subscribers then receive what is left. Raises
    :class:`annulus.NameTakenError`, :class:`annulus.SchemaError`, :class:`annulus.DirectoryError`.

    >>> with annulus.publish("doc-publish", [("bid", "f8"), ("ask", "f8")], capacity=4096) as prices:
    ...     prices.send((1.0921, 1.0922))
    """
    asked = Asked(dtype, schema, message_bytes)
    _check_directory(name, directory)
    text, size = _made(asked, "publish")
    if publishers < 1:
        raise ValueError(f"publishers={publishers}: a ring has 1 or more")
    if publishers > 1 and continuing:
        raise ValueError(f"publishers={publishers} and continuing: the numbers of a name are one publisher's")
    promised: dict[str, Any] = {"wait": wait, "deadline": deadline}
    if publishers > 1:
        waits = seats if lossless else None
        raw = _annulus.make_mp(
            name, directory, capacity, text, size, publishers=publishers, seats=waits, **promised
        )
    elif lossless:
        raw = _annulus.make_lossless(
            name, directory, capacity, text, size, seats=seats, continuing=continuing, **promised
        )
    else:
        raw = _annulus.make_lossy(name, directory, capacity, text, size, continuing=continuing, **promised)
    return Publisher(raw, form_of(raw, asked), _own_ring(raw, directory, asked.of))


@overload
def join_publisher(
    name: str, dtype: type[M], *, timeout: float | None = 0, directory: Directory = None, wait: str = "block"
) -> Publisher[M]: ...
@overload
def join_publisher(
    name: str,
    dtype: npt.DTypeLike | None = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    timeout: float | None = 0,
    directory: Directory = None,
    wait: str = "block",
) -> Publisher[Any]: ...
def join_publisher(
    name: str,
    dtype: Any = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    timeout: float | None = 0,
    directory: Directory = None,
    wait: str = "block",
) -> Publisher[Any]:
    """Becomes one more publisher of a ring of several, which is there. The ring says what its messages are;
    where something is given, it must be the same. The other arguments and the errors are as of
    :func:`subscribe`.

    >>> with annulus.publish("doc-join", "f8", publishers=4), annulus.join_publisher("doc-join") as another:
    ...     another.send(1.5)
    """
    ring: Ring[Any] = Ring(name, directory=directory)
    return ring.join_publisher(dtype, schema=schema, message_bytes=message_bytes, timeout=timeout, wait=wait)


@overload
def subscribe(
    name: str,
    dtype: type[M],
    *,
    start: Literal["newest", "oldest"] | int = "newest",
    timeout: float | None = 0,
    awaited: bool = True,
    directory: Directory = None,
    wait: str = "block",
) -> Subscriber[M]: ...
@overload
def subscribe(
    name: str,
    dtype: npt.DTypeLike | None = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    start: Literal["newest", "oldest"] | int = "newest",
    timeout: float | None = 0,
    awaited: bool = True,
    directory: Directory = None,
    wait: str = "block",
) -> Subscriber[Any]: ...
def subscribe(
    name: str,
    dtype: Any = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    start: Literal["newest", "oldest"] | int = "newest",
    timeout: float | None = 0,
    awaited: bool = True,
    directory: Directory = None,
    wait: str = "block",
) -> Subscriber[Any]:
    """Subscribes to the broadcast ring of this name, of any process in any language.

    The ring says what its messages are, so they come as NumPy records without more. Where ``dtype``,
    ``schema`` or ``message_bytes`` is given, the messages must be that: :class:`annulus.MismatchError` shows
    both sides. A ``@annulus.message`` class or a ``ctypes.Structure`` makes the messages its instances.

    - ``start``: ``newest`` begins with the next message, ``oldest`` with the oldest one that the ring still
      holds, and a number with the last so many messages, or as many as there are.
    - ``timeout``: how many seconds it waits for the ring, if it is not there; ``None`` is for ever. The process
      of a ring may have to be asked for it, in a directory that others may use: then even 0 waits for the
      answer, for two seconds at most.
    - ``awaited``: of a lossless ring, whether the publisher waits for this subscriber, which then has a seat.
    - ``directory``, ``wait``: as in :func:`publish`.

    Raises :class:`annulus.RingNotFoundError`, :class:`annulus.TimeoutError`, :class:`annulus.NoSeatError`,
    :class:`annulus.PermissionError`.

    >>> prices = annulus.publish("doc-subscribe", schema="quote{bid:f64,side:enum u8{buy=0,sell=1}}")
    >>> sub = annulus.subscribe("doc-subscribe")
    >>> prices.send((1.5, "sell"))
    >>> prices.close()
    >>> for message in sub:
    ...     print(message, sub.enums["side"](message["side"]).name)
    (1.5, 1) sell
    """
    ring: Ring[Any] = Ring(name, directory=directory)
    return ring.subscribe(
        dtype,
        schema=schema,
        message_bytes=message_bytes,
        start=start,
        timeout=timeout,
        awaited=awaited,
        wait=wait,
    )


@overload
def spsc(
    name: str | None,
    dtype: type[M],
    *,
    capacity: int = 1024,
    directory: Directory = None,
    wait: str = "block",
) -> Producer[M]: ...
@overload
def spsc(
    name: str | None,
    dtype: npt.DTypeLike | None = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    capacity: int = 1024,
    directory: Directory = None,
    wait: str = "block",
) -> Producer[Any]: ...
def spsc(
    name: str | None,
    dtype: Any = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    capacity: int = 1024,
    directory: Directory = None,
    wait: str = "block",
) -> Producer[Any]:
    """Makes a queue from one producer to one consumer, and its producer. :func:`consume` is the other end.
    The arguments and the errors are as of :func:`publish`.

    >>> with annulus.spsc("doc-spsc", "i8") as producer, annulus.consume("doc-spsc") as consumer:
    ...     producer.send(7)
    ...     int(consumer.recv(timeout=60))
    7
    """
    asked = Asked(dtype, schema, message_bytes)
    _check_directory(name, directory)
    text, size = _made(asked, "spsc")
    raw = _annulus.make_spsc(name, directory, capacity, text, size, wait=wait)
    return Producer(raw, form_of(raw, asked), _own_ring(raw, directory, asked.of))


@overload
def mpsc(
    name: str | None,
    dtype: type[M],
    *,
    capacity: int = 1024,
    producers: int = 16,
    directory: Directory = None,
    wait: str = "block",
) -> Consumer[M]: ...
@overload
def mpsc(
    name: str | None,
    dtype: npt.DTypeLike | None = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    capacity: int = 1024,
    producers: int = 16,
    directory: Directory = None,
    wait: str = "block",
) -> Consumer[Any]: ...
def mpsc(
    name: str | None,
    dtype: Any = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    capacity: int = 1024,
    producers: int = 16,
    directory: Directory = None,
    wait: str = "block",
) -> Consumer[Any]:
    """Makes a queue from several producers, at most so many at one time, to one consumer, and its consumer.
    :func:`produce` is the other end. Each producer has room for ``capacity`` messages. The other arguments
    and the errors are as of :func:`publish`.

    >>> with annulus.mpsc("doc-mpsc", "i8") as consumer, annulus.produce("doc-mpsc") as producer:
    ...     producer.send(7)
    ...     int(consumer.recv(timeout=60))
    7
    """
    asked = Asked(dtype, schema, message_bytes)
    _check_directory(name, directory)
    text, size = _made(asked, "mpsc")
    raw = _annulus.make_mpsc(name, directory, capacity, text, size, wait=wait, producers=producers)
    return Consumer(raw, form_of(raw, asked), _own_ring(raw, directory, asked.of))


@overload
def mpmc(
    name: str | None,
    dtype: type[M],
    *,
    capacity: int = 1024,
    producers: int = 16,
    consumers: int = 16,
    unreceived: Literal["again", "drop"] = "again",
    directory: Directory = None,
) -> WorkQueue[M]: ...
@overload
def mpmc(
    name: str | None,
    dtype: npt.DTypeLike | None = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    capacity: int = 1024,
    producers: int = 16,
    consumers: int = 16,
    unreceived: Literal["again", "drop"] = "again",
    directory: Directory = None,
) -> WorkQueue[Any]: ...
def mpmc(
    name: str | None,
    dtype: Any = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    capacity: int = 1024,
    producers: int = 16,
    consumers: int = 16,
    unreceived: Literal["again", "drop"] = "again",
    directory: Directory = None,
) -> WorkQueue[Any]:
    """Makes a queue of work, which several producers and consumers share: each message reaches one consumer,
    also if a process dies that had claimed it (:meth:`Consumer.claim`). :func:`produce` and :func:`consume` are
    its ends, in any process and language.

    There are places for so many ``producers``, each of which has room for ``capacity`` messages, and for so
    many ``consumers``. ``unreceived``: what a consumer had claimed when its process died is given ``again``, to
    another one, or dropped (``drop``) and counted. A message has 4,096 bytes at most. The other arguments and the
    errors are as of :func:`publish`.

    >>> with annulus.mpmc("doc-mpmc", "u4", consumers=4) as queue, annulus.produce("doc-mpmc") as producer:
    ...     workers = [annulus.consume("doc-mpmc") for _ in range(2)]
    ...     producer.send(7)
    ...     workers[0].claim(timeout=60).give_back()       # or its process dies
    ...     again = workers[1].claim(timeout=60)
    ...     int(again.message), again.given_before, queue.given_again
    ...     again.done()
    (7, 1, 1)
    """
    asked = Asked(dtype, schema, message_bytes)
    _check_directory(name, directory)
    text, size = _made(asked, "mpmc")
    raw = _annulus.make_mpmc(
        name,
        directory,
        capacity,
        text,
        size,
        producers=producers,
        consumers=consumers,
        unreceived=unreceived,
    )
    return WorkQueue(raw, form_of(raw, asked), _own_ring(raw, directory, asked.of))


@overload
def produce(
    name: str, dtype: type[M], *, timeout: float | None = 0, directory: Directory = None, wait: str = "block"
) -> Producer[M]: ...
@overload
def produce(
    name: str,
    dtype: npt.DTypeLike | None = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    timeout: float | None = 0,
    directory: Directory = None,
    wait: str = "block",
) -> Producer[Any]: ...
def produce(
    name: str,
    dtype: Any = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    timeout: float | None = 0,
    directory: Directory = None,
    wait: str = "block",
) -> Producer[Any]:
    """Becomes a producer of the queue of this name, which takes several. The arguments and the errors are as
    of :func:`subscribe`; :class:`annulus.NoSeatError`: it has all its producers. See :func:`mpsc` for an
    example."""
    ring: Ring[Any] = Ring(name, directory=directory)
    return ring.produce(dtype, schema=schema, message_bytes=message_bytes, timeout=timeout, wait=wait)


@overload
def consume(
    name: str, dtype: type[M], *, timeout: float | None = 0, directory: Directory = None, wait: str = "block"
) -> Consumer[M]: ...
@overload
def consume(
    name: str,
    dtype: npt.DTypeLike | None = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    timeout: float | None = 0,
    directory: Directory = None,
    wait: str = "block",
) -> Consumer[Any]: ...
def consume(
    name: str,
    dtype: Any = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    timeout: float | None = 0,
    directory: Directory = None,
    wait: str = "block",
) -> Consumer[Any]:
    """Becomes the consumer of the queue of this name, which has one at a time; behind one that has left, it
    goes on with the next message. Of a queue of several (:func:`mpmc`), it becomes one of them. The arguments and the errors are as of :func:`subscribe`. See :func:`spsc`
    for an example."""
    ring: Ring[Any] = Ring(name, directory=directory)
    return ring.consume(dtype, schema=schema, message_bytes=message_bytes, timeout=timeout, wait=wait)


def produce_bytes(
    name: str | None, *, capacity: int = 1 << 16, directory: Directory = None, wait: str = "block"
) -> BytesProducer:
    """Makes a queue of records, which are bytes of any length up to half the ``capacity`` in bytes, and its
    producer.

    >>> with annulus.produce_bytes("doc-bytes") as producer, annulus.consume_bytes("doc-bytes") as consumer:
    ...     producer.send(b"of any length")
    ...     consumer.recv(timeout=60)
    b'of any length'
    """
    _check_directory(name, directory)
    raw = _annulus.make_bytes(name, directory, capacity, wait=wait)
    return BytesProducer(raw, _own_ring(raw, directory))


def consume_bytes(
    name: str, *, timeout: float | None = 0, directory: Directory = None, wait: str = "block"
) -> BytesConsumer:
    """Becomes the consumer of the queue of records of this name. Waits for it at most ``timeout`` seconds.
    See :func:`produce_bytes` for an example."""
    ring: Ring[bytes] = Ring(name, directory=directory)
    return ring.consume_bytes(timeout=timeout, wait=wait)


def publish_frames(
    name: str | None,
    shape: Shape | None = None,
    dtype: Any = None,
    *,
    schema: SchemaLike | None = None,
    frame_bytes: int | None = None,
    capacity: int = 4,
    subscribers: int = 8,
    held: int = 2,
    alignment: int = 64,
    lossless: bool = False,
    directory: Directory = None,
    wait: str = "block",
) -> FramePublisher:
    """Makes a ring of frames, which are written once, where all subscribers read them, in any language:
    camera images, point clouds, tensors. A ring whose name is ``None`` is for this process: a pool of buffers
    that threads and tasks share.

    What a frame is, ``shape`` and ``dtype`` say: the first axis may be shorter in a frame. Or
    ``frame_bytes``, how many bytes one has at most, and a ``dtype`` (or a ``schema``) if all of them are
    values of one type.

    - ``capacity``: how many frames stay for subscribers that come late, or are slow.
    - ``subscribers``, ``held``: room for so many at one time, and how many frames each may hold.
    - ``alignment``: at multiples of how many bytes frames begin, 64 to 2 MiB.
    - ``lossless``: the publisher waits for the slowest subscriber. Otherwise it never waits, and a
      subscriber that falls behind loses the oldest frames, and counts them.
    - ``directory``, ``wait``: as in :func:`publish`.

    All of the memory is there from the beginning: ``capacity + subscribers * held + 1`` frames. Raises
    :class:`annulus.NameTakenError`, :class:`annulus.DirectoryError`, ``ValueError``.

    >>> with annulus.publish_frames("doc-frames", (480, 640), "u2", held=3) as camera:
    ...     viewer = annulus.subscribe_frames("doc-frames")
    ...     with camera.loan() as frame:
    ...         frame[...] = 500
    ...     int(viewer.recv(timeout=60).array[0, 0])
    500
    """
    _check_directory(name, directory)
    raw, dims = _made_frames(
        name,
        shape,
        dtype,
        schema,
        frame_bytes,
        directory,
        capacity=capacity,
        subscribers=subscribers,
        held=held,
        alignment=alignment,
        lossless=lossless,
        wait=wait,
    )
    return FramePublisher(raw, dims, _own_ring(raw, directory))


def subscribe_frames(
    name: str,
    *,
    start: Literal["newest", "oldest"] | int = "newest",
    timeout: float | None = 0,
    awaited: bool = True,
    directory: Directory = None,
    wait: str = "block",
) -> FrameSubscriber:
    """Subscribes to the ring of frames of this name, of any process in any language. The ring says what is in
    the frames. See :func:`publish_frames` for an example; the arguments and the errors are as of
    :func:`subscribe`. :class:`annulus.NoSeatError`: it has all subscribers that it has room for."""
    ring: Ring[Any] = Ring(name, directory=directory)
    return ring.subscribe_frames(start=start, timeout=timeout, awaited=awaited, wait=wait)


@overload
def serve(
    name: str | None,
    question: type[M],
    answer: type[N],
    *,
    open: int = 16,
    clients: int = 16,
    directory: Directory = None,
    wait: str = "block",
) -> Server[M, N]: ...
@overload
def serve(
    name: str | None,
    question: Any,
    answer: Any,
    *,
    open: int = 16,
    clients: int = 16,
    directory: Directory = None,
    wait: str = "block",
) -> Server[Any, Any]: ...
def serve(
    name: str | None,
    question: Any,
    answer: Any,
    *,
    open: int = 16,
    clients: int = 16,
    directory: Directory = None,
    wait: str = "block",
) -> Server[Any, Any]:
    """Makes a service with this name, and its server: it answers what clients ask, of any process in any
    language. A service whose name is ``None`` is for threads and tasks of this process: ``server.ring`` joins.

    ``question`` and ``answer`` are each what the ``dtype`` of :func:`publish` is, or a :class:`Schema`, or an
    ``int``: how many bytes it has. An answer has 4,096 bytes at most.

    - ``open``: how many questions each client may have open.
    - ``clients``: how many clients there can be at one time.
    - ``directory``, ``wait``: as in :func:`publish`.

    Raises :class:`annulus.NameTakenError`, :class:`annulus.SchemaError`, :class:`annulus.DirectoryError`.

    >>> with annulus.serve("doc-serve", "u4", "f8") as server, annulus.join_service("doc-serve") as client:
    ...     pending = client.ask(7)
    ...     request = server.recv(timeout=60)
    ...     request.answer(float(request.question) / 2)
    ...     float(pending.result(timeout=60))
    True
    3.5
    """
    asks, answers = asked_of(question), asked_of(answer)
    _check_directory(name, directory)
    (text, size), (answer_text, answer_size) = _made(asks, "serve"), _made(answers, "serve")
    raw = _annulus.make_service(
        name, directory, open, clients, text, size, answer_text, answer_size, wait=wait
    )
    return Server(raw, asks, answers, _own_ring(raw, directory))


@overload
def join_service(
    name: str,
    question: type[M],
    answer: type[N],
    *,
    timeout: float | None = 0,
    directory: Directory = None,
    wait: str = "block",
) -> Client[M, N]: ...
@overload
def join_service(
    name: str,
    question: Any = None,
    answer: Any = None,
    *,
    timeout: float | None = 0,
    directory: Directory = None,
    wait: str = "block",
) -> Client[Any, Any]: ...
def join_service(
    name: str,
    question: Any = None,
    answer: Any = None,
    *,
    timeout: float | None = 0,
    directory: Directory = None,
    wait: str = "block",
) -> Client[Any, Any]:
    """Becomes a client of the service of this name. The service says what its questions and answers are; where
    something is given, it must be the same. See :func:`serve` for an example; the other arguments and the
    errors are as of :func:`subscribe`. :class:`annulus.NoSeatError`: it has all clients that it has places
    for."""
    ring: Ring[Any] = Ring(name, directory=directory)
    return ring.join_service(question, answer, timeout=timeout, wait=wait)


@overload
def publish_newest(
    name: str | None,
    dtype: type[M],
    *,
    cells: int = 1,
    directory: Directory = None,
    wait: str = "block",
) -> NewestSender[M]: ...
@overload
def publish_newest(
    name: str | None,
    dtype: npt.DTypeLike | None = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    cells: int = 1,
    directory: Directory = None,
    wait: str = "block",
) -> NewestSender[Any]: ...
def publish_newest(
    name: str | None,
    dtype: Any = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    cells: int = 1,
    directory: Directory = None,
    wait: str = "block",
) -> NewestSender[Any]:
    """Makes cells for newest values, and what writes them: a configuration, a state, prices by key. A reader
    that comes has the newest value at once, and a slow one sees the newest of several. Without a name it is
    for this process: ``sender.ring.read_newest()``.

    What a value is, ``dtype``, ``schema`` or ``message_bytes`` says, as in :func:`publish`; it has up to
    4,096 bytes. There are so many ``cells``, each of which may have a key of up to 64 bytes.

    The values stay readable when the sender has ended; a new sender of the same name makes new cells. Raises
    :class:`annulus.NameTakenError`, :class:`annulus.SchemaError`, :class:`annulus.DirectoryError`,
    ``ValueError``.

    >>> with annulus.publish_newest("doc-newest", [("bid", "f8"), ("ask", "f8")], cells=1000) as prices:
    ...     prices["EURUSD"] = (1.0921, 1.0922)
    ...     float(annulus.read_newest("doc-newest")["EURUSD"]["bid"])
    1.0921
    """
    asked = Asked(dtype, schema, message_bytes)
    _check_directory(name, directory)
    text, size = _made(asked, "publish_newest")
    raw = _annulus.make_newest(name, directory, cells, text, size, wait=wait)
    return NewestSender(raw, form_of(raw, asked), _own_ring(raw, directory, asked.of))


@overload
def read_newest(
    name: str, dtype: type[M], *, timeout: float | None = 0, directory: Directory = None, wait: str = "block"
) -> NewestReader[M]: ...
@overload
def read_newest(
    name: str,
    dtype: npt.DTypeLike | None = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    timeout: float | None = 0,
    directory: Directory = None,
    wait: str = "block",
) -> NewestReader[Any]: ...
def read_newest(
    name: str,
    dtype: Any = None,
    *,
    schema: SchemaLike | None = None,
    message_bytes: int | None = None,
    timeout: float | None = 0,
    directory: Directory = None,
    wait: str = "block",
) -> NewestReader[Any]:
    """Opens the newest values of this name, of any process in any language. The arguments and the errors are
    as of :func:`subscribe`. See :func:`publish_newest` for an example."""
    ring: Ring[Any] = Ring(name, directory=directory)
    return ring.read_newest(dtype, schema=schema, message_bytes=message_bytes, timeout=timeout, wait=wait)

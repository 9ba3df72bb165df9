"""Strict reading of one safetensors file: the bytes that were hashed are the bytes that are used.

Format: eight bytes with the header's length (little-endian), a JSON header, then the tensors end to end
(https://huggingface.co/docs/safetensors). Nothing is mapped into memory, so that a file that changes
while it is read can only fail its digest; nothing is allocated that the file does not hold.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..errors import ArtifactError, ResourceError
from ..host.regular_file import NotRegular, descriptor

# Manifests hold every sequence's counts: some megabytes. Nothing sane is longer than this.
MAX_HEADER = 32 << 20
_CHUNK = 8 << 20
_MOST_DIMENSIONS = 8
_METADATA = "__metadata__"
# Every dtype the format knows, with its width in bits; only those in DTYPES are used.
_BITS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
}
DTYPES = {"F32": torch.float32, "BF16": torch.bfloat16}


@dataclass(frozen=True)
class TensorEntry:
    """One tensor as the header describes it; `begin` and `end` count bytes of the data section."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    """A checked header: tensors that fill the data section without gap or overlap, and free texts."""

    entries: dict[str, TensorEntry]
    metadata: dict[str, str]


def read_tensor_file(
    path: str | os.PathLike[str],
    accept: Callable[[Header], Any],
    *,
    expected_sha256: str | None = None,
    max_bytes: int | None = None,
) -> tuple[Any, dict[str, Tensor]]:
    """What `accept` made of the header, and every tensor, from one pass over the file.

    `accept` sees the header before any tensor is read and raises ArtifactError to refuse it. With
    `expected_sha256` (hex) no byte is used unless all of them are the expected ones, and a file with
    other bytes is refused as DIGEST whatever else is wrong with it.
    Errors: ArtifactError MISSING, UNREADABLE, CORRUPT, DTYPE, DIGEST, TOO_LARGE; ResourceError MEMORY_SHORT.
    """
    handle, size = _open(path)
    try:
        seen = hashlib.sha256()
        try:
            if max_bytes is not None and size > max_bytes:
                raise ArtifactError(
                    "TOO_LARGE", f"{short(path)} has {size} bytes, more than the {max_bytes} allowed"
                )
            accepted, header, tensors = _read(handle, size, seen, accept, path)
        except ArtifactError as error:
            # The rest is hashed to say whether these are the right bytes at all; a sparse file has no end.
            if error.code != "TOO_LARGE" and expected_sha256 is not None and size <= _memory():
                _drain(handle, seen)
                _check_digest(seen.hexdigest(), expected_sha256, path)
            raise
        if expected_sha256 is not None:
            _check_digest(seen.hexdigest(), expected_sha256, path)
        return accepted, {name: _view(tensors, entry) for name, entry in header.entries.items()}
    except OSError as error:
        raise ArtifactError(
            "UNREADABLE", f"{short(path)} cannot be read: {error.strerror or error}"
        ) from error
    finally:
        os.close(handle)


def parse_header(raw: bytes, data_bytes: int) -> Header:
    """The header's JSON, checked against a data section of `data_bytes`. Errors: ArtifactError CORRUPT."""
    content = strict_json(raw)
    if not isinstance(content, dict):
        raise ArtifactError("CORRUPT", "the header is not a JSON object")
    metadata = content.pop(_METADATA, {})
    if not (isinstance(metadata, dict) and all(isinstance(v, str) for v in metadata.values())):
        raise ArtifactError("CORRUPT", "the header's metadata is not a map of texts")
    entries = {name: _entry(name, value) for name, value in content.items()}
    reached = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != reached:
            raise ArtifactError("CORRUPT", f"tensor {short(name)} starts at {entry.begin}, not at {reached}")
        reached = entry.end
    if reached != data_bytes:
        raise ArtifactError(
            "CORRUPT", f"the header describes {reached} bytes of data, there are {data_bytes}"
        )
    return Header(entries, metadata)


def strict_json(raw: bytes | str) -> Any:
    """JSON without what the standard forbids or leaves open. Errors: ArtifactError CORRUPT.

    Refused: bytes that are not UTF-8, NaN and infinities, numbers beyond a float, keys given twice,
    nesting beyond the parser's depth and half surrogates, which no log could print.
    """
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
        content = json.loads(
            text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite
        )
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise ArtifactError("CORRUPT", f"the JSON cannot be read: {one_line(str(error))}") from error
    return content


def one_line(text: str, most: int = 120) -> str:
    """`text` in printable ASCII on one line, cut to `most` characters."""
    plain = text.encode("ascii", "backslashreplace").decode()
    plain = "".join(c if " " <= c <= "~" else f"\\x{ord(c):02x}" for c in plain)
    return plain if len(plain) <= most else plain[: most - 3] + "..."


def short(value: Any) -> str:
    """A value from outside as it may stand in a message: a path nearly whole, the rest cut."""
    return one_line(str(value), 400) if isinstance(value, os.PathLike) else one_line(repr(value), 80)


def _open(path: str | os.PathLike[str]) -> tuple[int, int]:
    """A descriptor of a regular file and its size; a pipe or a device is neither waited for nor read."""
    try:
        handle = descriptor(path)
    except NotRegular as error:
        raise ArtifactError("UNREADABLE", f"{short(path)} is not a file") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ArtifactError("MISSING", f"there is no mapper at {short(path)}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArtifactError("UNREADABLE", f"{short(path)} cannot be opened: {reason}") from error
    return handle, os.fstat(handle).st_size


def _read(
    handle: int, size: int, seen: Any, accept: Callable[[Header], Any], path: str | os.PathLike[str]
) -> tuple[Any, Header, Tensor]:
    start = bytearray(8)
    if _fill(handle, memoryview(start), seen) < 8:
        raise ArtifactError("CORRUPT", f"{short(path)} has {size} bytes and no header")
    (length,) = struct.unpack("<Q", start)
    if length > min(MAX_HEADER, size - 8):
        raise ArtifactError("CORRUPT", f"{short(path)} claims a header of {length} bytes in a file of {size}")
    raw = bytearray(length)
    if _fill(handle, memoryview(raw), seen) < length:
        raise ArtifactError("CORRUPT", f"{short(path)} ended while its header was read")
    header = parse_header(bytes(raw), size - 8 - length)
    accepted = accept(header)
    odd = [name for name, entry in header.entries.items() if entry.dtype not in DTYPES]
    if odd:
        raise ArtifactError("DTYPE", f"tensor {short(odd[0])} is {header.entries[odd[0]].dtype}")
    data = _allocate(size - 8 - length, path)
    got = _fill(handle, memoryview(data.numpy()), seen)
    if got < len(data) or _drain(handle, seen):
        raise ArtifactError("CORRUPT", f"{short(path)} changed its length while it was read")
    return accepted, header, data


def _allocate(count: int, path: str | os.PathLike[str]) -> Tensor:
    """`count` bytes. A file may be sparse and name any size, so this machine's memory is the bound."""
    too_much = ResourceError("MEMORY_SHORT", f"{short(path)} needs {count >> 20} MiB of memory to be read")
    if count > _memory():
        raise too_much
    try:
        return torch.empty(count, dtype=torch.uint8)
    except (MemoryError, RuntimeError) as error:
        raise too_much from error


def _memory() -> int:
    """Bytes of memory this machine has."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 1 << 62


def _fill(handle: int, view: memoryview, seen: Any) -> int:
    """Reads until `view` is full or the file ends; returns the bytes read, all of them hashed."""
    done = 0
    while done < len(view):
        count = os.readv(handle, [view[done : done + _CHUNK]])
        if count == 0:
            break
        seen.update(view[done : done + count])
        done += count
    return done


def _drain(handle: int, seen: Any) -> int:
    """Hashes what is left of the file without keeping it; returns how many bytes that was."""
    done = 0
    while chunk := os.read(handle, _CHUNK):
        seen.update(chunk)
        done += len(chunk)
    return done


def _check_digest(found: str, expected: str, path: str | os.PathLike[str]) -> None:
    if found != expected.lower():
        raise ArtifactError(
            "DIGEST",
            f"{short(path)} is not the mapper {short(expected[:12])}: its bytes differ; copy it again",
        )


def _view(data: Tensor, entry: TensorEntry) -> Tensor:
    """The tensor in place: no copy is made, all tensors share the one buffer the file was read into."""
    return data[entry.begin : entry.end].view(DTYPES[entry.dtype]).view(entry.shape)


def _entry(name: str, value: Any) -> TensorEntry:
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise ArtifactError("CORRUPT", f"tensor {short(name)} is not described by dtype, shape and offsets")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _BITS:
        raise ArtifactError("DTYPE", f"tensor {short(name)} has the unknown dtype {short(dtype)}")
    if not _naturals(shape) or len(shape) > _MOST_DIMENSIONS:
        raise ArtifactError("CORRUPT", f"tensor {short(name)} has the shape {short(shape)}")
    if not _naturals(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ArtifactError("CORRUPT", f"tensor {short(name)} has the offsets {short(offsets)}")
    count = 1
    for extent in shape:
        count *= extent
    width = _BITS[dtype] // 8
    if count * width != offsets[1] - offsets[0]:
        raise ArtifactError(
            "CORRUPT", f"tensor {short(name)} of shape {short(shape)} has offsets {short(offsets)}"
        )
    if offsets[0] % width:
        raise ArtifactError("CORRUPT", f"tensor {short(name)} is not aligned to its {width}-byte numbers")
    return TensorEntry(dtype, tuple(shape), offsets[0], offsets[1])


def _naturals(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 1 << 62 for n in value)


def _object(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is given twice")
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is beyond any float")
    return number

"""HTTP to the one hub that is allowed: no other host, no unbounded answer, nothing kept unverified."""

from __future__ import annotations

import errno
import hashlib
import http.client
import json
import os
import re
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CorpusError, ResourceError

DEFAULT_ENDPOINT = "https://huggingface.co"
# The public hub keeps large files on hosts of these domains, which are its own.
_DEFAULT_STORAGE = ("huggingface.co", "hf.co")
_LARGEST_ANSWER = 32 << 20
_MOST_REDIRECTS = 5
_TRIES = 3
_LONGEST_WAIT = 5.0
_SPARE_DISK = 256 << 20
_PIECE = 1 << 20


@dataclass(frozen=True)
class HubFile:
    """A file of a data set at a commit. `digest` is sha256 of its bytes, or git's blob sha1 of small ones."""

    path: str
    size: int
    digest: str

    @property
    def git_blob(self) -> bool:
        """True where the hub names only git's own digest."""
        return len(self.digest) == 40


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class HubHttp:
    """Requests to `endpoint`; it may redirect downloads to `storage`: domains, and hosts below them.

    The token goes to the endpoint's own host alone.
    """

    def __init__(
        self,
        endpoint: str = DEFAULT_ENDPOINT,
        token: str | None = None,
        storage: tuple[str, ...] | None = None,
        timeout: float = 30.0,
        pause: float = 1.0,
    ) -> None:
        self.endpoint = endpoint.rstrip("/")
        self._origin = _origin(self.endpoint)
        if not all(self._origin):
            raise CorpusError(
                "HUB_ADDRESS", f"{endpoint[:120]} is no hub's address, as {DEFAULT_ENDPOINT} is"
            )
        self._storage = (
            (_DEFAULT_STORAGE if self.endpoint == DEFAULT_ENDPOINT else ()) if storage is None else storage
        )
        self._token, self._timeout, self._pause = token, timeout, pause
        self._opener = urllib.request.build_opener(_NoRedirect)

    def get_json(self, address: str, what: str) -> tuple[Any, str | None]:
        """The JSON at `address` (a path, or a page's full address) and the address of its next page."""
        with self._open(address, what) as answer:
            body = answer.read(_LARGEST_ANSWER + 1)
            following = answer.headers.get("Link", "")
        if len(body) > _LARGEST_ANSWER:
            raise CorpusError("HUB_ANSWER", f"the hub's answer about {what} is larger than 32 MiB")
        try:
            found = re.search(r'<([^>]+)>;\s*rel="next"', following)
            return json.loads(body), found[1] if found else None
        except (ValueError, RecursionError) as error:
            raise CorpusError(
                "HUB_ANSWER", f"{self.endpoint} answers about {what} with no JSON: is it a hub?"
            ) from error

    def download(self, address: str, file: HubFile, to: Path) -> None:
        """Writes `file` to `to`: wholly and with the right digest, or not at all.

        Errors: CorpusError DOWNLOAD_BROKEN and those of a request; ResourceError DISK_SHORT.
        """
        to.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(to.parent).free < file.size + _SPARE_DISK:
            raise ResourceError(
                "DISK_SHORT", f"{file.path} needs {file.size >> 20} MiB under {to.parent}: free some space"
            )
        digest = hashlib.sha1() if file.git_blob else hashlib.sha256()
        if file.git_blob:
            digest.update(b"blob %d\0" % file.size)
        part = to.with_name(f".{to.name}.{os.getpid()}.part")
        got = 0
        try:
            with self._open(address, file.path) as answer, open(part, "wb") as out:
                while got <= file.size and (piece := answer.read(min(_PIECE, file.size + 1 - got))):
                    got += len(piece)
                    digest.update(piece)
                    out.write(piece)
                out.flush()
                os.fsync(out.fileno())
            if got != file.size:
                said = f"more than the {file.size}" if got > file.size else f"{got} of {file.size}"
                raise CorpusError("DOWNLOAD_BROKEN", f"{file.path}: {said} bytes came: start the run again")
            if digest.hexdigest() != file.digest:
                raise CorpusError(
                    "DOWNLOAD_BROKEN",
                    f"{file.path} is not what the hub says (digest): start the run again",
                )
            os.replace(part, to)
        except (http.client.HTTPException, OSError) as error:
            if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
                raise ResourceError(
                    "DISK_FULL", f"no room for {file.path} under {to.parent}: free some space"
                ) from error
            raise CorpusError(
                "DOWNLOAD_BROKEN",
                f"{file.path} broke off at byte {got} ({_said(error)}): start the run again",
            ) from error
        finally:
            part.unlink(missing_ok=True)

    def _open(self, address: str, what: str) -> Any:
        """An open answer of 200, redirects followed to allowed hosts only. Errors: CorpusError HUB_*."""
        address = urllib.parse.urljoin(self.endpoint + "/", address)
        for _ in range(_MOST_REDIRECTS + 1):
            self._check_host(address, what)
            try:
                return self._try(address)
            except urllib.error.HTTPError as error:
                error.close()
                if error.code in (301, 302, 303, 307, 308) and error.headers.get("Location"):
                    address = urllib.parse.urljoin(address, error.headers["Location"])
                    continue
                raise self._refusal(error, what) from error
            except (OSError, http.client.HTTPException) as error:
                raise CorpusError(
                    "HUB_UNREACHABLE",
                    f"the hub {self.endpoint} cannot be reached ({_said(error)}): connect this host, or copy "
                    "the data set's files here and give their folder as --corpus",
                ) from error
        raise CorpusError("HUB_REDIRECT", f"the hub redirects more than {_MOST_REDIRECTS} times for {what}")

    def _try(self, address: str) -> Any:
        """One request, tried again where the hub is busy for a short time."""
        headers = {"User-Agent": "lifeboat-kv", "Accept-Encoding": "identity"}
        if self._token and _origin(address) == self._origin:
            headers["Authorization"] = f"Bearer {self._token}"
        for number in range(1, _TRIES + 1):
            try:
                return self._opener.open(
                    urllib.request.Request(address, headers=headers), timeout=self._timeout
                )
            except urllib.error.HTTPError as error:
                wait = _retry_after(error, self._pause * number)
                if number == _TRIES or error.code not in (429, 500, 502, 503, 504) or wait > _LONGEST_WAIT:
                    raise
                error.close()
                time.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _check_host(self, address: str, what: str) -> None:
        origin = _origin(address)
        stored = origin[0] == "https" and any(_within(origin[1], domain) for domain in self._storage)
        if origin != self._origin and not stored:
            raise CorpusError(
                "HUB_REDIRECT",
                f"the hub sends us to {origin[1][:80]} for {what}; only {self.endpoint} is allowed",
            )

    def _refusal(self, error: urllib.error.HTTPError, what: str) -> CorpusError:
        if error.code in (401, 403):
            known = "HF_TOKEN does not open it" if self._token else "there is no HF_TOKEN"
            return CorpusError(
                "HUB_REFUSED",
                f"the hub refuses {what} ({error.code}; {known}): accept its terms there, or check its name",
            )
        if error.code == 404:
            return CorpusError("HUB_NOT_FOUND", f"the hub has no {what}: check owner, name and revision")
        if error.code == 429:
            wait = error.headers.get("Retry-After", "")
            when = f"in {wait} seconds" if wait.isdigit() else "later"
            return CorpusError("HUB_BUSY", f"the hub takes no more requests from here: start again {when}")
        return CorpusError("HUB_ANSWER", f"the hub answers {error.code} about {what}: start again later")


def _origin(address: str) -> tuple[str, str, int | None]:
    try:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https"):
            return ("", parts.hostname or "", None)
        return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return "", "", None


def _within(host: str, domain: str) -> bool:
    """Whether `host` is `domain` or below it; ".example.org" and "example.org" name the same."""
    domain = domain.strip(".").lower()
    return bool(domain) and (host == domain or host.endswith("." + domain))


def _retry_after(error: urllib.error.HTTPError, otherwise: float) -> float:
    given = error.headers.get("Retry-After", "")
    return float(given) if given.isdigit() else otherwise


def _said(error: BaseException) -> str:
    reason = getattr(error, "reason", None) or error
    return " ".join(str(reason).split())[:120] or type(error).__name__

"""The thread that runs all models' steps, and the way in and out of it."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping

from .scheduler import Scheduler
from .sequence import Event, FailedEvent, Request

log = logging.getLogger(__name__)

# How long the loop sleeps when what waits cannot start yet.
BLOCKED_SECONDS = 0.005
IDLE_SECONDS = 1.0

STOPPED = FailedEvent("The engine was stopped before this request was done.", stopping=True)

Batch = list[tuple[Request, Event]]


class StepLoop:
    """Models take turns, one step each. `deliver` gets every step's events, on the step thread."""

    def __init__(self, deliver: Callable[[Batch], None]) -> None:
        self.schedulers: Mapping[str, Scheduler] = {}
        self._deliver = deliver
        self._wake = threading.Condition()
        self._arrivals: deque[Request] = deque()
        self._aborts: deque[str] = deque()
        self._outbox: Batch = []
        self._stopping = False
        self._giving_up = False
        self._thread = threading.Thread(target=self._run, name="step-loop", daemon=True)

    def start(self, schedulers: Mapping[str, Scheduler]) -> None:
        """Begins stepping."""
        self.schedulers = schedulers
        self._thread.start()

    def post(self, request: Request, event: Event) -> None:
        """Collects an event; called by schedulers on the step thread."""
        self._outbox.append((request, event))

    def submit(self, request: Request) -> None:
        """Hands a checked request over, from any thread."""
        with self._wake:
            self._arrivals.append(request)
            self._wake.notify()

    def abort(self, request_id: str) -> None:
        """Ends a request that nobody waits for any more, from any thread."""
        with self._wake:
            self._aborts.append(request_id)
            self._wake.notify()

    def arriving(self, model: str) -> int:
        """Requests handed over that their scheduler has not seen yet."""
        with self._wake:
            return sum(1 for request in self._arrivals if request.model == model)

    @property
    def idle(self) -> bool:
        """Whether nothing is queued or running."""
        with self._wake:
            return not self._arrivals and not any(s.busy for s in self.schedulers.values())

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def give_up(self) -> None:
        """Ends every request with a typed refusal: the engine stops and cannot finish them."""
        with self._wake:
            self._giving_up = True
            self._wake.notify()

    def stop(self, timeout: float) -> None:
        """Ends the thread after its current step."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join(timeout)

    def _run(self) -> None:
        blocked = False
        while True:
            with self._wake:
                if blocked:
                    self._wake.wait(BLOCKED_SECONDS)
                elif not self._arrivals and not self._aborts and not self._stopping and not self._any_busy():
                    self._wake.wait(IDLE_SECONDS)
                if self._stopping:
                    return
                arrivals, self._arrivals = self._arrivals, deque()
                aborts, self._aborts = self._aborts, deque()
            for request in arrivals:
                self.schedulers[request.model].accept(request)
            for request_id in aborts:
                for scheduler in self.schedulers.values():
                    scheduler.abort(request_id)
            if self._giving_up:
                for scheduler in self.schedulers.values():
                    scheduler.fail_all(STOPPED)
            moved = self._turn()
            blocked = not moved and self._any_busy()
            if self._outbox:
                batch, self._outbox = self._outbox, []
                self._deliver(batch)
            if not moved:
                continue
            # Lets the server's thread have the interpreter between steps.
            time.sleep(0)

    def _any_busy(self) -> bool:
        return any(scheduler.busy for scheduler in self.schedulers.values())

    def _turn(self) -> bool:
        moved = False
        for scheduler in self.schedulers.values():
            if not scheduler.busy:
                continue
            try:
                moved = scheduler.step() or moved
            except Exception:
                log.exception("the step loop of %s met an error outside a forward", scheduler.model.name)
                scheduler.fail_all()
        return moved

// @vitest-environment jsdom
import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SlowWords } from "./slow-words";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("says nothing at first, and after five seconds that the answer is still awaited", () => {
  render(<SlowWords />);
  act(() => void vi.advanceTimersByTime(4_000));
  expect(screen.queryByText(/has not answered/)).toBeNull();
  act(() => void vi.advanceTimersByTime(2_000));
  expect(screen.getByText(/has not answered/).textContent).toContain("6 s");
});

// @vitest-environment jsdom
import { act } from "@testing-library/react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { expect, it, vi } from "vitest";
import { SubmitButton } from "./submit-button";

it("sends nothing before the page's script runs, and the form's own way afterwards", async () => {
  const submit = vi.fn((event: { preventDefault(): void }) => event.preventDefault());
  const form = (
    <form method="post" onSubmit={submit}>
      <input name="password" />
      <SubmitButton>Sign in</SubmitButton>
    </form>
  );
  document.body.innerHTML = `<div>${renderToString(form)}</div>`;
  const button = document.querySelector("button") as HTMLButtonElement;
  const native = vi.fn((event: Event) => event.preventDefault());
  document.addEventListener("submit", native);

  expect(button.disabled).toBe(true);
  button.click();
  expect(native).not.toHaveBeenCalled();

  await act(async () => void hydrateRoot(document.body.firstElementChild as Element, form));
  expect(button.disabled).toBe(false);
  await act(async () => button.click());
  expect(submit).toHaveBeenCalledTimes(1);
});

import { expect, test } from "@playwright/test";
import { HELM_PAGE } from "./product";
import { contextFor } from "./visit";

/** After the journey: a pair is calibrated, so its probes have brought the first tables. */
test("a route judges by a table at a rate or a floor, says what that comes to, and goes back to its bounds", async ({
  browser,
}) => {
  test.setTimeout(300_000);
  const context = await contextFor(browser, { theme: "light", width: 1440 }, true);
  const page = await context.newPage();
  await page.goto("/pairs");
  await page.getByRole("link", { name: "pilot to target", exact: true }).first().click();
  const card = page.getByRole("region", { name: "Judge", exact: true });
  await expect(card.getByText("the first 64 tokens", { exact: true })).toBeVisible();
  await card.getByRole("button", { name: /^Table of Quality against escalation/ }).click();
  const figures = card.getByRole("table", { name: "Quality by share of requests escalated" });
  await expect(figures.getByRole("row")).toHaveCount(22);
  await expect(figures.getByRole("row", { name: /^20 %/ })).toContainText(/0\.\d{3} to 0\.\d{3}/);

  await card.getByRole("button", { name: "Fit a table" }).click();
  const fit = page.getByRole("dialog", { name: "Fit a table" });
  await fit.getByLabel("Window").fill("8");
  await fit.getByRole("button", { name: "Fit", exact: true }).click();
  await expect(fit).toBeHidden();
  const fitted = card.getByRole("listitem").filter({ hasText: "the first 8 tokens" });
  await expect(fitted).toBeVisible();
  await fitted.getByRole("button", { name: /^Curve/ }).click();
  await expect(page).toHaveURL(/judge=[0-9a-f]{12}/);

  await page.goto(HELM_PAGE);
  const route = page.getByRole("region", { name: "Route helm-auto" });
  const edit = route.getByRole("button", { name: "Edit the route helm-auto" });
  await edit.click();
  const form = page.getByRole("dialog", { name: "Edit helm-auto" });
  const judge = form.getByLabel("Judge", { exact: true });
  await expect(judge.getByRole("option", { name: /the first 8 tokens/ })).toBeDisabled();
  const option = judge.getByRole("option", { name: /the first 64 tokens/ }).first();
  await judge.selectOption((await option.getAttribute("value")) ?? "");
  await form.getByLabel("Threshold by").selectOption("quality_floor");
  await form.getByLabel("Quality floor").fill("0.9999");
  await expect(form.getByText(/cannot be shown with \d+ labelled requests/).first()).toBeVisible();
  await form.getByLabel("Threshold by").selectOption("escalation_rate");
  await form.getByLabel("Escalation rate").fill("0.2");
  await expect(form.getByText(/^Escalates 20 % of requests/).first()).toBeVisible();
  await form.getByRole("button", { name: "Store" }).click();
  await expect(form).toBeHidden();
  await expect(route).toContainText("escalating 20.0 % of requests");

  await edit.click();
  await judge.selectOption("");
  await form.getByRole("button", { name: "Store" }).click();
  await expect(form).toBeHidden();
  await expect(route).toContainText("the two bounds below");

  await page.goBack();
  await fitted.getByRole("button", { name: /^Remove/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove it" }).click();
  await expect(fitted).toBeHidden();
  await context.close();
});

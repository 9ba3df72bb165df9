import { expect, it } from "vitest";
import { programOf } from "./browser-words";

it("names the browser, and not those whose names it carries along", () => {
  const edge =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0 Safari/537.36 Edg/131.0";
  expect(programOf(edge)).toBe("Edge on Windows");
  expect(programOf(edge.replace(" Edg/131.0", ""))).toBe("Chrome on Windows");
  expect(programOf("Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0")).toBe(
    "Firefox on Linux",
  );
  expect(programOf(null)).toBe("Command line or another program");
  expect(programOf("undici")).toBe("Command line or another program");
});

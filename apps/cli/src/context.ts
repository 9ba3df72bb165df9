import type { CliConfig } from "./config";
import type { Screen } from "./terminal/screen";

/** What every verb gets. */
export interface Context {
  config: CliConfig;
  screen: Screen;
}

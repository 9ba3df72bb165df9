import { startHelper } from "../serving/doors.mjs";
import { startLiteLlm } from "../serving/litellm.mjs";
import { burst, Door } from "./load.mjs";

/** The same burst through a LiteLLM proxy in front of the same engine; where it cannot be had, why. */
export async function besideLiteLlm(socketPath, folder, load) {
  const pipe = await startHelper("./tcp-pipe.mjs", [socketPath]);
  try {
    const proxy = await startLiteLlm(pipe.origin, folder, ["pilot", "target"]);
    const door = new Door({ origin: proxy.origin, key: proxy.key });
    try {
      return await burst(door, load);
    } finally {
      await door.close();
      proxy.stop();
    }
  } catch (error) {
    return { without: error.message };
  } finally {
    pipe.stop();
  }
}

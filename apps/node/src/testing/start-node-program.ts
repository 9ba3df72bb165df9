import pino from "pino";
import { EngineSupervisor } from "../engine/engine-supervisor";
import { engineDouble } from "./engine-double";

/** A process of a test: a node's supervisor whose engine never comes up, to be killed with the start lock in its hands. */
const settings = await engineDouble(process.argv[2] ?? "", { hangs: true });
new EngineSupervisor(settings, pino({ level: "silent" }), () => {}).start();
setInterval(() => {}, 1_000);

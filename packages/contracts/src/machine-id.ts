import { z } from "zod";

/** The same for every host of one machine, and a digest: nothing of the machine can be read from it. */
export const MachineId = z.string().regex(/^[0-9a-f]{32}$/);
export type MachineId = z.infer<typeof MachineId>;

import { z } from "zod";

/** Who computes on a device. `seen` is false for a process of another namespace, where its number says nothing. */
export const DeviceProcess = z.object({
  pid: z.number().int().nullable(),
  name: z.string().nullable(),
  /** Null where the driver does not say. */
  used_bytes: z.number().nonnegative().nullable(),
  seen: z.boolean(),
  /** Its process group, and its parents up to the first. */
  group: z.number().int().nullish(),
  ancestors: z.array(z.number().int()),
});
export type DeviceProcess = z.infer<typeof DeviceProcess>;

/** A device as NVML, AMD SMI or the system tell it. What could not be read is null, with its reason in `problems`. */
export const DeviceTelemetry = z.object({
  kind: z.enum(["nvidia", "amd", "cpu"]),
  name: z.string(),
  uuid: z.string().nullish(),
  memory: z
    .object({
      total_bytes: z.number().nonnegative(),
      free_bytes: z.number().nonnegative(),
      used_bytes: z.number().nonnegative(),
    })
    .nullable(),
  /** Percent of the last moment in which it computed; a CPU has none. */
  utilisation: z.number().nullable(),
  /** Of a GPU whoever computes there; of a CPU those that were asked for. */
  processes: z.array(DeviceProcess).nullable(),
  problems: z.array(z.string()),
});
export type DeviceTelemetry = z.infer<typeof DeviceTelemetry>;

/** What `python -m lifeboat_kv guard --device D` prints. */
export const GuardEvent = z.object({
  v: z.literal(1),
  at: z.string(),
  type: z.literal("guard"),
  device: DeviceTelemetry,
});

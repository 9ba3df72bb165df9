import { readFile } from "node:fs/promises";
import { ExitCode, type HardwareVerdict } from "@helm/contracts";
import { askDoctor, locatePython } from "@helm/host";
import { type Device, hardwareVerdict, hostVerdict } from "@helm/pairing";
import { z } from "zod";
import type { Context } from "../context";
import { Failure } from "../failure";
import { printable, table } from "../terminal/style";
import { deviceLines, reportDevice } from "./device-report";

/**
 * A device as someone else's telemetry tells it. A number such as 9.0 loses its zero in JSON; a capability that is
 * neither text nor number is one that could not be read, which the gate refuses.
 */
const Telemetry = z.object({
  vendor: z.string(),
  name: z.string().catch("unnamed device"),
  capability: z
    .union([z.string(), z.number().transform(String)])
    .nullable()
    .catch(null),
});

const NEXT_STEP: Record<HardwareVerdict, string> = {
  allowed: "Calibrate with --device auto.",
  refused: "Use a host with NVIDIA compute capability 8.0 or higher, or AMD Instinct.",
  none: "--device cpu calibrates here in development mode, marked so everywhere.",
};

/** The hardware gate, on this host or on one device's telemetry. Exit codes: 0 allowed, 4 refused or none. */
export async function doctor(context: Context, telemetryFile: string | undefined): Promise<number> {
  const { screen } = context;
  if (telemetryFile !== undefined) {
    const device = await readTelemetry(telemetryFile);
    return report(context, hardwareVerdict(device), [device], {});
  }
  const python = locatePython(context.config.python);
  const found = await askDoctor(python);
  const devices = found.devices.filter((device) => device.vendor !== "none");
  const offered = devices.filter((device) => hardwareVerdict(device).verdict === "allowed");
  const places = devices.length === 0 ? [null] : offered;
  const uses = await Promise.all(places.map((gpu) => reportDevice(context, python, gpu)));
  const code = report(context, hostVerdict(devices), devices, {
    torch: found.torch,
    torch_device: found.torch_device,
    torch_problem: found.torch_problem,
    uses,
  });
  if (!screen.json) {
    const place = found.torch_device ? `on ${found.torch_device}` : "without a GPU";
    screen.say(`  torch ${found.torch ?? "not installed"}, ${place}`);
    for (const use of uses) for (const line of deviceLines(use)) screen.say(line);
    if (found.torch_problem) screen.say(`${screen.style.yellow("but")}  ${found.torch_problem}`);
  }
  return code;
}

function report(
  { screen }: Context,
  check: { verdict: HardwareVerdict; sentence: string },
  devices: Device[],
  extra: Record<string, unknown>,
): number {
  const sentence = printable(check.sentence);
  const color = { allowed: screen.style.green, refused: screen.style.red, none: screen.style.yellow }[
    check.verdict
  ];
  screen.answer({ type: "doctor", ...check, devices, ...extra }, () => [
    `${color(check.verdict)}  ${sentence} ${NEXT_STEP[check.verdict]}`,
    ...table(
      [],
      devices.map((device) => [
        `  ${printable(device.vendor)}`,
        printable(device.name),
        printable(device.capability ?? "capability unreadable"),
        hardwareVerdict(device).verdict,
      ]),
    ).slice(1),
  ]);
  return check.verdict === "allowed" ? 0 : ExitCode.noAccelerator;
}

async function readTelemetry(path: string): Promise<Device> {
  try {
    return Telemetry.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    const reason =
      error instanceof z.ZodError
        ? `${error.issues[0]?.path.join(".")}: ${error.issues[0]?.message}`
        : (error as Error).message;
    throw new Failure(
      ExitCode.unreadable,
      "TELEMETRY_UNREADABLE",
      `${path} is no device's telemetry (${reason}). It holds one JSON object {vendor, name, capability}.`,
    );
  }
}

import type { DeviceTelemetry } from "@helm/contracts";
import { type ComputeBudget, type DeviceWord, judgeDevice } from "@helm/pairing";
import { ownUsers, readDeviceUse } from "./lease-file";
import type { PythonHome } from "./python";
import { askGuard } from "./python-verbs";

export interface GuardSettings {
  python: PythonHome;
  leaseDir: string;
  leaseName: string;
  /** As the guard's verb calls the device: `cpu`, a GPU's UUID, or its kind where it has none. */
  device: string;
  budget: ComputeBudget;
}

/** Says whether a calibration may start on a device: telemetry asked anew each time, judged with its lease. */
export class DeviceGuard {
  constructor(private readonly settings: GuardSettings) {}

  /** Never throws: a device that cannot be looked at is not free, with the reason. */
  async look(): Promise<DeviceWord> {
    const { leaseDir, leaseName, budget } = this.settings;
    try {
      const use = await readDeviceUse({ directory: leaseDir, device: leaseName });
      const [own, { starting }] = [ownUsers(use), use];
      const telemetry = await this.ask(own.map(({ pid }) => pid));
      return judgeDevice(telemetry, own, starting && (starting.job ?? starting), budget);
    } catch (error) {
      const sentence = `The device cannot be shown to be free: ${(error as Error).message}`.slice(0, 480);
      const numbers = { free_bytes: null, promised_bytes: 0, needed_bytes: budget.neededBytes };
      return { rooms: [], sentence, ...numbers };
    }
  }

  /** Errors: PythonFailure. */
  ask(own: readonly number[] = []): Promise<DeviceTelemetry> {
    return askGuard(this.settings.python, this.settings.device, own);
  }
}

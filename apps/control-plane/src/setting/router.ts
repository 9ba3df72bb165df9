import { mutation, query, router } from "../trpc/procedure";
import { SettingOut } from "./schema";
import { SetHelmEnabledInput, setHelmEnabled } from "./set-helm-enabled";
import { SetKillSwitchInput, setKillSwitch } from "./set-kill-switch";

export const settingRouter = router({
  get: query.output(SettingOut).query(({ ctx }) => ctx.db.setting.findUniqueOrThrow({ where: { id: 1 } })),
  setHelmEnabled: mutation.input(SetHelmEnabledInput).output(SettingOut).mutation(setHelmEnabled),
  setKillSwitch: mutation.input(SetKillSwitchInput).output(SettingOut).mutation(setKillSwitch),
});

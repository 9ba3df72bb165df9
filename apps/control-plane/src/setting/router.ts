import { mutation, query, router } from "../trpc/procedure";
import { readSetting } from "./change-setting";
import { KillSwitchReach, readKillSwitchReach } from "./kill-switch-reach";
import { PreviewSettingInput, PreviewSettingOutput, previewSetting } from "./preview";
import { SettingOut } from "./schema";
import { SetHelmEnabledInput, setHelmEnabled } from "./set-helm-enabled";
import { SetKillSwitchInput, setKillSwitch } from "./set-kill-switch";
import { UpdateSettingInput, updateSetting } from "./update";

export const settingRouter = router({
  get: query.output(SettingOut).query(({ ctx }) => readSetting(ctx)),
  preview: query.input(PreviewSettingInput).output(PreviewSettingOutput).query(previewSetting),
  killSwitchReach: query.output(KillSwitchReach).query(({ ctx }) => readKillSwitchReach(ctx)),
  update: mutation.input(UpdateSettingInput).output(SettingOut).mutation(updateSetting),
  setHelmEnabled: mutation.input(SetHelmEnabledInput).output(SettingOut).mutation(setHelmEnabled),
  setKillSwitch: mutation.input(SetKillSwitchInput).output(SettingOut).mutation(setKillSwitch),
});

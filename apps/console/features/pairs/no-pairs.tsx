import { Empty } from "../../ui/states";
import { command } from "../shell/commands";

export function NoPairs() {
  return (
    <Empty title="No pairs yet" command={command.registerPair("PILOT", "TARGET")}>
      Register one: two models that share a tokenizer and the shape of their key and value heads.
    </Empty>
  );
}

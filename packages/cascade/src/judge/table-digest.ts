import { createHash } from "node:crypto";
import { JudgeTable } from "@helm/contracts";

/** What a table is named by: the sha256 of its text with the fields in the contract's order, however it was stored. */
export function digestOfTable(table: JudgeTable): string {
  return createHash("sha256")
    .update(JSON.stringify(JudgeTable.parse(table)))
    .digest("hex");
}

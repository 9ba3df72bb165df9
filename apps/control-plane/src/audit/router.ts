import { query, router } from "../trpc/procedure";
import { ListAuditInput, ListAuditOutput, listAudit } from "./list";

export const auditRouter = router({
  list: query.input(ListAuditInput).output(ListAuditOutput).query(listAudit),
});

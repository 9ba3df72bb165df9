import { query, router } from "../trpc/procedure";
import { ListAuditInput, ListAuditOutput, listAudit } from "./list";
import { AuditValues, auditValues } from "./values";

export const auditRouter = router({
  list: query.input(ListAuditInput).output(ListAuditOutput).query(listAudit),
  values: query.output(AuditValues).query(({ ctx }) => auditValues(ctx)),
});

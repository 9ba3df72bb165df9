-- The audit is read newest first by who, by kind of thing and by request, each without walking the whole table.
CREATE INDEX "audit_entry_actor_name_at_idx" ON "audit_entry" ("actor_name", "at" DESC);
CREATE INDEX "audit_entry_entity_at_idx" ON "audit_entry" ("entity", "at" DESC);
CREATE INDEX "audit_entry_request_id_idx" ON "audit_entry" ("request_id");

-- What people changed, apart from what hosts and the server itself do.
CREATE INDEX "audit_entry_actor_kind_at_idx" ON "audit_entry" ("actor_kind", "at" DESC);

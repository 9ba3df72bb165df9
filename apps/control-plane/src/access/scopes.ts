import { HelmError, type Role } from "@helm/contracts";
import type { Actor } from "./actor";

export type Scope = "public" | Role;

/** Least role of every procedure. A procedure that is not named here is refused to everyone. */
export const SCOPES: Record<string, Scope> = {
  "setup.status": "public",
  "setup.createAdministrator": "public",
  "session.current": "public",
  "session.me": "viewer",
  "account.get": "viewer",
  "account.sessions": "viewer",
  "account.changePassword": "viewer",
  "account.revokeSession": "viewer",
  "account.revokeOtherSessions": "viewer",
  "token.list": "viewer",
  "token.listAll": "admin",
  "token.create": "viewer",
  "token.revoke": "viewer",
  "person.list": "viewer",
  "person.create": "admin",
  "person.setRole": "admin",
  "person.setDisabled": "admin",
  "person.remove": "admin",
  "person.resetSignIn": "admin",
  "person.signOutEverywhere": "admin",
  "invitation.list": "admin",
  "invitation.cancel": "admin",
  "invitation.accept": "public",
  "overview.helm": "viewer",
  "setting.get": "viewer",
  "setting.preview": "viewer",
  "setting.killSwitchReach": "viewer",
  "setting.update": "admin",
  "setting.setHelmEnabled": "admin",
  "setting.setKillSwitch": "admin",
  "route.get": "viewer",
  "route.list": "viewer",
  "route.preview": "viewer",
  "route.create": "admin",
  "route.update": "admin",
  "route.remove": "admin",
  "model.list": "viewer",
  "pair.list": "viewer",
  "pair.get": "viewer",
  "pair.register": "admin",
  "pair.setGate": "admin",
  "pair.registration": "viewer",
  "pair.registrations": "viewer",
  "pair.storage": "viewer",
  "pair.placement": "viewer",
  "pair.place": "admin",
  "pair.unplace": "admin",
  "calibration.start": "operator",
  "calibration.get": "viewer",
  "calibration.list": "viewer",
  "calibration.starters": "viewer",
  "calibration.events": "viewer",
  "calibration.compare": "viewer",
  "calibration.drainReach": "viewer",
  "calibration.cancel": "operator",
  "calibration.retry": "operator",
  "mapper.list": "viewer",
  "mapper.storage": "viewer",
  "mapper.import": "admin",
  "mapper.deleteFile": "admin",
  "mapper.activate": "admin",
  "mapper.retire": "admin",
  "drift.list": "viewer",
  "drift.record": "operator",
  "judge.list": "viewer",
  "judge.get": "viewer",
  "judge.threshold": "viewer",
  "judge.check": "viewer",
  "judge.fit": "operator",
  "judge.import": "operator",
  "judge.remove": "operator",
  "evaluation.list": "viewer",
  "evaluation.record": "operator",
  "ladder.list": "viewer",
  "ladder.record": "operator",
  "tenant.list": "viewer",
  "tenant.get": "viewer",
  "tenant.effective": "viewer",
  "tenant.create": "admin",
  "tenant.update": "admin",
  "tenant.archive": "admin",
  "tenant.restore": "admin",
  "tenant.remove": "admin",
  "tenant.setEnabled": "admin",
  "tenant.setTraceText": "admin",
  "key.list": "viewer",
  "key.create": "admin",
  "key.rotate": "admin",
  "key.revoke": "admin",
  "worker.list": "viewer",
  "node.list": "viewer",
  "host.joinTokens": "viewer",
  "node.get": "viewer",
  "node.acks": "viewer",
  "node.drain": "operator",
  "node.undrain": "operator",
  "node.canary": "operator",
  "host.createJoinToken": "admin",
  "host.cancelJoinToken": "admin",
  "host.revoke": "admin",
  "snapshot.list": "viewer",
  "snapshot.get": "viewer",
  "snapshot.diff": "viewer",
  "snapshot.state": "viewer",
  "snapshot.rollback": "admin",
  "snapshot.release": "admin",
  "traffic.summary": "viewer",
  "traffic.series": "viewer",
  "traffic.reasons": "viewer",
  "traffic.lengths": "viewer",
  "traffic.agreement": "viewer",
  "traffic.quality": "viewer",
  "traffic.requests": "viewer",
  "traffic.trace": "viewer",
  "traffic.text": "operator",
  "playground.ask": "operator",
  "playground.get": "operator",
  "playground.cancel": "operator",
  "audit.list": "viewer",
  "audit.values": "viewer",
};

/**
 * Closed to personal tokens: one that was stolen must not renew itself, lock its person out, or leave something behind that
 * opens once it is revoked (a new person, a link to a password, a join token).
 */
export const SESSION_ONLY: ReadonlySet<string> = new Set([
  "account.changePassword",
  "account.revokeSession",
  "account.revokeOtherSessions",
  "token.create",
  "person.create",
  "person.resetSignIn",
  "host.createJoinToken",
]);

const RANK: Record<Role, number> = { viewer: 1, operator: 2, admin: 3 };

export function mayUse(actor: Actor, scope: Scope): boolean {
  if (scope === "public") return true;
  return actor.kind === "person" && RANK[actor.role] >= RANK[scope];
}

export function requireScope(actor: Actor, path: string): void {
  const scope = SCOPES[path];
  if (scope === undefined)
    throw new HelmError("FORBIDDEN", "This action is open to nobody.", {}, { message: `no scope: ${path}` });
  if (scope !== "public" && actor.kind === "person" && actor.tokenId && SESSION_ONLY.has(path))
    throw new HelmError(
      "FORBIDDEN",
      "A personal token cannot do this. Sign in with the password, in the console or with lifeboat login URL.",
    );
  requireRole(actor, scope);
}

export function requireRole(actor: Actor, scope: Scope): void {
  if (mayUse(actor, scope)) return;
  if (actor.kind === "anonymous" && actor.refused) throw actor.refused;
  if (actor.kind !== "person") throw new HelmError("UNAUTHENTICATED", "Sign in first.");
  throw new HelmError("FORBIDDEN", `This needs the role ${scope}; yours is ${actor.role}.`, {
    needed: scope,
    role: actor.role,
  });
}

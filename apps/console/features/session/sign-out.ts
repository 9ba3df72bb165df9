/** Ends the session on the server, then leaves the page so that nothing of it stays in memory. */
export async function signOut(): Promise<void> {
  await fetch("/api/auth/sign-out", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  }).catch(() => undefined);
  window.location.assign("/sign-in");
}

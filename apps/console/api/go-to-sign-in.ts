/** Back to sign in, and back to this page afterwards. */
export function goToSignIn(): void {
  const { pathname, search } = window.location;
  if (["/sign-in", "/setup", "/welcome"].includes(pathname)) return;
  window.location.assign(`/sign-in?next=${encodeURIComponent(pathname + search)}`);
}

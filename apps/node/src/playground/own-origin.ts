/** Where this process reaches its own gateway: what listens on every address listens on loopback too. */
export function ownOrigin(bind: string, port: number): string {
  const host = bind === "0.0.0.0" || bind === "::" ? "127.0.0.1" : bind;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export interface RequestOptions {
  json?: unknown;
  body?: Buffer;
  bearer?: string;
  headers?: Record<string, string>;
}

/** One request to a control plane, and what it answered, read to its end. */
export async function request(url: string, method: string, path: string, options: RequestOptions) {
  const headers: Record<string, string> = { ...options.headers };
  if (options.bearer) headers.authorization = `Bearer ${options.bearer}`;
  if (options.json !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    body: options.json !== undefined ? JSON.stringify(options.json) : options.body,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  const json = isJson && bytes.length > 0 ? JSON.parse(bytes.toString("utf8")) : null;
  return { status: response.status, json, bytes, headers: response.headers };
}

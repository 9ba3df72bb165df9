import type { Server } from "../server/client";

export type Mapper = Awaited<ReturnType<Server["mapper"]["list"]["query"]>>["rows"][number];

const PAGE = 200;

/** Every mapper, newest first, a page at a time; who has found what it looks for asks for no more. */
export async function* mapperPages(server: Server, pairId?: string): AsyncGenerator<Mapper[]> {
  let cursor: string | null = null;
  do {
    const page: { rows: Mapper[]; nextCursor: string | null } = await server.mapper.list.query({
      pairId,
      cursor,
      limit: PAGE,
    });
    yield page.rows;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

export async function allMappers(server: Server, pairId?: string): Promise<Mapper[]> {
  const all: Mapper[] = [];
  for await (const rows of mapperPages(server, pairId)) all.push(...rows);
  return all;
}

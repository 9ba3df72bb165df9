import type { Page, WebSocketRoute } from "@playwright/test";

export type CuttableSocket = { cut: () => Promise<void>; mend: () => Promise<void> };

const SOCKET = /\/socket\.io/;

/** The console's live connection, to be taken away and given back while everything else goes on. */
export async function cuttableSocket(page: Page): Promise<CuttableSocket> {
  const open = new Set<WebSocketRoute>();
  let isCut = false;
  await page.routeWebSocket(SOCKET, (route) => {
    if (isCut) return void route.close();
    route.connectToServer();
    open.add(route);
  });
  return {
    async cut() {
      isCut = true;
      await page.route(SOCKET, (route) => route.abort());
      await Promise.all([...open].map((route) => route.close()));
      open.clear();
    },
    async mend() {
      isCut = false;
      await page.unroute(SOCKET);
    },
  };
}

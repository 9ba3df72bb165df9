"use client";

import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import type { Socket } from "socket.io-client";
import { type Connection, connectionNow } from "./quiet";
import { connectConsole, invalidateOnHints } from "./socket";

type Live = {
  socket: Socket | null;
  connection: Connection;
  /** When the control plane was last heard, in whatever it said; null before it was. */
  heardAt: number | null;
};
const LiveContext = createContext<Live>({ socket: null, connection: "connecting", heardAt: null });

/** One socket for the whole signed-in console. After a gap everything on screen is asked for again. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [socket, setSocket] = useState<Socket | null>(null);
  const [live, setLive] = useState<{ connection: Connection; heardAt: number | null }>({
    connection: "connecting",
    heardAt: null,
  });

  useEffect(() => {
    const opened = connectConsole();
    let before = false;
    let state: "connecting" | "live" | "reconnecting" = "connecting";
    let heardAt: number | null = null;
    // The figure of "heard" is read where the state changes and once a second; a render a packet would be for nothing.
    const look = () => {
      const connection = connectionNow(state, heardAt, Date.now());
      setLive((shown) => {
        const same = shown.connection === connection;
        return same && connection === "live" ? shown : { connection, heardAt };
      });
    };
    const onPacket = () => {
      const wasQuiet = connectionNow(state, heardAt, Date.now()) === "quiet";
      heardAt = Date.now();
      if (!wasQuiet) return;
      look();
      void client.invalidateQueries();
    };
    const onConnect = () => {
      state = "live";
      heardAt = Date.now();
      opened.io.engine?.on("packet", onPacket);
      look();
      if (before) void client.invalidateQueries();
      before = true;
    };
    const onDown = () => {
      state = before ? "reconnecting" : "connecting";
      look();
    };
    opened.on("connect", onConnect);
    opened.on("disconnect", onDown);
    opened.on("connect_error", onDown);
    const clock = setInterval(look, 1_000);
    const stopHints = invalidateOnHints(opened, client);
    opened.connect();
    setSocket(opened);
    return () => {
      clearInterval(clock);
      stopHints();
      opened.removeAllListeners();
      opened.disconnect();
    };
  }, [client]);

  const value = useMemo(() => ({ socket, ...live }), [socket, live]);
  return <LiveContext.Provider value={value}>{children}</LiveContext.Provider>;
}

export function useLive(): Live {
  return useContext(LiveContext);
}

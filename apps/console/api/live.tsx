"use client";

import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import type { Socket } from "socket.io-client";
import { type Connection, connectConsole, invalidateOnHints } from "./socket";

type Live = { socket: Socket | null; connection: Connection };
const AFTER_CUT_MS = 1_500;
const LiveContext = createContext<Live>({ socket: null, connection: "connecting" });

/** One socket for the whole signed-in console. After a gap everything on screen is asked for again. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [socket, setSocket] = useState<Socket | null>(null);
  const [connection, setConnection] = useState<Connection>("connecting");

  useEffect(() => {
    const opened = connectConsole();
    let before = false;
    const onConnect = () => {
      setConnection("live");
      if (before) void client.invalidateQueries();
      before = true;
    };
    let again: ReturnType<typeof setTimeout> | undefined;
    const onDown = () => {
      setConnection(before ? "reconnecting" : "connecting");
      // Cut or refused by the server: only a new attempt shows whether this person is still let in, and as what.
      if (opened.active) return;
      clearTimeout(again);
      again = setTimeout(() => opened.connect(), AFTER_CUT_MS);
      void client.invalidateQueries({ queryKey: [["session"]] });
    };
    opened.on("connect", onConnect);
    opened.on("disconnect", onDown);
    opened.on("connect_error", onDown);
    const stopHints = invalidateOnHints(opened, client);
    opened.connect();
    setSocket(opened);
    return () => {
      clearTimeout(again);
      stopHints();
      opened.removeAllListeners();
      opened.disconnect();
    };
  }, [client]);

  const live = useMemo(() => ({ socket, connection }), [socket, connection]);
  return <LiveContext.Provider value={live}>{children}</LiveContext.Provider>;
}

export function useLive(): Live {
  return useContext(LiveContext);
}

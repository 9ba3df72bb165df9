"use client";

import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from "react";

const Announce = createContext<(message: string) => void>(() => undefined);

/** One polite live region for the whole page; the same message twice is said twice. */
export function LiveRegion({ children }: { children: ReactNode }) {
  const [message, setMessage] = useState("");
  const odd = useRef(false);
  const announce = useCallback((text: string) => {
    odd.current = !odd.current;
    setMessage(odd.current ? text : `${text}\u00a0`);
  }, []);
  return (
    <Announce.Provider value={announce}>
      {children}
      <div role="status" aria-live="polite" className="sr-only">
        {message}
      </div>
    </Announce.Provider>
  );
}

export function useAnnounce(): (message: string) => void {
  return useContext(Announce);
}

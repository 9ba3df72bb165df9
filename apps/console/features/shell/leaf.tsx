"use client";

import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

const LeafContext = createContext<{ leaf: string | null; setLeaf: (leaf: string | null) => void }>({
  leaf: null,
  setLeaf: () => undefined,
});

export function LeafProvider({ children }: { children: ReactNode }) {
  const [leaf, setLeaf] = useState<string | null>(null);
  return <LeafContext.Provider value={{ leaf, setLeaf }}>{children}</LeafContext.Provider>;
}

export function useLeaf(): string | null {
  return useContext(LeafContext).leaf;
}

/** A page about one thing tells the breadcrumb and the window's title what that thing is called. */
export function useNameLeaf(name: string | undefined): void {
  const { setLeaf } = useContext(LeafContext);
  useEffect(() => {
    setLeaf(name ?? null);
    if (name) document.title = `${name} - Helm`;
    return () => setLeaf(null);
  }, [name, setLeaf]);
}

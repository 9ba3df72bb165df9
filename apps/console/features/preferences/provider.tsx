"use client";

import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { THEME_COOKIE, type Theme, ZONE_COOKIE, type Zone } from "./preferences";

type Preferences = {
  theme: Theme;
  zone: Zone;
  setTheme: (theme: Theme) => void;
  setZone: (zone: Zone) => void;
};
const PreferencesContext = createContext<Preferences | null>(null);

export function PreferencesProvider({
  theme: firstTheme,
  zone: firstZone,
  children,
}: {
  theme: Theme;
  zone: Zone;
  children: ReactNode;
}) {
  const [theme, keepTheme] = useState(firstTheme);
  const [zone, keepZone] = useState(firstZone);
  const setTheme = useCallback((next: Theme) => {
    keepTheme(next);
    document.documentElement.dataset.theme = next;
    writeCookie(THEME_COOKIE, next);
  }, []);
  const setZone = useCallback((next: Zone) => {
    keepZone(next);
    writeCookie(ZONE_COOKIE, next);
  }, []);
  const value = useMemo(() => ({ theme, zone, setTheme, setZone }), [theme, zone, setTheme, setZone]);
  return <PreferencesContext.Provider value={value}>{children}</PreferencesContext.Provider>;
}

export function usePreferences(): Preferences {
  const value = useContext(PreferencesContext);
  if (!value) throw new Error("PreferencesProvider is missing above this component");
  return value;
}

function writeCookie(name: string, value: string): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing from Firefox
  document.cookie = `${name}=${value}; Path=/; Max-Age=31536000; SameSite=Lax`;
}

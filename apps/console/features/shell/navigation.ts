export const HELM_PAGE = "/settings/performance-routing/helm";

export type NavigationItem = {
  href: string;
  name: string;
  count?: "pairs" | "running" | "tenants" | "nodes";
};
export type NavigationGroup = { name: string; items: NavigationItem[] };

export const NAVIGATION: NavigationGroup[] = [
  {
    name: "Serve",
    items: [
      { href: "/traffic", name: "Traffic" },
      { href: "/playground", name: "Playground" },
      { href: "/nodes", name: "Nodes and workers", count: "nodes" },
      { href: "/routing", name: "Routing configuration" },
      { href: "/ladders", name: "Ladders" },
    ],
  },
  {
    name: "Helm",
    items: [
      { href: "/pairs", name: "Pairs", count: "pairs" },
      { href: "/calibrations", name: "Calibrations", count: "running" },
    ],
  },
  {
    name: "People",
    items: [
      { href: "/tenants", name: "Tenants", count: "tenants" },
      { href: "/access", name: "Access" },
      { href: "/audit", name: "Audit" },
    ],
  },
  { name: "Server settings", items: [{ href: HELM_PAGE, name: "Performance & Routing" }] },
];

export type Crumb = { name: string; href?: string };

const SECTIONS: Record<string, Crumb[]> = {
  [HELM_PAGE]: [
    { name: "Server settings" },
    { name: "Performance & Routing" },
    { name: "Helm Intelligent Routing" },
  ],
  "/pairs": [{ name: "Pairs", href: "/pairs" }],
  "/calibrations": [{ name: "Calibrations", href: "/calibrations" }],
  "/tenants": [{ name: "Tenants", href: "/tenants" }],
  "/traffic": [{ name: "Traffic", href: "/traffic" }],
  "/playground": [{ name: "Playground", href: "/playground" }],
  "/nodes": [{ name: "Nodes and workers", href: "/nodes" }],
  "/routing": [{ name: "Routing configuration", href: "/routing" }],
  "/ladders": [{ name: "Ladders", href: "/ladders" }],
  "/audit": [{ name: "Audit", href: "/audit" }],
  "/access": [{ name: "Access", href: "/access" }],
  "/account": [{ name: "Your account", href: "/account" }],
};

/** Where a path stands; `leaf` is the name of the thing shown, where the path is one thing's own page. */
export function crumbsOf(pathname: string, leaf: string | null): Crumb[] {
  const section = Object.keys(SECTIONS).find(
    (prefix) => pathname === prefix || pathname.startsWith(`${prefix}/`),
  );
  if (!section) return [];
  const crumbs = SECTIONS[section] ?? [];
  return pathname === section || leaf === null ? crumbs : [...crumbs, { name: leaf }];
}

export function isCurrent(pathname: string, href: string): boolean {
  return pathname === href || pathname.startsWith(`${href}/`);
}

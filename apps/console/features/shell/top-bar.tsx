"use client";

import { Clock, LogOut, Menu, Monitor, Moon, Sun, UserRound } from "lucide-react";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { DropdownMenu } from "radix-ui";
import { Fragment } from "react";
import { Button } from "../../ui/button";
import { menuClass, menuItemClass } from "../../ui/menu";
import { Theme, Zone } from "../preferences/preferences";
import { usePreferences } from "../preferences/provider";
import { signOut } from "../session/sign-out";
import { useSession } from "../session/use-session";
import { CommandPalette } from "./command-palette";
import { useLeaf } from "./leaf";
import { crumbsOf } from "./navigation";

export function TopBar({ onMenu }: { onMenu: () => void }) {
  return (
    <div className="sticky top-0 z-30 flex min-h-13 items-center justify-between gap-2 border-b border-line bg-page px-3 sm:px-6">
      <div className="flex min-w-0 items-center gap-2">
        <Button
          kind="quiet"
          size="small"
          aria-label="Open the navigation"
          className="-ml-1.5 lg:hidden"
          onClick={onMenu}
        >
          <Menu aria-hidden="true" className="size-5" />
        </Button>
        <Breadcrumb />
      </div>
      <div className="flex shrink-0 items-center gap-0.5 sm:gap-1">
        <CommandPalette />
        <ZoneMenu />
        <ThemeMenu />
        <UserMenu />
      </div>
    </div>
  );
}

function Breadcrumb() {
  const crumbs = crumbsOf(usePathname(), useLeaf());
  return (
    <nav aria-label="Breadcrumb" className="min-w-0">
      <ol className="flex min-w-0 items-center gap-1.5 text-ink-soft">
        {crumbs.map((crumb, index) => {
          const last = index === crumbs.length - 1;
          return (
            <Fragment key={crumb.name}>
              <li
                className={last ? "min-w-0 truncate text-ink" : "shrink-0 max-sm:hidden"}
                aria-current={last ? "page" : undefined}
              >
                {crumb.href && !last ? (
                  <Link
                    href={crumb.href}
                    className="rounded underline-offset-4 hover:text-ink hover:underline"
                  >
                    {crumb.name}
                  </Link>
                ) : (
                  crumb.name
                )}
              </li>
              {last ? null : (
                <li aria-hidden="true" className="max-sm:hidden">
                  /
                </li>
              )}
            </Fragment>
          );
        })}
      </ol>
    </nav>
  );
}

const THEME_NAME: Record<Theme, string> = { light: "Light", dark: "Dark", system: "As the system" };
const THEME_ICON = { light: Sun, dark: Moon, system: Monitor } as const;

function ThemeMenu() {
  const { theme, setTheme } = usePreferences();
  const Icon = THEME_ICON[theme];
  return (
    <Choice
      label={`Theme: ${THEME_NAME[theme]}`}
      icon={<Icon aria-hidden="true" className="size-4" />}
      text={theme === "system" ? "System" : THEME_NAME[theme]}
      value={theme}
      options={Theme.options.map((value) => ({ value, name: THEME_NAME[value] }))}
      onChange={(value) => setTheme(Theme.parse(value))}
    />
  );
}

const ZONE_NAME: Record<Zone, string> = { utc: "UTC", local: "This browser's zone" };

function ZoneMenu() {
  const { zone, setZone } = usePreferences();
  return (
    <Choice
      label={`Times in: ${ZONE_NAME[zone]}`}
      icon={<Clock aria-hidden="true" className="size-4" />}
      text={zone === "utc" ? "UTC" : "Local"}
      value={zone}
      options={Zone.options.map((value) => ({ value, name: ZONE_NAME[value] }))}
      onChange={(value) => setZone(Zone.parse(value))}
    />
  );
}

function Choice({
  label,
  icon,
  text,
  value,
  options,
  onChange,
}: {
  label: string;
  icon: React.ReactNode;
  text: string;
  value: string;
  options: { value: string; name: string }[];
  onChange: (value: string) => void;
}) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button kind="quiet" size="small" aria-label={label} className="text-ink-soft">
          {icon}
          <span className="max-md:hidden">{text}</span>
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="end" sideOffset={4} className={menuClass}>
          <DropdownMenu.RadioGroup value={value} onValueChange={onChange}>
            {options.map((option) => (
              <DropdownMenu.RadioItem key={option.value} value={option.value} className={menuItemClass}>
                <span className="inline-flex w-4 justify-center">
                  <DropdownMenu.ItemIndicator>{"\u2713"}</DropdownMenu.ItemIndicator>
                </span>
                {option.name}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function UserMenu() {
  const session = useSession().data;
  if (!session) return null;
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button
          kind="quiet"
          size="small"
          aria-label={`Account of ${session.user.email}`}
          className="text-ink-soft"
        >
          <UserRound aria-hidden="true" className="size-4" />
          <span className="max-w-48 truncate max-md:hidden">{session.user.email}</span>
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="end" sideOffset={4} className={menuClass}>
          <div className="border-b border-line px-3 py-2">
            <div className="font-medium">{session.user.name}</div>
            <div className="text-[0.8125rem] text-ink-soft">{session.user.email}</div>
            <div className="text-[0.8125rem] text-ink-soft">Role: {session.role}</div>
          </div>
          <DropdownMenu.Item className={menuItemClass} asChild>
            <Link href="/account">
              <UserRound aria-hidden="true" className="size-4" />
              Your account
            </Link>
          </DropdownMenu.Item>
          <DropdownMenu.Item className={menuItemClass} onSelect={() => void signOut()}>
            <LogOut aria-hidden="true" className="size-4" />
            Sign out
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

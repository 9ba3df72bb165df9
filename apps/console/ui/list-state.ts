"use client";

import { parseAsArrayOf, parseAsInteger, parseAsString, useQueryStates } from "nuqs";
import { useMemo } from "react";

export type Sort = { id: string; descending: boolean } | null;

/** What a list shows, all of it in the address: a link to a page shows the same rows in the same order. */
export type ListState = {
  search: string;
  /** Of every filter, by its key; "" where it is not used. */
  values: Record<string, string>;
  sort: Sort;
  /** From 1. */
  page: number;
  selected: string[];
  /** Whether the rows shown are fewer for a filter or a search. */
  narrowed: boolean;
  setSearch: (search: string) => void;
  setValue: (key: string, value: string) => void;
  setSort: (sort: Sort) => void;
  setPage: (page: number) => void;
  setSelected: (ids: string[]) => void;
  clear: () => void;
};

const PUSH = { history: "push" } as const;
const REPLACE = { history: "replace" } as const;

/**
 * `id` keeps two lists of one page apart: ?keys-state=live. In the address: ?q=words&sort=-measured&page=2&selected=a,b
 * A page whose server filters calls this too and hands `values` on to its query.
 */
export function useListState(filterKeys: readonly string[], id = ""): ListState {
  const keys = filterKeys.join(" ");
  const { parsers, urlKeys } = useMemo(() => {
    const filters = keys ? keys.split(" ") : [];
    const of = (name: string) => (id ? `${id}-${name}` : name);
    return {
      parsers: {
        ...Object.fromEntries(filters.map((key) => [`filter:${key}`, parseAsString.withDefault("")])),
        search: parseAsString.withDefault(""),
        sort: parseAsString.withDefault(""),
        page: parseAsInteger.withDefault(1),
        selected: parseAsArrayOf(parseAsString).withDefault([]),
      },
      urlKeys: {
        ...Object.fromEntries(filters.map((key) => [`filter:${key}`, of(key)])),
        search: of("q"),
        sort: of("sort"),
        page: of("page"),
        selected: of("selected"),
      } as Record<string, string>,
    };
  }, [keys, id]);
  const [found, setFound] = useQueryStates(parsers, { urlKeys });

  return useMemo(() => {
    const filters = keys ? keys.split(" ") : [];
    const state = found as typeof found & Record<string, unknown>;
    const values = Object.fromEntries(filters.map((key) => [key, String(state[`filter:${key}`] ?? "")]));
    const set = setFound as (
      next: Record<string, unknown>,
      options: { history: "push" | "replace" },
    ) => unknown;
    return {
      search: found.search,
      values,
      sort: readSort(found.sort),
      page: Math.max(1, found.page),
      selected: found.selected,
      narrowed: found.search !== "" || Object.values(values).some(Boolean),
      // Every letter as a step back would make the way back long.
      setSearch: (search) => void set({ search: search || null, page: null }, REPLACE),
      setValue: (key, value) => void set({ [`filter:${key}`]: value || null, page: null }, PUSH),
      setSort: (sort) => void set({ sort: writeSort(sort) || null, page: null }, PUSH),
      setPage: (page) => void set({ page: page > 1 ? page : null }, PUSH),
      setSelected: (ids) => void set({ selected: ids.length > 0 ? ids : null }, REPLACE),
      clear: () =>
        void set(
          { ...Object.fromEntries(filters.map((key) => [`filter:${key}`, null])), search: null, page: null },
          PUSH,
        ),
    };
  }, [found, setFound, keys]);
}

export function readSort(text: string): Sort {
  if (!text) return null;
  return text.startsWith("-") ? { id: text.slice(1), descending: true } : { id: text, descending: false };
}

export function writeSort(sort: Sort): string {
  return sort ? `${sort.descending ? "-" : ""}${sort.id}` : "";
}

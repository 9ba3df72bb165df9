"use client";

import { type ReactNode, useEffect, useState } from "react";
import { Button } from "./button";
import { SelectField, TextField } from "./field";
import type { Filter } from "./list-rows";
import type { ListState } from "./list-state";

/** How long somebody may pause between two letters before the list is asked for. */
const PAUSE_MS = 350;

/** Search and filters above a list. A DataTable brings its own; a list of cards may use it with useListState. */
export function FilterBar<Row>({
  list,
  filters = [],
  search,
  children,
}: {
  list: ListState;
  filters?: Filter<Row>[];
  /** What is searched, e.g. "Search tenants"; without it there is no search. */
  search?: string;
  /** At the end of the bar: export and the like. */
  children?: ReactNode;
}) {
  if (filters.length === 0 && !search && !children) return null;
  return (
    <div className="mb-3 grid grid-cols-2 items-end gap-3 sm:flex sm:flex-wrap">
      {search ? (
        <Paused
          key={`search:${search}`}
          label={search}
          type="search"
          value={list.search}
          onChange={list.setSearch}
          className="col-span-2 sm:w-64"
        />
      ) : null}
      {filters.map((filter) => {
        const value = list.values[filter.key] ?? "";
        const change = (next: string) => list.setValue(filter.key, next);
        return filter.options ? (
          <Choice key={filter.key} filter={filter} value={value} onChange={change} />
        ) : (
          <Paused
            key={filter.key}
            label={filter.name}
            type={filter.kind ?? "text"}
            placeholder={filter.placeholder}
            value={value}
            onChange={change}
            className="col-span-2 sm:w-44"
          />
        );
      })}
      {list.narrowed ? <Button onClick={list.clear}>Clear filters</Button> : null}
      {children ? (
        <div className="col-span-2 flex flex-wrap items-center gap-2 sm:ml-auto">{children}</div>
      ) : null}
    </div>
  );
}

function Choice<Row>({
  filter,
  value,
  onChange,
}: {
  filter: Filter<Row>;
  value: string;
  onChange: (value: string) => void;
}) {
  const options = (filter.options ?? []).map((option) =>
    typeof option === "string" ? { value: option, name: option } : option,
  );
  return (
    <div className="min-w-0 sm:w-48">
      <SelectField label={filter.name} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">All</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
        {value && !options.some((option) => option.value === value) ? <option>{value}</option> : null}
      </SelectField>
    </div>
  );
}

/** A field that is asked about once its writer pauses, or at once on Enter and on leaving it. */
function Paused({
  label,
  type,
  placeholder,
  value,
  onChange,
  className,
}: {
  label: string;
  type: "search" | "text" | "date";
  placeholder?: string;
  value: string;
  onChange: (value: string) => void;
  className: string;
}) {
  const [draft, setDraft] = useState(value);
  // What came from the address (a link, the way back, "Clear filters") stands over what was written before.
  useEffect(() => setDraft(value), [value]);
  const changed = draft !== value;
  const send = () => {
    if (changed) onChange(draft.trim());
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new letter starts the pause again
  useEffect(() => {
    if (!changed) return;
    const timer = setTimeout(send, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [draft, changed]);
  return (
    <div className={className}>
      <TextField
        label={label}
        type={type}
        placeholder={placeholder}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={send}
        onKeyDown={(event) => {
          if (event.key === "Enter") send();
        }}
      />
    </div>
  );
}

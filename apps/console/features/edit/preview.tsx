"use client";

import { keepPreviousData, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useEffect, useState } from "react";
import { problemOf } from "../../api/errors";

const TYPING_MS = 300;

/** A value once it has stood still for a moment, so that not every key press asks the server. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  const text = JSON.stringify(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an equal value is no new one
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

type Said = { sentences: string[] };

/** What storing the form would do, in the server's words, before it is stored. */
export function Preview<T extends Said>({
  options,
  children,
}: {
  // biome-ignore lint/suspicious/noExplicitAny: any procedure that answers with sentences
  options: UseQueryOptions<T, any, T, any>;
  children?: (said: T) => ReactNode;
}) {
  const said = useQuery({ ...options, placeholderData: keepPreviousData as never });
  if (said.data === undefined && !said.isError) return null;
  return (
    <section aria-label="What storing this would do" className="rounded-lg bg-panel px-3 py-2">
      <h3 className="font-semibold">What storing this would do</h3>
      {said.data ? (
        <>
          <ul className="mt-1 list-disc space-y-1 pl-5" aria-live="polite">
            {said.data.sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
          {children?.(said.data)}
        </>
      ) : (
        <p className="mt-1">{problemOf(said.error).message}</p>
      )}
    </section>
  );
}

"use client";

import type { ReactNode } from "react";
import { ButtonLink } from "../ui/button";
import { Empty, Failed, Forbidden, Loading } from "../ui/states";
import { problemOf } from "./errors";

type Answer<T> = { data: T | undefined; error: unknown; isError: boolean; refetch: () => unknown };

/** Loading, failed, forbidden and gone, the same on every page. What is on screen already stays while it is asked again. */
export function QueryView<T>({
  query,
  children,
  rows,
  label,
  back,
}: {
  query: Answer<T>;
  children: (data: T) => ReactNode;
  rows?: number;
  label?: string;
  /** Where to go when the thing asked for is not there. */
  back?: { href: string; name: string };
}) {
  if (query.data !== undefined) return children(query.data);
  if (!query.isError) return <Loading rows={rows} label={label} />;
  const { code, message, requestId } = problemOf(query.error);
  if (code === "FORBIDDEN") return <Forbidden message={message} />;
  if (code === "NOT_FOUND" && back) {
    return (
      <Empty title="Not here" action={<ButtonLink href={back.href}>{back.name}</ButtonLink>}>
        {message}
      </Empty>
    );
  }
  if (code === "BAD_REQUEST" && back) {
    return (
      <Empty title="Not here" action={<ButtonLink href={back.href}>{back.name}</ButtonLink>}>
        This address names nothing: it is cut short or mistyped.
      </Empty>
    );
  }
  return <Failed message={message} requestId={requestId} onRetry={() => void query.refetch()} />;
}

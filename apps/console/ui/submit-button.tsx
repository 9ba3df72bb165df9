"use client";

import { useSyncExternalStore } from "react";
import { Button, type ButtonProps } from "./button";

const never = () => () => {};

/**
 * Ends a form that holds credentials. Until the page's script runs it is disabled, the Enter key included: the browser
 * would send the form by itself, reload the page and lose what was typed.
 */
export function SubmitButton(props: ButtonProps) {
  const running = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  return <Button {...props} type="submit" kind="primary" disabled={!running} />;
}

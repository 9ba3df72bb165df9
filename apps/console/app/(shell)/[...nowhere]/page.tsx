import { notFound } from "next/navigation";

/** An address that is no page, inside the shell: the way on stays where it always is. */
export default function Page() {
  notFound();
}

import { HELM_PAGE } from "../features/shell/navigation";
import { ButtonLink } from "../ui/button";

export default function NotFound() {
  return (
    <main className="mx-auto max-w-md px-4 py-20">
      <h1 className="text-xl font-semibold">There is no page here</h1>
      <p className="mt-1 mb-4 text-ink-soft">The address may be mistyped, or what it named is gone.</p>
      <ButtonLink href={HELM_PAGE}>To the Helm page</ButtonLink>
    </main>
  );
}

import { ButtonLink } from "../../ui/button";
import { PageHeader } from "../../ui/card";
import { HELM_PAGE } from "./navigation";

export function NowhereToBe() {
  return (
    <>
      <PageHeader
        title="There is no page here"
        lead="The address may be mistyped, or what it named is gone. Ctrl K finds every page, pair, run and tenant by name."
      />
      <div className="flex flex-wrap gap-2">
        <ButtonLink href={HELM_PAGE} kind="primary">
          To the Helm page
        </ButtonLink>
        <ButtonLink href="/audit">What changed lately</ButtonLink>
      </div>
    </>
  );
}

import { redirect } from "next/navigation";
import { HELM_PAGE } from "../features/shell/navigation";

export default function Root() {
  redirect(HELM_PAGE);
}

export const menuClass = "z-50 min-w-44 rounded-xl border border-line bg-raised p-1 shadow-float";

export const menuItemClass =
  "flex min-h-8 cursor-pointer items-center gap-2 rounded-lg px-2.5 py-1.5 outline-none select-none data-[highlighted]:bg-plain-wash data-[highlighted]:outline-2 data-[highlighted]:-outline-offset-2 data-[highlighted]:outline-accent";

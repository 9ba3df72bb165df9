/** Queries that read a table that grows from end to end on purpose, "procedure table", each with its reason. */
export const MAY_READ_WHOLE: Readonly<Record<string, string>> = {
  "pair.storage mapper": "it sums the files of all mappers",
};

import { isIPv6 } from "node:net";

/** What tries are counted by: an IPv4 address, or the /64 of an IPv6 one, since whoever has one address has all of it. */
export function addressBlock(address: string): string {
  const bare = address.split("%", 1)[0] ?? "";
  if (!isIPv6(bare)) return address;
  const [head = "", tail] = bare.split("::");
  const before = head ? head.split(":") : [];
  const zeros = tail === undefined ? 0 : 8 - before.length - wordsIn(tail);
  const after = tail ? tail.split(":") : [];
  const words = [...before, ...Array<string>(zeros).fill("0"), ...after].slice(0, 4);
  return `${words.map((word) => Number.parseInt(word, 16).toString(16)).join(":")}::/64`;
}

/** An IPv4 tail (`::ffff:1.2.3.4`) stands for two words. */
function wordsIn(text: string): number {
  const words = text.split(":").filter((word) => word !== "");
  return words.length + (words.some((word) => word.includes(".")) ? 1 : 0);
}

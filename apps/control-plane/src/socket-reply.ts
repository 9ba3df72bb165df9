/** What a peer puts where its ack belongs is the peer's choice: anything but a function is answered by silence. */
export function replyTo<A>(given: unknown): (ack: A) => void {
  return typeof given === "function" ? (given as (ack: A) => void) : () => {};
}

/** Procedures that one request may call: clients send more in several requests, and the server refuses more in one. */
export const MOST_CALLS_A_REQUEST = 20;

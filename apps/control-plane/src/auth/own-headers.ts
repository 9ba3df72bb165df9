/** What our server tells the library about a request; it overwrites any value that a caller sent. */
export const ADDRESS_HEADER = "x-helm-client-address";
export const REQUEST_ID_HEADER = "x-helm-request-id";

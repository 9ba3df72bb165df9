/** The secret by which the control plane knows that a request was passed on by the console, and so whose it is. */
export const CONSOLE_SECRET_HEADER = "x-helm-console";

export const ORIGIN = "http://127.0.0.1:3000";
export const SETUP_TOKEN = "a-setup-token-for-tests";
export const WORKER_TOKEN = "worker-join-token-for-tests";
export const NODE_TOKEN = "node-join-token-for-tests";

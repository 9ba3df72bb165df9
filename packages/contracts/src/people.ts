/** Of a person's password; the server and every form hold to the same. */
export const PASSWORD_LENGTH = { min: 12, max: 200 };

/** Days a personal token lasts. */
export const TOKEN_DAYS = { min: 1, max: 365, usual: 90 };

/** What every personal token begins with, so that one in a log or a repository is seen for what it is. */
export const TOKEN_PREFIX = "lifeboat_";

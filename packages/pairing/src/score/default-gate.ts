/** The retention that a mapper must reach where nobody set another. */
export const DEFAULT_GATE = 0.9;

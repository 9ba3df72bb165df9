const [QUOTE, COMMA, COLON, LIST, OBJECT, BACKSLASH] = [...'",:[{\\'].map((mark) => mark.charCodeAt(0));
const [LOWER_E, UPPER_E, ZERO, NINE] = [..."eE09"].map((mark) => mark.charCodeAt(0)) as number[];

/** What a part costs to read, about: an item, a text, and a list, an object or a property. */
const ITEM = 1;
const TEXT = 1;
const NAMED = 4;

/**
 * Most that a body may come to. JSON.parse runs in one go, and nobody else is served meanwhile: four megabytes of `"k1":0,` take it
 * ten times as long as this. A list of 262,000 token ids is within it, and so is a chat of 14,000 messages.
 */
export const MOST_PARTS = 262_144;

/** Written out, 1e20 has 21 digits; no number grows by more. */
const MOST_GROWN = 17;

export interface BodyScan {
  /** Counted no further than just above the bound. */
  parts: number;
  /** Most bytes that the body may have once it is written out again: only a number with an exponent is longer then. */
  mostWritten: number;
}

/**
 * A JSON text by its marks outside of texts, before anything is made of it. Of what is no JSON it says nothing that matters: that is
 * refused when it is read.
 */
export function scanBody(text: Uint8Array, most = MOST_PARTS): BodyScan {
  let parts = 0;
  let exponents = 0;
  for (let at = 0; at < text.length && parts <= most; at++) {
    const mark = text[at];
    if (mark === QUOTE) {
      parts += TEXT;
      for (at++; at < text.length && text[at] !== QUOTE; at++) if (text[at] === BACKSLASH) at++;
    } else if (mark === COMMA) parts += ITEM;
    else if (mark === COLON || mark === LIST || mark === OBJECT) parts += NAMED;
    else if ((mark === LOWER_E || mark === UPPER_E) && isDigit(text[at - 1])) exponents += 1;
  }
  return { parts, mostWritten: text.length + exponents * MOST_GROWN };
}

function isDigit(mark: number | undefined): boolean {
  return mark !== undefined && mark >= (ZERO as number) && mark <= (NINE as number);
}

// The two kinds of invalid input: the only exceptions that src/dns throws for bad input.

/**
 * An error without a stack trace. Callers catch it as the result of bad input, and capturing a stack takes eight times
 * as long as creating the error. Any client can send malformed packets, and an import may have thousands of bad lines.
 */
class InputError extends Error {
  constructor(message: string) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = limit;
  }
}

/** Malformed wire data: a packet is answered FORMERR (RFC 1035 §4.1.1), and stored rdata is unusable. */
export class WireError extends InputError {
  override readonly name = 'WireError';
}

/** Invalid presentation text. `field` is the rdata field; `line` and `column` (from 1) are set if known. */
export class TextError extends InputError {
  override readonly name = 'TextError';
  readonly field: string | undefined;
  line: number | undefined;
  column: number | undefined;

  constructor(message: string, place: { field?: string; line?: number; column?: number } = {}) {
    super(message);
    this.field = place.field;
    this.line = place.line;
    this.column = place.column;
  }
}

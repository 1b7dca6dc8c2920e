// Why a certificate authority did not do what it was asked.

/** `busy`: asked again later it may do it, and nothing is wrong with the order. `refused`: it will not. */
export class CaFault extends Error {
  override readonly name = 'CaFault';
  readonly kind: 'busy' | 'refused';
  /** The kind of problem (RFC 8555 §6.7), without its prefix. */
  readonly type: string | undefined;
  readonly status: number | undefined;
  /** How long the authority wants to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: CaFault['kind'],
    message: string,
    more: {
      readonly type?: string | undefined;
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.kind = kind;
    this.type = more.type;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
  }
}

const PREFIX = 'urn:ietf:params:acme:error:';
const MAX_WORDS = 300;

/** Of a response that is no success. */
export function faultOf(
  status: number,
  headers: Readonly<Record<string, unknown>>,
  body: unknown,
  now: Date,
): CaFault {
  const { type, detail, subproblems } = ((typeof body === 'object' ? body : undefined) ?? {}) as Record<
    string,
    unknown
  >;
  const short = typeof type === 'string' && type.startsWith(PREFIX) ? type.slice(PREFIX.length) : undefined;
  const words = wordsOf(detail, subproblems) ?? `it answered ${status}`;
  const isBusy =
    status < 400 || status === 429 || status >= 500 || short === 'rateLimited' || short === 'badNonce';
  return new CaFault(isBusy ? 'busy' : 'refused', words, {
    type: short,
    status,
    retryAfterMs: readRetryAfter(headers['retry-after'], now),
  });
}

/** Printable ASCII: it is shown to owners. */
export function wordsOf(detail: unknown, subproblems?: unknown): string | undefined {
  const parts = [detail, ...(Array.isArray(subproblems) ? subproblems.map((one) => one?.detail) : [])];
  const text = parts.filter((part): part is string => typeof part === 'string').join('; ');
  return text === '' ? undefined : text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_WORDS);
}

/** Seconds, or a date (RFC 9110 §10.2.3). */
export function readRetryAfter(header: unknown, now: Date): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}

// Why a request got no answer of its origin: the closed list of what edges may say, and what people are told of each.

type Fault = 'client' | 'origin' | 'network' | 'config';

interface Reason {
  readonly label: string;
  /** Whose matter it is. */
  readonly fault: Fault;
  readonly meaning: string;
  /** The status that visitors mostly get. */
  readonly status: number;
}

export const REASONS = {
  origin_unresolved: {
    label: 'Origin name not found',
    fault: 'config',
    meaning: 'The name of the origin has no address in the DNS.',
    status: 502,
  },
  origin_unreachable: {
    label: 'Origin not reachable',
    fault: 'network',
    meaning:
      'No connection to the origin could be made: it refused, nothing answered at its address, or it spoke no TLS and the edge cannot tell.',
    status: 502,
  },
  origin_timeout: {
    label: 'Origin too slow',
    fault: 'origin',
    meaning: 'The origin took the request and did not answer in the time that the record allows.',
    status: 504,
  },
  origin_broke_off: {
    label: 'Origin broke off',
    fault: 'origin',
    meaning: 'The origin ended the connection before its answer was whole, or answered what is no HTTP.',
    status: 502,
  },
  origin_tls_failed: {
    label: 'No TLS with the origin',
    fault: 'origin',
    meaning: 'The origin was to be asked over TLS, and the handshake failed.',
    status: 502,
  },
  origin_refused: {
    label: 'Origin address not allowed',
    fault: 'config',
    meaning:
      'The origin has no address that an edge may connect to: it is private, or one of the service itself.',
    status: 502,
  },
  no_origin: {
    label: 'No origin',
    fault: 'config',
    meaning: 'No origin is left to be asked: all of its pool are out of service, or none is set.',
    status: 502,
  },
  loop: {
    label: 'Request loop',
    fault: 'config',
    meaning: 'The request came through this edge already: an origin leads back to the service.',
    status: 508,
  },
  suspended: {
    label: 'Domain suspended',
    fault: 'config',
    meaning: 'The domain is suspended, and the edge answers for it no more.',
    status: 403,
  },
  edge_fault: {
    label: 'Fault of the edge',
    fault: 'network',
    meaning: 'The edge could not work on the request.',
    status: 500,
  },
  client_closed: {
    label: 'Visitor has left',
    fault: 'client',
    meaning: 'The visitor closed the connection before there was an answer.',
    status: 499,
  },
  client_bad_request: {
    label: 'Request not readable',
    fault: 'client',
    meaning: 'The request is no HTTP, or larger than the edge takes.',
    status: 400,
  },
  client_timeout: {
    label: 'Visitor too slow',
    fault: 'client',
    meaning: 'The visitor did not send the whole request in time.',
    status: 408,
  },
  rule_blocked: {
    label: 'Blocked by a rule',
    fault: 'client',
    meaning: 'A rule of the domain refused the request.',
    status: 403,
  },
  rule_limited: {
    label: 'Limited by a rule',
    fault: 'client',
    meaning: 'The visitor sent more requests than a rule of the domain allows.',
    status: 429,
  },
} as const satisfies Readonly<Record<string, Reason>>;

export type ReasonKey = keyof typeof REASONS;

export function isReason(text: string): text is ReasonKey {
  return Object.hasOwn(REASONS, text);
}
